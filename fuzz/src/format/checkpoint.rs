//! Checkpoints of a training run whose checksum is right, as a run continues from them.

use std::cell::Cell;
use std::path::Path;

use anyhow::{Context, Result, bail};
use burn::backend::{Autodiff, Flex};
use icl::core::{GrowthRatio, Seed, Stack};
use icl::data::{TableOptions, TableViews, TableViewsConfig, TabularDataset, read_table};
use icl::models::{Mlp, MlpConfig};
use icl::prelude::*;
use icl::train::{Callbacks, RateChoice, TrainError, TrainErrorKind};
use serde_json::Value;

use super::program::write_data;
use super::reader::{Format, Told};
use crate::parts::{Part, Valid};

/// Name of the file.
const FILE: &str = "run.checkpoint";

/// Returns the format.
pub fn format() -> Result<Format> {
    let (at, _, table) = write_data()?;
    let options = TableOptions {
        target: Some("class".to_owned()),
        ..TableOptions::default()
    };
    let table = read_table(&table, &options)?;
    let (split, seed) = ("class:0".parse()?, Seed::new(1));
    let alpha = GrowthRatio::try_new(0.5)?;
    let (data, increment) = TabularDataset::split(&table, split, alpha, seed)?;
    let views = TableViewsConfig::new()
        .with_alpha_mix(0.5)
        .init(data.schema());
    let work = Work {
        data,
        increment,
        views,
    };
    let path = at.path().join(FILE);
    let mut valid = Vec::new();
    for method in [Method::icl(), learned()] {
        for n_steps in [1, 2, 100] {
            let _ = std::fs::remove_file(&path);
            match work.run(&method, &path, n_steps) {
                Err(error) if !matches!(error.kind(), TrainErrorKind::Interrupted { .. }) => {
                    return Err(error.into());
                }
                _ => valid.push(parts(&path)?),
            }
        }
    }
    let read = move |folder: &Path| {
        let path = folder.join(FILE);
        let is_learned = std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(7).any(|window| window == b"learned"));
        let method = if is_learned { learned() } else { Method::icl() };
        match work.run(&method, &path, 100) {
            // The numbers of the state are as the checksum says: that training then leaves the finite ones is no
            // fault of the file's form.
            Ok(()) => Ok(()),
            Err(error) => match error.kind() {
                TrainErrorKind::NonFinite { .. } => Ok(()),
                TrainErrorKind::Failed if error.found().starts_with(AGENT) => Ok(()),
                _ => Err(Told::of(error)),
            },
        }
    };
    Ok(Format {
        name: "checkpoint",
        valid,
        // Markers of MessagePack.
        words: &[
            "\u{c0}",
            "\u{c2}",
            "\u{80}",
            "\u{90}",
            "\u{a0}",
            "\u{7f}\u{7f}\u{7f}\u{7f}",
            "\u{0}\u{0}\u{0}\u{0}",
            "shape",
            "bytes",
            "encoder",
            "optimizer",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

/// Error of an agent that cannot be saved.
const AGENT: &str = "the agent that chooses learning rates";

fn learned() -> Method {
    Method {
        rate: RateChoice::Learned,
        ..Method::icl()
    }
}

/// Training of a perceptron of a few parameters on twelve rows.
struct Work {
    data: TabularDataset,
    increment: Increment,
    views: TableViews,
}

impl Work {
    /// Continues from the file, or begins, and stops after so many steps.
    fn run(&self, method: &Method, path: &Path, n_steps: u64) -> Result<(), TrainError> {
        let settings = TrainingSettings {
            epochs: 2,
            batch_size: 4,
            negatives: 2.0,
            ..TrainingSettings::default()
        };
        let collate = Stack;
        let trainer = Trainer::<Autodiff<Flex>, _, _, _>::new(
            &self.data,
            &self.views,
            collate,
            &self.increment,
        );
        let trainer = trainer.settings(settings).seed(1);
        let config = MlpConfig::new(self.data.d_features())
            .with_width(3)
            .with_n_layers(1);
        let encoder: Mlp<Autodiff<Flex>> = config.init(Seed::new(1), &Default::default());
        let taken = Cell::new(0);
        let mut callbacks = Callbacks::new().with_checkpoint(path).stop_when(|| {
            taken.set(taken.get() + 1);
            taken.get() > n_steps
        });
        trainer.update_with(method, encoder, None, &mut callbacks)?;
        Ok(())
    }
}

/// Takes a checkpoint apart into its header and its state.
fn parts(path: &Path) -> Result<Valid> {
    let bytes = std::fs::read(path)?;
    let end = bytes
        .iter()
        .position(|&byte| byte == b'\n')
        .context("a file without a header")?;
    Ok(Valid {
        parts: vec![
            Part::new("header", &bytes[..end]),
            Part::new("state", &bytes[end + 1..]),
        ],
        pack,
    })
}

/// Joins them again, with the length and the checksum of the state unless the header is damaged.
fn pack(parts: &[Part]) -> Result<Vec<Part>> {
    let [header, state] = parts else {
        bail!("found {} parts, expected 2", parts.len());
    };
    let mut text = header.bytes.clone();
    if let Ok(Value::Object(mut fields)) = serde_json::from_slice(&text) {
        fields.insert("length".to_owned(), state.bytes.len().into());
        fields.insert("checksum".to_owned(), crc32fast::hash(&state.bytes).into());
        text = serde_json::to_vec(&fields)?;
    }
    let bytes = [&text[..], b"\n", &state.bytes].concat();
    Ok(vec![Part::new(FILE, bytes)])
}
