//! AccuracyByOrigin of embeddings with their floors, and the map of embeddings.

use icl_core::{ByOrigin, Increment, Seed};
use icl_eval::{
    Accuracy, EvalError, FloorFeatures, Floors, KnnProtocolConfig, LinearProbeConfig, Matrix,
    PrincipalPlane, Protocol, SvmProtocolConfig,
};
use icl_report::{AccuracyByOrigin, FloorAccuracies, ProtocolAccuracies};

use crate::commands::run::judged::Judged;
use crate::domain::Domain;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Protocols on the samples of one increment; all embeddings have the same folds.
pub struct Protocols<'a> {
    /// All protocols, that of the paper first; `None` for samples without classes.
    all: Option<[Measured; 3]>,
    labels: Vec<usize>,
    increment: &'a Increment,
    seed: Seed,
}

/// A protocol with its floors.
struct Measured {
    protocol: Box<dyn Protocol>,
    floors: FloorAccuracies,
}

/// AccuracyByOrigin of the embeddings of one method.
#[derive(Debug, Clone, Copy, Default)]
pub struct MethodAccuracies {
    /// Support vector machine of the paper.
    pub svm: ProtocolAccuracies,
    /// Linear probe.
    pub linear_probe: ProtocolAccuracies,
    /// k nearest neighbours.
    pub knn: ProtocolAccuracies,
}

impl<'a> Protocols<'a> {
    /// Creates the protocols for the judged samples of `data`, with the floors that need no training:
    /// sizes, raw features and the embeddings of an untrained encoder.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub fn new<D: Domain>(
        domain: &D,
        data: &D::Data,
        untrained: &Matrix,
        judged: &'a Judged,
        seed: Seed,
    ) -> Result<Self, Failure> {
        let increment = &judged.increment;
        let svm = SvmProtocolConfig::default().try_init().map_err(failure)?;
        let probe = LinearProbeConfig::default().try_init().map_err(failure)?;
        let knn = KnnProtocolConfig::default().try_init().map_err(failure)?;
        let labels = D::labels(data);
        let labels: Vec<usize> = judged.samples.iter().map(|&at| labels[at]).collect();
        if !D::has_labels(data) {
            return Ok(Self {
                all: None,
                labels,
                increment,
                seed,
            });
        }
        let of_judged = |features: Matrix| features.select(&judged.samples);
        let size = D::sizes(data)?.map(of_judged);
        let raw = of_judged(domain.raw(data)?);
        let features = FloorFeatures {
            size: size.as_ref(),
            raw: Some(&raw),
            untrained: Some(untrained),
        };
        let measured = |protocol: Box<dyn Protocol>| Measured {
            floors: floors(&*protocol, features, &labels, increment, seed),
            protocol,
        };
        let all = [
            measured(Box::new(svm)),
            measured(Box::new(probe)),
            measured(Box::new(knn)),
        ];
        Ok(Self {
            all: Some(all),
            labels,
            increment,
            seed,
        })
    }

    /// Returns the class of each judged sample.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Measures the accuracies on all, old and new samples of embeddings, a row for each sample. An
    /// accuracy that cannot be measured is missing, with a warning: the training stands without it. Without
    /// classes all are missing.
    pub fn judge(&self, embeddings: &Matrix) -> MethodAccuracies {
        let Some(all) = &self.all else {
            return MethodAccuracies::default();
        };
        let [svm, linear_probe, knn] = all.each_ref().map(|measured| {
            let parts = measured.protocol.evaluate_parts(
                embeddings,
                &self.labels,
                self.increment,
                self.seed,
            );
            let accuracy = parts
                .map(|parts| means(&parts, Option::as_ref))
                .unwrap_or_else(|error| {
                    tell(format_args!("warning: no accuracy: {error}"));
                    AccuracyByOrigin::default()
                });
            ProtocolAccuracies {
                accuracy,
                floors: measured.floors,
            }
        });
        MethodAccuracies {
            svm,
            linear_probe,
            knn,
        }
    }
}

/// Measures the floors by a protocol. They are missing where they cannot be measured, with a warning.
fn floors(
    protocol: &dyn Protocol,
    features: FloorFeatures<'_>,
    labels: &[usize],
    increment: &Increment,
    seed: Seed,
) -> FloorAccuracies {
    let floors = match Floors::evaluate(protocol, features, labels, increment, seed) {
        Ok(floors) => floors,
        Err(error) => {
            tell(format_args!("warning: no floors: {error}"));
            return FloorAccuracies {
                majority: AccuracyByOrigin::default(),
                size: AccuracyByOrigin::default(),
                raw: AccuracyByOrigin::default(),
                untrained: AccuracyByOrigin::default(),
            };
        }
    };
    FloorAccuracies {
        majority: floors.as_ref().map(|floors| Some(floors.majority)),
        size: means(&floors, |floors| floors.size.as_ref()),
        raw: means(&floors, |floors| floors.raw.as_ref()),
        untrained: means(&floors, |floors| floors.untrained.as_ref()),
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

fn failure(error: EvalError) -> Failure {
    Failure::Other(error.into())
}
