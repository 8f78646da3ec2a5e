//! One graph as a sample.

use std::sync::Arc;

use super::adjacency::Adjacency;
use super::degree_profile::degree_profile;
use crate::error::DataError;

/// An undirected graph with node features and a class.
///
/// It has no self loops and no duplicate edges. What it holds is shared: a clone costs a counter,
/// and no clone can change what another one sees.
///
/// ```
/// use icl_data::Graph;
///
/// // A path of three nodes; edges may be listed in one direction, in both, or twice.
/// let path = Graph::try_new(&[[0, 1], [1, 2], [2, 1]], vec![1.0, 0.0, 1.0], 1, 0)?;
/// assert_eq!((path.n_nodes(), path.n_edges()), (3, 2));
/// assert_eq!(path.neighbours(1), [0, 2]);
/// # Ok::<(), icl_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    parts: Arc<Parts>,
    label: usize,
}

#[derive(Debug, PartialEq)]
struct Parts {
    adjacency: Adjacency,
    features: Box<[f32]>,
    d_features: usize,
}

impl Graph {
    /// A graph of `features.len() / d_features` nodes.
    ///
    /// `edges` are pairs of nodes counted from 0: duplicates and self loops are dropped and each
    /// edge is taken in both directions. `features` is `[n_nodes, d_features]`, row after row.
    /// `label` is the index of the class.
    ///
    /// # Errors
    /// [`DataError::GraphFeatures`] if the features make no whole number of rows, or none;
    /// [`DataError::GraphEdge`] if an edge names a node that does not exist;
    /// [`DataError::GraphFeatureValue`] if a feature is NaN or infinite.
    pub fn try_new(
        edges: &[[u32; 2]],
        features: Vec<f32>,
        d_features: usize,
        label: usize,
    ) -> Result<Self, DataError> {
        let n_nodes = features.len().checked_div(d_features).unwrap_or(0);
        if n_nodes == 0 || n_nodes > i32::MAX as usize || n_nodes * d_features != features.len() {
            return Err(DataError::GraphFeatures {
                found: features.len(),
                n_nodes,
                d_features,
            });
        }
        for (edge, pair) in edges.iter().enumerate() {
            if let Some(&found) = pair.iter().find(|&&node| node as usize >= n_nodes) {
                return Err(DataError::GraphEdge {
                    edge,
                    found,
                    last: n_nodes - 1,
                });
            }
        }
        if let Some(index) = features.iter().position(|value| !value.is_finite()) {
            return Err(DataError::GraphFeatureValue {
                node: index / d_features,
                column: index % d_features,
                found: features[index],
            });
        }
        let (adjacency, _) = Adjacency::from_edges(n_nodes, edges);
        Ok(Self::from_parts(
            adjacency,
            features.into(),
            d_features,
            label,
        ))
    }

    /// A graph of parts that are known to fit together.
    pub(crate) fn from_parts(
        adjacency: Adjacency,
        features: Box<[f32]>,
        d_features: usize,
        label: usize,
    ) -> Self {
        debug_assert_eq!(features.len(), adjacency.n_nodes() * d_features);
        Self {
            parts: Arc::new(Parts {
                adjacency,
                features,
                d_features,
            }),
            label,
        }
    }

    /// The same graph with another class.
    pub(crate) fn with_label(&self, label: usize) -> Self {
        Self {
            parts: self.parts.clone(),
            label,
        }
    }

    /// The number of nodes, at least 1.
    pub fn n_nodes(&self) -> usize {
        self.parts.adjacency.n_nodes()
    }

    /// The number of undirected edges.
    pub fn n_edges(&self) -> usize {
        self.parts.adjacency.n_directed() / 2
    }

    /// The width of the node features.
    pub fn d_features(&self) -> usize {
        self.parts.d_features
    }

    /// The class, as an index into the data set's class labels.
    pub fn label(&self) -> usize {
        self.label
    }

    /// Node features `[n_nodes, d_features]`, row after row.
    pub fn features(&self) -> &[f32] {
        &self.parts.features
    }

    /// The features of one node.
    ///
    /// # Panics
    /// If `node` is not below [`n_nodes`](Self::n_nodes).
    pub fn node_features(&self, node: usize) -> &[f32] {
        let d_features = self.parts.d_features;
        &self.parts.features[node * d_features..(node + 1) * d_features]
    }

    /// The neighbours of one node, ascending.
    ///
    /// # Panics
    /// If `node` is not below [`n_nodes`](Self::n_nodes).
    pub fn neighbours(&self, node: usize) -> &[u32] {
        self.parts.adjacency.neighbours(node)
    }

    /// The number of neighbours of one node.
    ///
    /// # Panics
    /// If `node` is not below [`n_nodes`](Self::n_nodes).
    pub fn degree(&self, node: usize) -> usize {
        self.parts.adjacency.degree(node)
    }

    /// The local degree profile (Cai and Wang, 2018) of each node:
    ///
    /// ```text
    /// deg(i), min DN(i), max DN(i), mean DN(i), std DN(i)   with DN(i) = { deg(j) | j ∈ N(i) }
    /// ```
    ///
    /// `std` is that of the whole set DN(i), not of a sample from it, as in the authors' code and
    /// in PyTorch Geometric; so it is 0 for a single neighbour. A node without neighbours has five
    /// zeros. The values are raw; those that [`read_tu`](crate::read_tu) puts into the features of
    /// a data set without any are scaled.
    pub fn degree_profile(&self) -> Vec<[f64; 5]> {
        degree_profile(&self.parts.adjacency)
    }

    pub(crate) fn adjacency(&self) -> &Adjacency {
        &self.parts.adjacency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_what_they_hold() {
        let graph = Graph::try_new(&[[0, 1]], vec![0.0; 4], 2, 3).unwrap();
        let clone = graph.clone();
        assert!(std::ptr::eq(graph.features(), clone.features()));
        assert_eq!(graph, clone);
        assert_eq!(clone.label(), 3);
        assert_eq!(clone.node_features(1), [0.0, 0.0]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let message = |edges: &[[u32; 2]], features: Vec<f32>, d_features| {
            Graph::try_new(edges, features, d_features, 0)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            message(&[], vec![0.0; 5], 2),
            "graph: found 5 feature values, expected 2 nodes x 2 features, with at least 1 node"
        );
        assert!(message(&[], vec![], 2).contains("at least 1 node"));
        assert!(message(&[], vec![0.0; 5], 0).contains("at least 1 node"));
        assert_eq!(
            message(&[[0, 1], [1, 2]], vec![0.0; 2], 1),
            "graph: found node 2 in edge 1, expected a node from 0 to 1"
        );
        assert_eq!(
            message(&[], vec![0.0, 0.0, f32::NAN, 0.0], 2),
            "graph: found NaN as feature 0 of node 1, expected a finite number"
        );
    }
}
