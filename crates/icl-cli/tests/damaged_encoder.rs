//! Encoders whose files are well-formed and whose numbers are not usable: the error names the file.

use std::fs;
use std::path::Path;

use crate::support::toys::{NEW, OLD};
use crate::support::{icl, names, split, without_digest};
use serde_json::Value;
use tempfile::tempdir;

/// Gives the numbers of all tensors whose names end in `ending` this value.
fn fill(path: &Path, ending: &str, value: f32) {
    let mut bytes = fs::read(path).unwrap();
    let numbers = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..numbers]).unwrap();
    for (name, tensor) in header.as_object().unwrap() {
        if name.ends_with(ending) {
            let [begin, end] =
                [0, 1].map(|at| tensor["data_offsets"][at].as_u64().unwrap() as usize);
            for number in bytes[numbers + begin..numbers + end].chunks_exact_mut(4) {
                number.copy_from_slice(&value.to_le_bytes());
            }
        }
    }
    fs::write(path, bytes).unwrap();
}

/// No step has changed the encoder yet, so that only these are named.
const ON_FILE: &str = "expected a finite number; it depends on first/encoder.safetensors, temperature 0.1, negatives 31";

#[test]
fn numbers_that_overflow_are_an_error_of_the_file() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "OLD");
    NEW.write(at.path(), "NEW");
    icl(at.path(), &split("train --data OLD --epochs 1 --out first")).succeeded();
    let first = at.path().join("first/encoder.safetensors");
    without_digest(&first);
    let whole = fs::read(&first).unwrap();
    for (ending, value) in [("weight", 3e38), ("mean", -3e38), ("variance", 1e-45)] {
        fs::write(&first, &whole).unwrap();
        fill(&first, ending, value);
        // Stored statistics beyond reason alone leave the embeddings large, but finite.
        fill(&first, "weight", 3e38);
        for (command, found, expected) in [
            (
                "update --old OLD --new NEW --epochs 1 --method icl --out out",
                "error: the exact risk is ",
                ON_FILE,
            ),
            (
                "update --old OLD --new NEW --epochs 1 --method distillation --out out",
                "error: the exact risk is ",
                ON_FILE,
            ),
            (
                "embed --data OLD --out out.npy",
                "first/encoder.safetensors: found ",
                "expected finite numbers",
            ),
        ] {
            let command = format!("{command} --from first/encoder.safetensors");
            let ran = icl(at.path(), &split(&command));
            ran.rejected_in_last_line(found);
            ran.rejected_in_last_line(expected);
            assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
            assert_eq!(names(at.path()), ["NEW", "OLD", "first"]);
        }
    }
}
