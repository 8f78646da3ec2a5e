//! Inputs as parts, which are edited, and the files that the parts are packed into.

use std::io::{Cursor, Write};

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Named bytes: a file, or what is packed into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Path of the file below the folder of the input, with `/` between its parts; or the name within the file.
    pub name: String,
    /// Contents.
    pub bytes: Vec<u8>,
}

impl Part {
    /// Creates a part.
    pub fn new(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.to_owned(),
            bytes: bytes.into(),
        }
    }
}

/// A valid input in parts.
#[derive(Debug, Clone)]
pub struct Valid {
    /// Parts, which are edited.
    pub parts: Vec<Part>,
    /// Packs the parts into files.
    pub pack: fn(&[Part]) -> Result<Vec<Part>>,
}

impl Valid {
    /// Creates an input whose parts are its files.
    pub fn plain(parts: Vec<Part>) -> Self {
        Self {
            parts,
            pack: |parts| Ok(parts.to_vec()),
        }
    }
}

/// Compresses each part by gzip, into a file whose name has the ending `.gz`.
///
/// # Errors
/// None in memory.
pub fn gzip(parts: &[Part]) -> Result<Vec<Part>> {
    let compressed = |part: &Part| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&part.bytes)?;
        Ok(Part::new(&format!("{}.gz", part.name), encoder.finish()?))
    };
    parts.iter().map(compressed).collect()
}

/// Packs the parts into an archive of this name.
///
/// # Errors
/// If two parts have one name.
pub fn zip(name: &str, method: CompressionMethod, parts: &[Part]) -> Result<Vec<Part>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for part in parts {
        let options = SimpleFileOptions::default().compression_method(method);
        archive.start_file(part.name.as_str(), options)?;
        archive.write_all(&part.bytes)?;
    }
    Ok(vec![Part::new(name, archive.finish()?.into_inner())])
}
