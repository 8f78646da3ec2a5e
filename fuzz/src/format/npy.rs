//! NumPy arrays, as `icl diagnose` reads them.

use std::path::Path;

use anyhow::Result;

use super::program::{call, text};
use super::reader::{Format, Told};
use crate::parts::{Part, Valid};

/// Returns the format.
pub fn format() -> Result<Format> {
    let header = |version: u8, descriptor: &str, is_fortran: &str| {
        let text = format!(
            "{{'descr': '{descriptor}', 'fortran_order': {is_fortran}, 'shape': (3, 2), }}"
        );
        vec![
            Part::new("version", [b"\x93NUMPY".as_slice(), &[version, 0]].concat()),
            Part::new("header", format!("{text:<117}\n")),
        ]
    };
    let values = [1.0_f64, 0.5, -2.0, 3.0, 0.25, 1.5];
    let single = values
        .iter()
        .flat_map(|&value| (value as f32).to_le_bytes())
        .collect::<Vec<u8>>();
    let double = values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect::<Vec<u8>>();
    let valid = |mut parts: Vec<Part>, values: &[u8]| {
        parts.push(Part::new("values", values));
        Valid { parts, pack }
    };
    Ok(Format {
        name: "npy",
        valid: vec![
            valid(header(1, "<f4", "False"), &single),
            valid(header(1, ">f8", "True"), &double),
            valid(header(2, "<f4", "True"), &single),
        ],
        words: &[
            "(", "[", "{", "'", "\"", ",", "True", "False", "None", "'shape':", "'descr':", "<f8",
            "|O", "<i8", "0x10", "1_000", "10L",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

fn pack(parts: &[Part]) -> Result<Vec<Part>> {
    let [version, header, values] = parts else {
        anyhow::bail!("found {} parts, expected 3", parts.len());
    };
    let length = match version.bytes.get(6) {
        Some(1) => (header.bytes.len() as u16).to_le_bytes().to_vec(),
        _ => (header.bytes.len() as u32).to_le_bytes().to_vec(),
    };
    let bytes = [&version.bytes, &length, &header.bytes, &values.bytes].map(|bytes| &bytes[..]);
    Ok(vec![Part::new("array.npy", bytes.concat())])
}

fn read(folder: &Path) -> Result<(), Told> {
    let path = folder.join("array.npy");
    let path = text(&path);
    call([
        "diagnose",
        "--anchors",
        path,
        "--positives",
        path,
        "--old",
        path,
        "--new",
        path,
    ])
}
