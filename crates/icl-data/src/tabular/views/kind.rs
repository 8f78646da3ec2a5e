//! Kinds of noise.

use burn::serde::{Deserialize, Serialize};
use icl_core::Error;

use crate::named::named;

/// Kind of noise that makes the positive pairs of rows. Prints and parses as its name.
///
/// x is the row, x̃ a partner: another row, drawn by the trainer, independently for the two views.
/// λ ~ U(α, 1), one for each row and view. Equation numbers are those of Verma et al., "Towards
/// Domain-Agnostic Contrastive Learning" (ICML 2021).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum NoiseKind {
    /// `linear`: λ·x + (1 − λ)·x̃ (DACL, Eq. 3).
    Linear,
    /// `geometric`: x^λ · x̃^(1 − λ) of the values of the file, shifted by ε (DACL, Eq. 5).
    ///
    /// ε is half the smallest value above 0 of the column in the old data. A value below 0, which only
    /// new data can have, is mixed linearly.
    Geometric,
    /// `binary`: each column is that of x with probability `keep`, else that of x̃ (DACL, Eq. 6).
    ///
    /// All features of a column are exchanged together.
    Binary,
    /// `plus`: one of `linear`, `geometric` and `binary`, drawn uniformly for each pair; both views of
    /// the pair have the same kind (DACL+, Algorithm 1).
    Plus,
    /// `gaussian`: independent Gaussian noise N(0, σ²) on the standardised values.
    Gaussian,
    /// `gaussian-printed`: independent Gaussian noise N(m, 1) on values scaled to [0, 1], as the DACL
    /// paper prints it for pixels.
    ///
    /// The smallest and the largest value of the old data are 0 and 1.
    GaussianPrinted,
    /// `marginal`: the first view is plain; in the second, each column is that of a partner of its own
    /// with probability `corruption` (SCARF; Bahri et al., 2022).
    ///
    /// A partner a column makes the exchanged columns independent, as draws from the marginal
    /// distributions are.
    Marginal,
    /// `auto`: a noise for each column by its kind, with one λ for the row.
    ///
    /// | column | noise |
    /// |---|---|
    /// | continuous | `linear` |
    /// | skewed | `geometric` |
    /// | binary, categorical, or with missing values | exchanged as a whole with probability 1 − λ |
    ///
    /// A linear mix of categories is no category; that of a missing value and a number is no value.
    Auto,
    /// `none`: both views are plain.
    None,
}

named!(
    NoiseKind {
        Linear: "linear",
        Geometric: "geometric",
        Binary: "binary",
        Plus: "plus",
        Gaussian: "gaussian",
        GaussianPrinted: "gaussian-printed",
        Marginal: "marginal",
        Auto: "auto",
        None: "none",
    },
    "noise",
    "one of linear, geometric, binary, plus, gaussian, gaussian-printed, marginal, auto, none",
    Error
);

impl NoiseKind {
    /// Returns `true` if the noise has a mixing coefficient λ.
    pub(super) fn has_lambda(self) -> bool {
        matches!(
            self,
            Self::Linear | Self::Geometric | Self::Plus | Self::Auto
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_print_and_parse() {
        for kind in NoiseKind::ALL {
            assert_eq!(kind.to_string().parse::<NoiseKind>().unwrap(), kind);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(
            "mixup".parse::<NoiseKind>().unwrap_err().to_string(),
            "noise: found \"mixup\", expected one of linear, geometric, binary, plus, gaussian, \
             gaussian-printed, marginal, auto, none"
        );
    }
}
