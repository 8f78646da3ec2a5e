//! Accuracies of embeddings, with their floors, and their map.

use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use icl::core::{Increment, Seed, host_values};
use icl::data::{Graph, GraphDataset};
use icl::eval::{
    Accuracy, EvalError, FloorFeatures, Floors, Matrix, Parts, PrincipalPlane, SvmProtocol,
    SvmProtocolConfig,
};
use icl::{AccuracyParts, FloorParts};

use crate::failure::Failure;
use crate::streams::tell;

const MISSING: AccuracyParts = AccuracyParts {
    all: None,
    old: None,
    new: None,
};

/// The paper's protocol on the graphs of one increment; all embeddings see the same folds.
pub struct Protocol<'a> {
    svm: SvmProtocol,
    data: &'a GraphDataset,
    labels: Vec<usize>,
    increment: &'a Increment,
    seed: Seed,
}

impl<'a> Protocol<'a> {
    /// For the graphs of `data`.
    pub fn new(
        data: &'a GraphDataset,
        increment: &'a Increment,
        seed: Seed,
    ) -> Result<Self, Failure> {
        Ok(Self {
            svm: SvmProtocolConfig::default().try_init().map_err(failure)?,
            data,
            labels: data.labels(),
            increment,
            seed,
        })
    }

    /// The accuracies on all, old and new graphs of embeddings, one row a graph. Those that cannot
    /// be had are missing, with a warning: the training stands without them.
    pub fn accuracy(&self, embeddings: &Matrix) -> AccuracyParts {
        self.svm
            .evaluate_parts(embeddings, &self.labels, self.increment, self.seed)
            .map(|parts| means(&parts, Option::as_ref))
            .unwrap_or_else(|error| {
                tell(format_args!("warning: no accuracy: {error}"));
                MISSING
            })
    }

    /// What needs no training: sizes, summed node features, the embeddings of an untrained encoder.
    /// Missing where it cannot be had, with a warning.
    pub fn floors(&self, untrained: &Matrix) -> Result<FloorParts, Failure> {
        let size = self.rows(2, |graph| {
            vec![graph.n_nodes() as f64, graph.n_edges() as f64]
        })?;
        let raw = self.rows(self.data.d_features(), summed_features)?;
        let features = FloorFeatures {
            size: Some(&size),
            raw: Some(&raw),
            untrained: Some(untrained),
        };
        let floors = Floors::evaluate(&self.svm, features, &self.labels, self.increment, self.seed);
        let floors = match floors {
            Ok(floors) => floors,
            Err(error) => {
                tell(format_args!("warning: no floors: {error}"));
                return Ok(FloorParts {
                    majority: MISSING,
                    size: MISSING,
                    raw: MISSING,
                    untrained: MISSING,
                });
            }
        };
        Ok(FloorParts {
            majority: AccuracyParts {
                all: Some(floors.all.majority),
                old: Some(floors.old.majority),
                new: Some(floors.new.majority),
            },
            size: means(&floors, |floors| floors.size.as_ref()),
            raw: means(&floors, |floors| floors.raw.as_ref()),
            untrained: means(&floors, |floors| floors.untrained.as_ref()),
        })
    }

    fn rows(&self, width: usize, row: impl Fn(&Graph) -> Vec<f64>) -> Result<Matrix, Failure> {
        let values = self.data.graphs().iter().flat_map(row).collect();
        Matrix::try_new(values, width).map_err(failure)
    }
}

/// Embeddings `[n, d]` as a matrix on the host.
pub fn matrix<B: Backend>(embeddings: Tensor<B, 2>) -> Result<Matrix, Failure> {
    let [_, width] = embeddings.dims();
    Matrix::try_new(host_values(embeddings), width).map_err(failure)
}

/// Two coordinates a row: the principal plane.
pub fn plane(embeddings: &Matrix) -> Vec<[f64; 2]> {
    PrincipalPlane::of(embeddings).coordinates
}

/// The sum of a graph's node features.
fn summed_features(graph: &Graph) -> Vec<f64> {
    let mut sum = vec![0.0; graph.d_features()];
    for node in 0..graph.n_nodes() {
        for (sum, feature) in sum.iter_mut().zip(graph.node_features(node)) {
            *sum += f64::from(*feature);
        }
    }
    sum
}

fn means<T>(parts: &Parts<T>, of: impl Fn(&T) -> Option<&Accuracy>) -> AccuracyParts {
    let mean = |part| of(part).map(|accuracy| accuracy.mean);
    AccuracyParts {
        all: mean(&parts.all),
        old: mean(&parts.old),
        new: mean(&parts.new),
    }
}

fn failure(error: EvalError) -> Failure {
    Failure::Other(error.into())
}
