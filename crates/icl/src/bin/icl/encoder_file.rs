//! Encoders as safetensors files.

use std::path::Path;

use anyhow::anyhow;
use burn::config::Config;
use burn::tensor::backend::Backend;
use burn_store::{ModuleSnapshot, SafetensorsStore};
use icl::models::{Gcn, GcnConfig, GraphBackend};

use crate::failure::Failure;

/// Writes an encoder with its configuration, from which it can be built again, as metadata.
///
/// # Errors
/// If the file cannot be written.
pub fn save<B: Backend + GraphBackend>(
    encoder: &Gcn<B>,
    config: &GcnConfig,
    data: &str,
    path: &Path,
) -> Result<(), Failure> {
    let mut store = SafetensorsStore::from_file(path)
        .metadata("encoder", "gcn")
        .metadata("config", one_line(config)?)
        .metadata("data", data);
    encoder
        .save_into(&mut store)
        .map_err(|error| Failure::Other(anyhow!("{}: cannot be written: {error}", path.display())))
}

fn one_line(config: &impl Config) -> Result<String, Failure> {
    serde_json::to_string(config).map_err(|error| Failure::Other(error.into()))
}
