//! Graphs.

use icl_core::{GrowthRatio, Increment, Seed};
use icl_data::{Graph, GraphDataset, Split};
use icl_eval::Matrix;

use super::{DataSet, GRAPHS, followed};
use crate::process::failure::Failure;

impl DataSet for GraphDataset {
    const SAMPLES: &'static str = GRAPHS;

    fn name(&self) -> &str {
        self.name()
    }

    fn has_labels(&self) -> bool {
        self.has_labels()
    }

    fn check_labels(&self, needed_by: &str) -> Result<(), Failure> {
        self.check_labels(needed_by).map_err(Failure::input)
    }

    fn labels(&self) -> Vec<usize> {
        self.labels()
    }

    fn original_labels(&self) -> Vec<i64> {
        let of = |graph: &Graph| self.class_labels()[graph.label()];
        self.graphs().iter().map(of).collect()
    }

    fn increment(
        &self,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        self.increment(split.clone(), alpha, seed)
            .map_err(Failure::input)
    }

    fn size_keys(&self) -> Result<Option<Vec<usize>>, Failure> {
        Ok(Some(self.sizes()))
    }

    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
        GraphDataset::join(self, new).map_err(Failure::input)
    }

    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
        let joined = self.append(new).map_err(Failure::input)?;
        let parts = followed(self.graphs().len(), joined.graphs().len());
        Ok((joined, parts))
    }

    fn n_clipped(&self) -> usize {
        self.counts().n_clipped
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        Ok(self.n_equal(increment))
    }

    fn checksum(&self) -> String {
        self.checksum()
    }

    /// Returns the numbers of nodes and edges.
    fn sizes(&self) -> Result<Option<Matrix>, Failure> {
        let row = |graph: &Graph| [graph.n_nodes() as f64, graph.n_edges() as f64];
        let sizes = Matrix::try_new(self.graphs().iter().flat_map(row).collect(), 2);
        sizes
            .map(Some)
            .map_err(|error| Failure::Other(error.into()))
    }
}
