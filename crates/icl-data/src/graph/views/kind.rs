//! The kinds of graph augmentation, by name.

use std::fmt;
use std::str::FromStr;

use burn::serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::place::Found;

/// A kind of graph augmentation. Prints and parses as its name.
///
/// Of You et al. (2020), edge perturbation is left out, as it is in the ICL paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum ViewKind {
    /// `node-dropping`: nodes drawn uniformly without replacement vanish with all their edges.
    NodeDropping,
    /// `attribute-masking`: the features of nodes drawn uniformly without replacement become 0.
    ///
    /// Deviation: the code of You et al. puts Gaussian noise of mean 0.5 and deviation 0.5 there.
    /// Zero is "no label" for one-hot features and the mean for standardised ones, and a masked
    /// node looks the same in every view.
    AttributeMasking,
    /// `subgraph`: what a random walk visits, with all edges between the visited nodes.
    ///
    /// The walk begins at a node drawn uniformly and moves to a neighbour drawn uniformly. When it
    /// has visited a whole component, it begins again at a node drawn uniformly from those not yet
    /// visited. A walk covers some graphs only after a number of steps quadratic in the number of
    /// nodes; so after four steps for every node of the graph, the rest is what lies nearest to
    /// what was visited, breadth first. (In the code of You et al. the walk ends when it is
    /// stuck, so that the subgraph can be as small as a single node.)
    Subgraph,
}

impl ViewKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::NodeDropping, Self::AttributeMasking, Self::Subgraph];

    /// The name by which it prints and parses.
    pub fn name(self) -> &'static str {
        match self {
            Self::NodeDropping => "node-dropping",
            Self::AttributeMasking => "attribute-masking",
            Self::Subgraph => "subgraph",
        }
    }
}

impl fmt::Display for ViewKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ViewKind {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| DataError::UnknownViewKind {
                found: Found::new(name),
            })
    }
}

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
