//! Formats of files of embeddings.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_data::{vectors_as_csv, vectors_as_parquet};
use icl_models::{StoredTensor, safetensors_bytes};

use crate::files::embeddings::facts_path;
use crate::files::npy;
use crate::files::output_files::OutputFiles;
use crate::files::row_facts::{RowFacts, as_columns};
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

    /// Returns whether a file of this format holds facts about its rows next to the embeddings.
    pub fn holds_facts(self) -> bool {
        self != Self::Npy
    }

    /// Returns the file of the facts about the rows of a file of embeddings that cannot hold them.
    pub fn facts_file(self, path: &Path) -> Option<PathBuf> {
        (!self.holds_facts()).then(|| facts_path(path))
    }

    /// Writes a file of embeddings `[n, d]`, given row by row, with the facts about its rows, in it or next to it.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(
        self,
        files: &OutputFiles,
        path: &Path,
        rows: (&[f32], usize),
        facts: &RowFacts,
    ) -> Result<(), Failure> {
        if let Some(path) = self.facts_file(path) {
            let json = serde_json::to_vec(facts);
            files.write(&path, &json.map_err(|error| Failure::Other(error.into()))?)?;
        }
        files.write(path, &self.bytes(rows, facts)?)
    }

    /// Returns the bytes of a file of embeddings `[n, d]`, given row by row, with the facts about its rows if the
    /// format holds them.
    ///
    /// # Errors
    /// If they cannot be written in this format, which is a fault of the program.
    ///
    /// # Panics
    /// If d is 0.
    fn bytes(self, (values, d): (&[f32], usize), facts: &RowFacts) -> Result<Vec<u8>, Failure> {
        let n = values.len() / d;
        let other = |error: std::io::Error| Failure::Other(error.into());
        match self {
            Self::Npy => Ok(npy::bytes([n, d], values)),
            Self::Safetensors => safetensors((values, [n, d]), facts),
            Self::Parquet => {
                let texts = facts.texts(n);
                vectors_as_parquet((values, d), &as_columns(&texts)).map_err(other)
            }
            Self::Csv => {
                let texts = facts.texts(n);
                vectors_as_csv((values, d), &as_columns(&texts)).map_err(other)
            }
        }
    }
}

/// Returns a safetensors file: the tensors `embeddings` and, with classes, `labels`, places among the names in the
/// metadata `classes`. Further metadata are `encoder`, `data`, `ids` and `columns`, the last two JSON.
fn safetensors(
    (values, shape): (&[f32], [usize; 2]),
    facts: &RowFacts,
) -> Result<Vec<u8>, Failure> {
    let mut tensors = vec![StoredTensor::of_f32("embeddings", shape.to_vec(), values)];
    let json = |value: serde_json::Result<String>| value.map_err(Failure::input);
    let mut metadata: Vec<(&str, String)> = Vec::new();
    metadata.extend(facts.encoder.clone().map(|it| ("encoder", it)));
    metadata.extend(facts.data.clone().map(|it| ("data", it)));
    if let Some(ids) = &facts.ids {
        metadata.push(("ids", json(serde_json::to_string(ids))?));
    }
    if let Some(labels) = &facts.labels {
        let labels: Vec<i64> = labels.iter().map(|&label| label as i64).collect();
        tensors.push(StoredTensor::of_i64("labels", vec![shape[0]], &labels));
        metadata.push(("classes", json(serde_json::to_string(&facts.classes))?));
    }
    if !facts.columns.is_empty() {
        metadata.push(("columns", json(serde_json::to_string(&facts.columns))?));
    }
    metadata.sort_unstable();
    let metadata: Vec<(&str, &str)> = metadata.iter().map(|(key, it)| (*key, &it[..])).collect();
    safetensors_bytes(&metadata, &tensors).map_err(Failure::input)
}
