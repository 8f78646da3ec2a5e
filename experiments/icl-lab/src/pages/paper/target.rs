//! Tables and figures that can be reproduced, each with its grid.

use crate::pages::paper::data_set::DataSet;
use crate::pages::paper::numbers::PAPER_METHODS;

/// Table or figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Speed-ups on images.
    Table3,
    /// Speed-ups on graphs.
    Table4,
    /// Accuracy on old data.
    Figure2,
    /// Accuracy on new data.
    Figure3,
    /// Speed-up over the growth ratio.
    Figure4,
    /// Loss curves.
    Figure5,
}

impl Target {
    /// All tables and figures, in the paper's order.
    pub const ALL: [Self; 6] = [
        Self::Table3,
        Self::Table4,
        Self::Figure2,
        Self::Figure3,
        Self::Figure4,
        Self::Figure5,
    ];

    /// Returns the name in commands and of the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table3 => "table3",
            Self::Table4 => "table4",
            Self::Figure2 => "fig2",
            Self::Figure3 => "fig3",
            Self::Figure4 => "fig4",
            Self::Figure5 => "fig5",
        }
    }

    /// Returns the paper's name.
    pub fn title(self) -> &'static str {
        match self {
            Self::Table3 => "Table 3",
            Self::Table4 => "Table 4",
            Self::Figure2 => "Figure 2",
            Self::Figure3 => "Figure 3",
            Self::Figure4 => "Figure 4",
            Self::Figure5 => "Figure 5",
        }
    }

    /// Returns the subject, which follows the title.
    pub fn subject(self) -> &'static str {
        match self {
            Self::Table3 => "speed-up over retraining on images",
            Self::Table4 => "speed-up over retraining on graphs",
            Self::Figure2 => "accuracy on old data",
            Self::Figure3 => "accuracy on new data",
            Self::Figure4 => "speed-up over the growth ratio α",
            Self::Figure5 => "loss curves",
        }
    }

    /// Returns the data sets that the paper shows in it.
    pub fn data_sets(self) -> &'static [DataSet] {
        match self {
            Self::Table3 => &[DataSet::ImageNet2, DataSet::Mnist2],
            Self::Table4 => &[DataSet::Proteins, DataSet::Reddit],
            Self::Figure2 | Self::Figure3 | Self::Figure4 => &DataSet::ALL,
            Self::Figure5 => &[DataSet::ImageNet2, DataSet::Reddit],
        }
    }

    /// Returns the growth ratios of the grid. The paper does not say which Figure 5 has; here it is the
    /// middle one.
    pub fn alphas(self) -> &'static [f64] {
        match self {
            Self::Figure4 => &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
            Self::Figure5 => &[0.5],
            _ => &[0.3, 0.5, 0.7],
        }
    }

    /// Returns the methods that the grid needs.
    pub fn methods(self) -> MethodSet {
        match self {
            Self::Figure4 => MethodSet::Sweep,
            Self::Figure5 => MethodSet::Losses,
            _ => MethodSet::Table,
        }
    }
}

/// Methods of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MethodSet {
    /// All methods of the registry.
    All,
    /// Methods of the paper and of this project.
    Table,
    /// Unbiased methods.
    Sweep,
    /// Methods whose losses are compared.
    Losses,
}

impl MethodSet {
    /// All sets, the largest first.
    pub const ALL: [Self; 4] = [Self::All, Self::Table, Self::Losses, Self::Sweep];

    /// Returns the name in the names of folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Table => "table",
            Self::Sweep => "sweep",
            Self::Losses => "losses",
        }
    }

    /// Returns the names of the set, whether the registry has them or not; `None` for all methods.
    fn wanted(self) -> Option<Vec<&'static str>> {
        const OURS: [&str; 4] = ["inference", "warm", "icl-corrected", "icl"];
        match self {
            Self::All => None,
            Self::Table => Some(
                PAPER_METHODS
                    .iter()
                    .map(|(_, own)| *own)
                    .chain(OURS)
                    .collect(),
            ),
            Self::Sweep => Some(vec!["retraining", "warm", "icl-published", "icl"]),
            Self::Losses => Some(vec![
                "retraining",
                "warm",
                "icl-published",
                "icl-published-wo-lrl",
                "icl-published-wo-m",
                "icl-published-wo-m-lrl",
                "icl",
            ]),
        }
    }

    /// Returns the methods of the set in the registry's order.
    pub fn methods(self) -> Vec<String> {
        let wanted = self.wanted();
        let is_wanted = |name: &String| {
            wanted
                .as_ref()
                .is_none_or(|wanted| wanted.contains(&name.as_str()))
        };
        let all = icl_train::methods().into_iter().map(|method| method.name);
        all.filter(is_wanted).collect()
    }

    /// Returns the names of the set that the registry does not have.
    pub fn missing(self) -> Vec<&'static str> {
        let mut wanted = self.wanted().unwrap_or_default();
        wanted.retain(|name| icl_train::Method::named(name).is_err());
        wanted
    }

    /// Returns whether the set holds all methods of another.
    pub fn covers(self, other: Self) -> bool {
        let own = self.methods();
        other.methods().iter().all(|method| own.contains(method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_sets_come_first() {
        for set in MethodSet::ALL {
            assert!(set.covers(set));
            assert!(
                set.methods()
                    .iter()
                    .any(|name| name == icl_train::REFERENCE)
            );
        }
        let n = MethodSet::ALL.map(|set| set.methods().len());
        assert!(n.is_sorted_by(|larger, smaller| larger >= smaller), "{n:?}");
        assert!(MethodSet::All.covers(MethodSet::Table));
        assert!(MethodSet::Table.covers(MethodSet::Sweep));
        assert!(MethodSet::Table.covers(MethodSet::Losses));
        assert!(!MethodSet::Sweep.covers(MethodSet::Table));
    }
}
