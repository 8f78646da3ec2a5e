//! Graphs.

use std::sync::Arc;

use super::adjacency::Adjacency;
use super::features::degree_profile;
use crate::content::ContentHash;
use crate::error::DataError;
use crate::increments::number_bits;

/// An undirected graph with node features and a class.
///
/// A graph has no self loops and no duplicate edges. Clones share its contents, which are immutable,
/// so that cloning is cheap.
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
#[derive(Debug, Clone)]
pub struct Graph {
    contents: Arc<Contents>,
    label: usize,
    /// Hash of edges, labels and attributes as they were read: features depend on other graphs, too.
    content: u64,
}

impl PartialEq for Graph {
    /// Compares edges, features and classes, whatever the features were made of.
    fn eq(&self, other: &Self) -> bool {
        (&self.contents, self.label) == (&other.contents, other.label)
    }
}

#[derive(Debug, PartialEq)]
struct Contents {
    adjacency: Adjacency,
    features: Box<[f32]>,
    d_features: usize,
}

impl Graph {
    /// Creates a graph of `features.len() / d_features` nodes.
    ///
    /// `edges` are pairs of nodes counted from 0; duplicates and self loops are dropped, and every
    /// edge counts in both directions. `features` is `[n_nodes, d_features]`, row by row. `label` is
    /// the index of the class.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if the features do not form whole rows, if there are none, or
    ///   if there are more than `i32::MAX` nodes;
    /// - if an edge names a node that does not exist;
    /// - if a feature is NaN or infinite.
    pub fn try_new(
        edges: &[[u32; 2]],
        features: Vec<f32>,
        d_features: usize,
        label: usize,
    ) -> Result<Self, DataError> {
        let n_nodes = features.len().checked_div(d_features).unwrap_or(0);
        if n_nodes == 0 || n_nodes > i32::MAX as usize || n_nodes * d_features != features.len() {
            return Err(DataError::new(
                "graph",
                format!("{} feature values", features.len()),
                format!("{n_nodes} nodes x {d_features} features, with at least 1 node"),
            ));
        }
        for (edge, pair) in edges.iter().enumerate() {
            if let Some(&found) = pair.iter().find(|&&node| node as usize >= n_nodes) {
                return Err(DataError::new(
                    "graph",
                    format!("node {found} in edge {edge}"),
                    format!("a node from 0 to {}", n_nodes - 1),
                ));
            }
        }
        if let Some(index) = features.iter().position(|value| !value.is_finite()) {
            return Err(DataError::new(
                "graph",
                format!(
                    "{} as feature {} of node {}",
                    features[index],
                    index % d_features,
                    index / d_features
                ),
                "a finite number",
            ));
        }
        let (adjacency, _) = Adjacency::from_edges(n_nodes, edges);
        let mut sum = content_of_edges(&adjacency);
        for row in features.chunks_exact(d_features) {
            sum = content_of_node(sum, None, row.iter().map(|&value| f64::from(value)));
        }
        let features = features.into();
        let content = sum.finish();
        Ok(Self::from_parts(
            adjacency, features, d_features, label, content,
        ))
    }

    /// Creates a graph of an adjacency and features that are known to fit, and the hash of what it was read from.
    pub(crate) fn from_parts(
        adjacency: Adjacency,
        features: Box<[f32]>,
        d_features: usize,
        label: usize,
        content: u64,
    ) -> Self {
        debug_assert_eq!(features.len(), adjacency.n_nodes() * d_features);
        Self {
            contents: Arc::new(Contents {
                adjacency,
                features,
                d_features,
            }),
            label,
            content,
        }
    }

    /// Returns the same graph with other features of its nodes.
    pub(crate) fn with_features(&self, features: Vec<f32>, d_features: usize) -> Self {
        let adjacency = self.contents.adjacency.clone();
        Self::from_parts(
            adjacency,
            features.into(),
            d_features,
            self.label,
            self.content,
        )
    }

    /// Returns the same graph with another class.
    pub(crate) fn with_label(&self, label: usize) -> Self {
        Self {
            label,
            ..self.clone()
        }
    }

