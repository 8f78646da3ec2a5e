//! Checksums by which interrupted work knows its files again.

use std::path::Path;

use anyhow::anyhow;

use crate::process::failure::Failure;

/// CRC-32 of a file; `none` if there is no file.
///
/// # Errors
/// If it cannot be read.
pub fn of_file(path: Option<&Path>) -> Result<String, Failure> {
    let Some(path) = path else {
        return Ok("none".to_owned());
    };
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected one",
            path.display()
        ))
    })?;
    Ok(format!("{:08x}", crc32fast::hash(&bytes)))
}
