//! Graphs.

use icl_core::{GrowthRatio, Increment, Seed};
use icl_data::{Graph, GraphDataset, Split, StreamKey};
use icl_eval::Matrix;

use super::{DataSet, GRAPHS, followed, no_keys};
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

    fn stream_keys(&self, key: &StreamKey) -> Result<Vec<usize>, Failure> {
        match key {
            StreamKey::Nothing => Ok(vec![0; self.graphs().len()]),
            StreamKey::Size => Ok(self.sizes()),
            StreamKey::Class => {
                DataSet::check_labels(self, "a stream by classes")?;
                Ok(DataSet::labels(self))
            }
            StreamKey::Column(_) => Err(no_keys(self, key)),
        }
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

    /// Returns the CRC-32 of all graphs: features, edges and labels.
    fn checksum(&self) -> String {
        let mut hasher = crc32fast::Hasher::new();
        for graph in self.graphs() {
            for feature in graph.features() {
                hasher.update(&feature.to_le_bytes());
            }
            for node in 0..graph.n_nodes() {
                for neighbour in graph.neighbours(node) {
                    hasher.update(&neighbour.to_le_bytes());
                }
                hasher.update(b"|");
            }
            hasher.update(&(graph.label() as u64).to_le_bytes());
        }
        format!("{:08x}", hasher.finalize())
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
