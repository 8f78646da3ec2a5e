//! Weights in files of PyTorch, in both of its formats.

use std::io::{Cursor, Read};
use std::path::Path;

use anyhow::Result;
use icl::models::read_weights;
use zip::{CompressionMethod, ZipArchive};

use super::reader::{Format, Told};
use crate::parts::{Part, Valid, zip};

/// Files that `scripts/seed_weights.py` wrote.
const NEW: &[u8] = include_bytes!("../../valid/weights.pth");
const NESTED: &[u8] = include_bytes!("../../valid/nested.pth");
const LEGACY: &[u8] = include_bytes!("../../valid/legacy.pth");

/// Returns the format.
pub fn format() -> Result<Format> {
    let packed = |method: CompressionMethod, archive: &[u8]| -> Result<Valid> {
        Ok(Valid {
            parts: members(archive)?,
            pack: match method {
                CompressionMethod::Stored => {
                    |parts| zip("weights.pth", CompressionMethod::Stored, parts)
                }
                _ => |parts| zip("weights.pth", CompressionMethod::Deflated, parts),
            },
        })
    };
    Ok(Format {
        name: "pth",
        valid: vec![
            packed(CompressionMethod::Stored, NEW)?,
            packed(CompressionMethod::Deflated, NESTED)?,
            Valid::plain(vec![Part::new("weights.pth", LEGACY)]),
            Valid::plain(vec![Part::new("weights.pth", NEW)]),
        ],
        // Operations of a pickle, and what a state dict names.
        words: &[
            "(",
            "]",
            "}",
            ")",
            "t",
            "\u{85}",
            "q\0",
            "h\0",
            "r\0\0\0\0",
            "j\0\0\0\0",
            "R",
            "Q",
            "u",
            "s",
            "e",
            "a",
            "0",
            "2",
            "\u{93}",
            "ctorch._utils\n_rebuild_tensor_v2\n",
            "ctorch\nFloatStorage\n",
            "K\u{1}",
            "M\u{ff}\u{ff}",
            "J\u{7f}\u{7f}\u{7f}\u{7f}",
            "\u{8a}\u{8}",
            "X\u{4}\0\0\0",
            "state_dict",
            "module.",
            ".",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

fn members(archive: &[u8]) -> Result<Vec<Part>> {
    let mut archive = ZipArchive::new(Cursor::new(archive))?;
    let mut parts = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        parts.push(Part::new(&entry.name()?, bytes));
    }
    Ok(parts)
}

fn read(folder: &Path) -> Result<(), Told> {
    let tensors = [
        ("conv1.weight", vec![2, 1, 3, 3]),
        ("bn1.weight", vec![2]),
        ("bn1.running_mean", vec![2]),
        ("bn1.running_var", vec![2]),
        ("fc.weight", vec![3, 2]),
        ("fc.bias", vec![3]),
    ];
    let tensors = tensors.map(|(name, shape)| (name.to_owned(), shape));
    read_weights(&folder.join("weights.pth"), &tensors).map_err(Told::of)?;
    Ok(())
}
