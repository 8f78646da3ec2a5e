//! The loss axis: the loss that a step minimises.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Loss that a step minimises, the loss axis: a contrastive loss, with or without a distillation term.
///
/// ```text
/// L = L_contrastive        or        L = L_contrastive + weight·mean distance(φ(x; θ), φ(x; θ_start))
/// ```
///
/// The text (`Display`, `FromStr`) is that of the [`LossKind`], with the suffix `+distillation` for the
/// term.
///
/// ```
/// use icl_train::{Loss, LossKind};
///
/// let loss: Loss = "corrected+distillation".parse()?;
/// assert_eq!(loss, LossKind::Corrected.with_distillation());
/// # Ok::<(), icl_train::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// Contrastive loss.
    pub kind: LossKind,
    /// Whether the loss has a distillation term: the weighted mean distance between the embeddings of
    /// the encoder and those of the encoder at the start of the run. Weight and distance are
    /// [`TrainingSettings::distillation_weight`](crate::TrainingSettings::distillation_weight) and
    /// [`distillation_distance`](crate::TrainingSettings::distillation_distance).
    pub distillation: bool,
}

/// Contrastive loss of a batch. The text of a choice is given in parentheses below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LossKind {
    /// NCE-I (`info-nce`; Eq. 1) under the noise distribution that the [`Sampling`](crate::Sampling)
    /// implies: the noise samples of an anchor are the other samples of its batch.
    InfoNce,
    /// Eq. 9 as published (`published`): NCE-II (Eq. 8) on X and NCE-I under p(X′) (Eq. 2) on ΔX,
    /// divided by the number of samples N + ΔN.
    ///
    /// ```text
    /// L = 1/(N + ΔN)·(Σ_{x ∈ X} L^{II}(x) + Σ_{x ∈ ΔX} L^{I,X′}(x))
    /// ```
    ///
    /// Deviation from the paper: the division, which makes learning rates comparable with those of other
    /// losses. Eq. 9 drops NCE-I under p(X) on X, whose gradient is 0 only at a minimum of that loss.
    Published,
    /// Eq. 9 with the dropped term (`corrected`): NCE-I under p(X) plus NCE-II on X, and NCE-I under
    /// p(X′) on ΔX. By Theorem 1 the sum on X is NCE-I under p(X′) at every θ.
    ///
    /// ```text
    /// L = 1/(N + ΔN)·(Σ_{x ∈ X} (L^{I,X}(x) + L^{II}(x)) + Σ_{x ∈ ΔX} L^{I,X′}(x))
    /// ```
    Corrected,
}

impl From<LossKind> for Loss {
    fn from(kind: LossKind) -> Self {
        Self {
            kind,
            distillation: false,
        }
    }
}

impl LossKind {
    const ALL: [Self; 3] = [Self::InfoNce, Self::Published, Self::Corrected];

    /// Returns the loss with the distillation term.
    pub fn with_distillation(self) -> Loss {
        Loss {
            kind: self,
            distillation: true,
        }
    }
}

impl Loss {
    /// Returns whether the loss separates the noise of old data from that of new data, as both forms of
    /// Eq. 9 do. Batches of such a loss hold at least two old samples and two new ones.
    pub fn separates_noise(self) -> bool {
        self.kind != LossKind::InfoNce
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InfoNce => "info-nce",
            Self::Published => "published",
            Self::Corrected => "corrected",
        })
    }
}

/// Writes `info-nce`, `published` or `corrected`, and `+distillation` if the loss has the term.
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        f.write_str(if self.distillation { DISTILLATION } else { "" })
    }
}

/// Suffix of a loss with the distillation term.
const DISTILLATION: &str = "+distillation";

impl FromStr for Loss {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let (kind, distillation) = match text.strip_suffix(DISTILLATION) {
            Some(kind) => (kind, true),
            None => (text, false),
        };
        let known = |known: &LossKind| known.to_string() == kind;
        match LossKind::ALL.into_iter().find(known) {
            Some(kind) => Ok(Self { kind, distillation }),
            None => {
                let expected =
                    "info-nce, published or corrected, with or without +distillation, or none";
                Err(TrainError::new("loss", text, expected))
            }
        }
    }
}

/// Noise samples of an anchor under NCE-I in a batch of n samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseSet {
    /// Second views of the other samples, n − 1 of them; anchors are the first views. This is the paper's
    /// loss.
    #[serde(rename = "other")]
    OtherViews,
    /// Both views of the other samples, 2n − 2 of them; anchors are the views of both sides
    /// ([`NtXent`](icl_core::NtXent)), as in SimCLR and DACL. The published loss has K = 2n − 2.
    ///
    /// Only NCE-I can use it: the other losses separate old noise from new.
    #[serde(rename = "both")]
    BothViews,
}

/// Distance between two embeddings of a view, for the distillation term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// Cosine distance 1 − cos, in [0, 2].
    Cosine,
    /// Mean of the squared differences of the coordinates.
    MeanSquared,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loss_reads_what_it_writes() {
        for kind in LossKind::ALL {
            for loss in [kind.into(), kind.with_distillation()] {
                assert_eq!(loss.to_string().parse::<Loss>(), Ok(loss));
            }
        }
        let error = "nce+distillation".parse::<Loss>().unwrap_err().to_string();
        assert!(
            error.contains("found nce+distillation, expected info-nce"),
            "{error}"
        );
    }
}
