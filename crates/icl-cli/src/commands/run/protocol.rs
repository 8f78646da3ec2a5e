//! Accuracies of embeddings with their floors, and the map of embeddings.

use std::collections::BTreeMap;

use anyhow::anyhow;
use icl_core::{ByOrigin, Increment, Seed};
use icl_eval::{
    Accuracy, EvalError, EvalErrorKind, FloorFeatures, Floors, Matrix, PrincipalPlane, Protocol,
    Watch,
};
use icl_report::{AccuracyByOrigin, FloorAccuracies, ProtocolAccuracies};
use icl_train::{Identity, TrainError, read_checkpoint, write_checkpoint};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::commands::run::evaluated_samples::EvaluatedSamples;
use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::files::work_folder::WorkFolder;
use crate::options::protocol::{FEW_LABELS, KNN, LINEAR, NamedProtocol};
use crate::process::failure::Failure;
use crate::process::group::group;
use crate::process::interrupt;
use crate::process::progress::Display;
use crate::process::terminal::tell;

/// Place where measurements are shown, and kept until the run is complete.
#[derive(Clone, Copy)]
pub struct Kept<'a> {
    pub work: &'a WorkFolder,
    pub identity: &'a Identity,
    pub display: &'a Display,
    /// Seed of the run, which names its measurements.
    pub seed: u64,
}

impl Kept<'_> {
    /// Returns a measurement of an earlier start of this run or, if there is none, measures and keeps it; `None`
    /// with a warning if it cannot be measured.
    ///
    /// # Errors
    /// If it is interrupted, or a file cannot be read or written.
    fn measured<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        protocol: &NamedProtocol,
        measure: impl FnOnce(&Watch<'_>) -> Result<T, EvalError>,
    ) -> Result<Option<T>, Failure> {
        let path = self.work.state(&state_name(self.seed, what, protocol));
        let kept = read_checkpoint(&path, self.identity).map_err(Failure::training)?;
        let label = format!("seed {}: {what}, {}", self.seed, protocol.words);
        let measured = match kept {
            Some(kept) => Ok(kept),
            None => {
                let measuring = self.display.measure(&label);
                let bar = measuring.bar();
                let watch = Watch::new()
                    .on_progress(move |share| bar.advance(share))
                    .stop_when(interrupt::requested);
                let found = measure(&watch);
                if let Ok(found) = &found {
                    write_checkpoint(&path, self.identity, found).map_err(Failure::training)?;
                }
                found
            }
        };
        // All members stop here: those that have measured already would wait in the next collective operation.
        let is_interrupted = |error: &EvalError| error.kind() == EvalErrorKind::Interrupted;
        let is_stopped = measured.as_ref().is_err_and(is_interrupted);
        if group().any(is_stopped).map_err(TrainError::from)? {
            return Err(Failure::Interrupted(anyhow!(
                "stopped while accuracies were measured"
            )));
        }
        match measured {
            Ok(found) => Ok(Some(found)),
            Err(error) => {
                tell(format_args!("warning: {label}: no accuracy: {error}"));
                Ok(None)
            }
        }
    }
}

/// Name of the state of a measurement of a method, or of the [`FLOORS`].
pub fn state_name(seed: u64, what: &str, protocol: &NamedProtocol) -> String {
    format!("seed{seed}-{}-{}", in_files(what), protocol.name)
}

/// The name of a method in names of files: that of a point has characters that not every file system
/// takes.
pub fn in_files(name: &str) -> String {
    name.replace([',', '=', ':', '@', '%'], "-")
}

/// Name of the measurements of the floors.
pub const FLOORS: &str = "floors";

/// Protocols on the samples of one increment; all embeddings have the same folds.
pub struct Protocols<'a> {
    /// The protocols; none for samples without classes.
    all: Vec<Measured>,
    labels: Vec<usize>,
    increment: &'a Increment,
    seed: Seed,
    kept: Kept<'a>,
}

/// A protocol with its floors.
struct Measured {
    named: NamedProtocol,
    protocol: Box<dyn Protocol>,
    floors: FloorAccuracies,
}

/// Accuracies of the embeddings of one method, by the requested protocols.
#[derive(Debug, Clone, Default)]
pub struct MethodAccuracies {
    /// Linear probe.
    pub linear_probe: Option<ProtocolAccuracies>,
    /// k nearest neighbours.
    pub knn: Option<ProtocolAccuracies>,
    /// Nearest neighbour from five labels a class.
    pub few_labels: Option<ProtocolAccuracies>,
    /// Protocols that a program adds, by their names in words.
    pub added: BTreeMap<String, ProtocolAccuracies>,
}