    /// Returns the hash of edges, labels and attributes as they were read.
    pub(crate) fn content(&self) -> u64 {
        self.content
    }

    /// Returns the number of nodes, at least 1.
    pub fn n_nodes(&self) -> usize {
        self.contents.adjacency.n_nodes()
    }

    /// Returns the number of undirected edges.
    pub fn n_edges(&self) -> usize {
        self.contents.adjacency.n_directed() / 2
    }

    /// Returns the width of the node features.
    pub fn d_features(&self) -> usize {
        self.contents.d_features
    }

    /// Returns the class, as an index into the class labels of the data set.
    pub fn label(&self) -> usize {
        self.label
    }

    /// Returns the node features `[n_nodes, d_features]`, row by row.
    pub fn features(&self) -> &[f32] {
        &self.contents.features
    }

    /// Returns the features of one node.
    ///
    /// # Panics
    /// If `node` is not below [`n_nodes`](Self::n_nodes).
    pub fn node_features(&self, node: usize) -> &[f32] {
        let d_features = self.contents.d_features;
        &self.contents.features[node * d_features..(node + 1) * d_features]
    }

    /// Returns the sum of each feature over all nodes `[d_features]`, a representation that needs no encoder.
    pub fn summed_features(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.d_features()];
        for node in 0..self.n_nodes() {
            for (sum, feature) in sum.iter_mut().zip(self.node_features(node)) {
                *sum += f64::from(*feature);
            }
        }
        sum
    }

    /// Returns the neighbours of one node in ascending order.
    ///
    /// # Panics
    /// If `node` is not below [`n_nodes`](Self::n_nodes).
    pub fn neighbours(&self, node: usize) -> &[u32] {
        self.contents.adjacency.neighbours(node)
    }

    /// Returns the number of neighbours of one node.
    ///
    /// # Panics
    /// If `node` is not below [`n_nodes`](Self::n_nodes).
    pub fn degree(&self, node: usize) -> usize {
        self.contents.adjacency.degree(node)
    }

    /// Returns the local degree profile (Cai and Wang, 2018) of each node:
    ///
    /// ```text
    /// deg(i), min DN(i), max DN(i), mean DN(i), std DN(i)   with DN(i) = { deg(j) | j ∈ N(i) }
    /// ```
    ///
    /// `std` is the standard deviation of the population DN(i), not that of a sample, as in the
    /// authors' code and in PyTorch Geometric; it is 0 for a single neighbour. A node without
    /// neighbours has five zeros. The values are not scaled, unlike those that
    /// [`read_tu`](crate::read_tu) uses as features of a data set without any.
    pub fn degree_profile(&self) -> Vec<[f64; 5]> {
        degree_profile(&self.contents.adjacency)
    }

    /// Returns the numbers that are equal for graphs of equal contents: the nodes, the neighbours of each
    /// node, and the features.
    pub(super) fn contents_key(&self) -> Vec<u32> {
        let mut key = vec![self.n_nodes() as u32];
        for node in 0..self.n_nodes() {
            key.push(self.degree(node) as u32);
            key.extend(self.neighbours(node));
        }
        key.extend(number_bits(self.features()));
        key
    }

    pub(crate) fn adjacency(&self) -> &Adjacency {
        &self.contents.adjacency
    }
}

/// Begins the content of a graph: its edges.
pub(super) fn content_of_edges(adjacency: &Adjacency) -> ContentHash {
    let sum = ContentHash::new().count(adjacency.n_nodes() as u64);
    (0..adjacency.n_nodes()).fold(sum, |sum, node| {
        let sum = sum.count(adjacency.degree(node) as u64);
        let neighbours = adjacency.neighbours(node).iter();
        neighbours.fold(sum, |sum, &other| sum.count(u64::from(other)))
    })
}

/// Adds what is known of a node to the content of a graph.
pub(super) fn content_of_node(
    sum: ContentHash,
    label: Option<i64>,
    attributes: impl ExactSizeIterator<Item = f64>,
) -> ContentHash {
    let sum = match label {
        Some(label) => sum.count(1).count(label as u64),
        None => sum.count(0),
    };
    let sum = sum.count(attributes.len() as u64);
    attributes.fold(sum, ContentHash::number)
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
