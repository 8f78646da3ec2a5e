//! Kinds of graph augmentation.

use burn::serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::named::named;

/// Kind of graph augmentation. Prints and parses as its name.
///
/// The fourth kind of You et al. (2020), edge perturbation, is left out, as in the ICL paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum ViewKind {
    /// `node-dropping`: nodes drawn uniformly without replacement are removed with all their edges.
    NodeDropping,
    /// `attribute-masking`: the features of nodes drawn uniformly without replacement become 0.
    ///
    /// Deviation: the code of You et al. replaces them by Gaussian noise of mean 0.5 and standard
    /// deviation 0.5. Zero means "no label" for one-hot features and is the mean of standardised
    /// ones, and a masked node is the same in every view.
    AttributeMasking,
    /// `subgraph`: the nodes that a random walk visits, with all edges between them.
    ///
    /// The walk begins at a node drawn uniformly and moves to a neighbour drawn uniformly. When it
    /// has visited a whole component, it begins again at a node drawn uniformly from the unvisited
    /// ones. Some graphs need a number of steps quadratic in the number of nodes; after four steps
    /// per node of the graph, the rest is therefore chosen breadth first, nearest to the visited
    /// nodes. (Deviation: in the code of You et al. the walk ends when it is stuck, so that a
    /// subgraph can be as small as a single node.)
    Subgraph,
}

named!(
    ViewKind {
        NodeDropping: "node-dropping",
        AttributeMasking: "attribute-masking",
        Subgraph: "subgraph",
    },
    "view kind",
    "`node-dropping`, `attribute-masking` or `subgraph`",
    DataError
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_print_and_parse() {
        for kind in ViewKind::ALL {
            assert_eq!(kind.to_string().parse::<ViewKind>().unwrap(), kind);
            // The name in a configuration file is the same.
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(
            "edges".parse::<ViewKind>().unwrap_err().to_string(),
            "view kind: found \"edges\", expected `node-dropping`, `attribute-masking` or `subgraph`"
        );
    }
}
