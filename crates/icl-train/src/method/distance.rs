//! The distance of the distillation term.

use serde::{Deserialize, Serialize};

/// Distance between two embeddings of a view, for the distillation term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// Cosine distance 1 − cos, in [0, 2].
    Cosine,
    /// Mean of the squared differences of the coordinates.
    MeanSquared,
}
