//! Node features: the layout of their columns, and the local degree profile for graphs without any.

use std::fmt;

use burn::serde::{Deserialize, Serialize};

use super::adjacency::Adjacency;

/// Columns of the node features, from left to right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum FeatureLayout {
    /// Node labels and node attributes from the files.
    Given {
        /// Node labels in ascending order, each with one 0/1 column.
        node_labels: Vec<i64>,
        /// Number of the columns after them: node attributes, standardised over all nodes.
        n_attributes: usize,
    },
    /// Local degree profile in five columns, transformed by `log(1 + x)` and standardised over all
    /// nodes, because the files have neither node labels nor node attributes.
    DegreeProfile,
}

impl FeatureLayout {
    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        match self {
            Self::Given {
                node_labels,
                n_attributes,
            } => node_labels.len() + n_attributes,
            Self::DegreeProfile => D_PROFILE,
        }
    }
}

impl fmt::Display for FeatureLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given {
                node_labels,
                n_attributes,
            } => write!(
                f,
                "{} node labels and {n_attributes} attributes",
                node_labels.len()
            ),
            Self::DegreeProfile => f.write_str("the degree profile"),
        }
    }
}

/// Number of values of a node's profile.
pub(crate) const D_PROFILE: usize = PROFILE.len();

/// Names of the values of a node's profile.
pub(crate) const PROFILE: [&str; 5] = [
    "degree",
    "least degree of a neighbour",
    "greatest degree of a neighbour",
    "mean degree of the neighbours",
    "standard deviation of the neighbours' degrees",
];

/// Returns the degree of each node, and the minimum, maximum, mean and standard deviation of its
/// neighbours' degrees.
///
/// See [`Graph::degree_profile`](crate::Graph::degree_profile).
pub(crate) fn degree_profile(adjacency: &Adjacency) -> Vec<[f64; D_PROFILE]> {
    (0..adjacency.n_nodes())
        .map(|node| {
            let neighbours = adjacency.neighbours(node);
            if neighbours.is_empty() {
                return [0.0; D_PROFILE];
            }
            let (mut least, mut greatest) = (usize::MAX, 0);
            // Sums of integers are exact, so that equal degrees give a deviation of exactly 0.
            let (mut sum, mut sum_of_squares) = (0_u128, 0_u128);
            for &other in neighbours {
                let degree = adjacency.degree(other as usize);
                least = least.min(degree);
                greatest = greatest.max(degree);
                sum += degree as u128;
                sum_of_squares += (degree * degree) as u128;
            }
            let n = neighbours.len() as u128;
            let scaled_variance = n * sum_of_squares - sum * sum;
            [
                n as f64,
                least as f64,
                greatest as f64,
                sum as f64 / n as f64,
                (scaled_variance as f64).sqrt() / n as f64,
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms() {
        // A triangle 0-1-2 with a tail 2-3, and an isolated node 4.
        let (adjacency, _) = Adjacency::from_edges(5, &[[0, 1], [1, 2], [2, 0], [2, 3]]);
        let profile = degree_profile(&adjacency);
        assert_eq!(profile[0], [2.0, 2.0, 3.0, 2.5, 0.5]);
        assert_eq!(profile[1], profile[0]);
        // Degrees 2, 2, 1: mean 5/3, variance 9/3 - 25/9 = 2/9.
        let deviation = (2.0_f64 / 9.0).sqrt();
        assert_eq!(profile[2][..4], [3.0, 1.0, 2.0, 5.0 / 3.0]);
        assert!((profile[2][4] - deviation).abs() < 1e-15);
        assert_eq!(profile[3], [1.0, 3.0, 3.0, 3.0, 0.0]);
        assert_eq!(profile[4], [0.0; 5]);
    }
}
