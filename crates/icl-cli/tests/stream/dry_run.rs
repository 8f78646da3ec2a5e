//! Decisions without updates.

use std::fs;
use std::path::Path;

use crate::support::toys::{NEW, OLD};
use crate::support::{icl, split};
use tempfile::tempdir;

/// Writes points of an arc as a `.npy` file of f32, by no code of the program.
fn write_arc(path: &Path, first: f64, n: usize) {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, 2), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for index in 0..n {
        let angle = first + 1.5 * index as f64 / n as f64;
        for value in [angle.cos(), angle.sin()] {
            bytes.extend((value as f32).to_le_bytes());
        }
    }
    fs::write(path, bytes).unwrap();
}

/// Embeddings of any framework: the same arc again is no reason, another one is, and what waits is merged.
#[test]
fn embeddings_of_any_framework() {
    let at = tempdir().unwrap();
    let mut manifest = "schema = 1\n".to_owned();
    for (name, first) in [
        ("a", 0.0),
        ("b", 0.005),
        ("c", 0.01),
        ("d", 3.1),
        ("e", 3.12),
    ] {
        write_arc(&at.path().join(format!("{name}.npy")), first, 120);
        write_arc(&at.path().join(format!("{name}p.npy")), first + 0.02, 120);
        manifest += &format!(
            "[[experience]]\nname = \"{name}\"\ndata = \"{name}.npy\"\npositives = \"{name}p.npy\"\n"
        );
    }
    fs::write(at.path().join("s.toml"), &manifest).unwrap();
    let decisions = |when: &str| -> Vec<String> {
        let line = format!("stream --stream s.toml --dry-run --temperature 0.5 --when {when}");
        let ran = icl(at.path(), &split(&line)).succeeded();
        ran.stdout.lines().map(str::to_owned).collect()
    };
    let drift = decisions("drift");
    let verbs: Vec<&str> = drift
        .iter()
        .map(|line| &line[..line.find(": ").unwrap() + 6])
        .collect();
    assert_eq!(
        verbs[..3],
        ["b: wait", "c: wait", "d: upda"].map(|it| &it[..7])
    );
    let every: Vec<bool> = decisions("every:2")
        .iter()
        .map(|line| line.contains(": update:"))
        .collect();
    assert_eq!(every, [false, true, false, true]);
    // Nothing was written.
    assert_eq!(fs::read_dir(at.path()).unwrap().count(), 11);
    let regret = icl(
        at.path(),
        &split("stream --stream s.toml --dry-run --when regret:1"),
    );
    regret.rejected("when: found regret:1 with --dry-run");
    fs::write(
        at.path().join("s.toml"),
        manifest.replacen("positives = \"bp.npy\"\n", "", 1),
    )
    .unwrap();
    let ran = icl(
        at.path(),
        &split("stream --stream s.toml --dry-run --when drift"),
    );
    ran.rejected("experience b: found no positives");
}

/// Data with an encoder: the decisions of a stream up to the first update are those of the stream itself.
#[test]
fn data_with_an_encoder() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "a");
    OLD.write(at.path(), "b");
    NEW.write(at.path(), "c");
    let entry = |name: &str| format!("[[experience]]\nname = \"{name}\"\ndata = \"{name}\"\n");
    let entries: String = ["a", "b", "c"].map(entry).concat();
    fs::write(at.path().join("s.toml"), format!("schema = 1\n{entries}")).unwrap();
    icl(
        at.path(),
        &split("stream --stream s.toml --epochs 3 --when never --out first"),
    )
    .succeeded();
    let from = "first/000-a/encoder.safetensors";
    let line = format!("stream --stream s.toml --from {from} --epochs 3 --when drift");
    let dry = icl(at.path(), &split(&format!("{line} --dry-run"))).succeeded();
    icl(at.path(), &split(&format!("{line} --out out"))).succeeded();
    let decisions = super::lines(&at.path().join("out/decisions.jsonl"));
    let first = dry.stdout.lines().next().unwrap();
    let reason = decisions[0]["reason"].as_str().unwrap();
    assert!(first.ends_with(reason), "{first}: {reason}");
    assert_eq!(dry.stdout.lines().count(), 2);
    // The encoder was taken as it is.
    let given = fs::read(at.path().join(from)).unwrap();
    let taken = fs::read(at.path().join("out/000-a/encoder.safetensors")).unwrap();
    assert_eq!(given.len(), taken.len());
}