impl<'a> Protocols<'a> {
    /// Creates the protocols of these names for the evaluated samples of `data`, with the floors that need no
    /// training: sizes, raw features and the embeddings of an untrained encoder. They are measured once.
    ///
    /// # Errors
    /// If a sample cannot be read, it is interrupted, or a file cannot be read or written.
    pub fn new<D: Domain>(
        names: &[NamedProtocol],
        data: &D::Data,
        (raw, untrained): (Option<&Matrix>, &Matrix),
        evaluated: &'a EvaluatedSamples,
        seed: Seed,
        kept: Kept<'a>,
    ) -> Result<Self, Failure> {
        let increment = &evaluated.increment;
        let labels = data.labels();
        let labels: Vec<usize> = evaluated.samples.iter().map(|&at| labels[at]).collect();
        let mut all = Vec::new();
        if data.has_labels() && !names.is_empty() {
            let size = data.sizes()?.map(|sizes| sizes.select(&evaluated.samples));
            let features = FloorFeatures {
                size: size.as_ref(),
                raw,
                untrained: Some(untrained),
            };
            for named in names {
                let protocol = (named.create)();
                let floors = kept.measured(FLOORS, named, |watch| {
                    let floors = Floors::evaluate_with(
                        &*protocol, features, &labels, increment, seed, watch,
                    );
                    floors.map(|floors| summary(&floors))
                })?;
                all.push(Measured {
                    named: *named,
                    protocol,
                    floors: floors.unwrap_or_default(),
                });
            }
        }
        Ok(Self {
            all,
            labels,
            increment,
            seed,
            kept,
        })
    }

    /// Returns the class of each evaluated sample.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Measures the accuracies on all, old and new samples of a method's embeddings, a row for each sample. An
    /// accuracy that cannot be measured is missing, with a warning: the training stands without it. Without
    /// classes all are missing.
    ///
    /// # Errors
    /// If it is interrupted, or a file cannot be read or written.
    pub fn accuracies(
        &self,
        method: &str,
        embeddings: &Matrix,
    ) -> Result<MethodAccuracies, Failure> {
        let mut found = MethodAccuracies::default();
        let mut words = Vec::new();
        for measured in &self.all {
            let accuracy = self.kept.measured(method, &measured.named, |watch| {
                let parts = measured.protocol.evaluate_parts_with(
                    embeddings,
                    &self.labels,
                    self.increment,
                    self.seed,
                    watch,
                );
                parts.map(|parts| means(&parts, Option::as_ref))
            })?;
            let accuracy = accuracy.unwrap_or_default();
            if let Some(all) = accuracy.all {
                words.push(format!("{all:.3} by {}", measured.named.words));
            }
            let measures = ProtocolAccuracies {
                accuracy,
                floors: measured.floors,
            };
            match measured.named.name {
                name if name == LINEAR.name => found.linear_probe = Some(measures),
                name if name == KNN.name => found.knn = Some(measures),
                name if name == FEW_LABELS.name => found.few_labels = Some(measures),
                _ => {
                    let words = measured.named.words.to_owned();
                    found.added.insert(words, measures);
                }
            }
        }
        if !words.is_empty() {
            self.kept.display.line(&format!(
                "seed {}  {method}: accuracy {}",
                self.kept.seed,
                words.join(", ")
            ));
        }
        Ok(found)
    }
}

/// Returns the floors as a record has them.
fn summary(floors: &ByOrigin<Floors>) -> FloorAccuracies {
    FloorAccuracies {
        majority: floors.as_ref().map(|floors| Some(floors.majority)),
        size: means(floors, |floors| floors.size.as_ref()),
        raw: means(floors, |floors| floors.raw.as_ref()),
        untrained: means(floors, |floors| floors.untrained.as_ref()),
    }
}

/// Returns two coordinates for each row: the principal plane.
pub fn plane(embeddings: &Matrix) -> Vec<[f64; 2]> {
    PrincipalPlane::of(embeddings).coordinates
}

fn means<T>(parts: &ByOrigin<T>, of: impl Fn(&T) -> Option<&Accuracy>) -> AccuracyByOrigin {
    let mean = |part| of(part).map(|accuracy| accuracy.mean);
    parts.as_ref().map(mean)
}
