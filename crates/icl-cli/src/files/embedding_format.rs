//! Formats of files of embeddings.

use std::fmt::Write;
use std::path::Path;

use anyhow::anyhow;
use icl_data::vectors_as_parquet;
use icl_models::{StoredTensor, safetensors_bytes};

use crate::files::npy;
use crate::process::failure::Failure;

/// Format of a file of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingFormat {
    Npy,
    Safetensors,
    Parquet,
    Csv,
}

impl EmbeddingFormat {
    /// Returns the format that the extension of a name selects.
    ///
    /// # Errors
    /// If it selects none.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_deref().and_then(|ending| ending.to_str()) {
            Some("npy") => Ok(Self::Npy),
            Some("safetensors") => Ok(Self::Safetensors),
            Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Failure::input(anyhow!(
                "out: found {}, expected a name that ends in .npy, .safetensors, .parquet or .csv",
                path.display()
            ))),
        }
    }

    /// Returns whether a file of this format holds labels besides the embeddings.
    pub fn holds_labels(self) -> bool {
        self != Self::Npy
    }

    /// Returns the bytes of a file of embeddings `[n, d]`, given row by row, with their labels and their places in the files of
    /// the samples if the format holds them, and with the name of their data set if it has metadata.
    ///
    /// # Errors
    /// If they cannot be written in this format, which is a fault of the program.
    ///
    /// # Panics
    /// If d is 0.
    pub fn bytes(
        self,
        (values, d): (&[f32], usize),
        (labels, positions): (Option<&[i64]>, &[usize]),
        data: &str,
    ) -> Result<Vec<u8>, Failure> {
        let n = values.len() / d;
        match self {
            Self::Npy => Ok(npy::bytes([n, d], values)),
            Self::Safetensors => {
                let mut tensors = vec![StoredTensor::of_f32("embeddings", vec![n, d], values)];
                if let Some(labels) = labels {
                    tensors.push(StoredTensor::of_i64("labels", vec![n], labels));
                }
                safetensors_bytes(&[("data", data)], &tensors).map_err(Failure::input)
            }
            Self::Parquet => {
                let bytes = vectors_as_parquet((values, d), labels, positions);
                bytes.map_err(|error| Failure::Other(error.into()))
            }
            Self::Csv => {
                csv((values, d), labels, positions).map_err(|error| Failure::Other(error.into()))
            }
        }
    }
}

/// Writes a table with a row of names, without a column of labels where there are none. Numbers have the fewest digits
/// that preserve them; no field needs quotes.
fn csv(
    (values, d): (&[f32], usize),
    labels: Option<&[i64]>,
    positions: &[usize],
) -> Result<Vec<u8>, std::fmt::Error> {
    let mut text = "index".to_owned();
    if labels.is_some() {
        text.push_str(",label");
    }
    for column in 0..d {
        write!(text, ",e{column}")?;
    }
    for (index, (row, position)) in values.chunks_exact(d).zip(positions).enumerate() {
        write!(text, "\n{position}")?;
        if let Some(label) = labels.and_then(|labels| labels.get(index)) {
            write!(text, ",{label}")?;
        }
        for value in row {
            write!(text, ",{value}")?;
        }
    }
    text.push('\n');
    Ok(text.into_bytes())
}
