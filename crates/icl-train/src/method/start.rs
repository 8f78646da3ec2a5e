//! The start axis: the encoder from which a run starts.

use std::fmt;
use std::str::FromStr;

use burn::tensor::backend::AutodiffBackend;
use icl_core::TrainableEncoder;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::method::blend::blended;

/// Share λ of the trained parameters in `shrink-perturb`, the default of Ash and Adams' code.
const KEEP: f64 = 0.4;
/// Share σ of the fresh parameters in `shrink-perturb`, the default of Ash and Adams' code.
const FRESH: f64 = 0.1;

/// Encoder from which a run starts: the start axis. [`Trainer::update_with`](crate::Trainer::update_with) makes it of θ₀ and a
/// fresh encoder.
///
/// The text of a choice (`Display`, `FromStr`) is given in parentheses below.
///
/// ```
/// use icl_train::Start;
///
/// assert_eq!("scratch".parse(), Ok(Start::Scratch));
/// assert_eq!("shrink-perturb".parse(), Ok(Start::ShrinkPerturb { keep: 0.4, fresh: 0.1 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Start {
    /// θ₀, the encoder trained on the old data X (`trained`).
    Trained,
    /// θ₀ with statistics of normalisation that are re-estimated over X′ (`statistics`; AdaBN, Li et al., 2016).
    /// It differs from θ₀ only where nothing is trained: training normalises by its batches.
    Statistics,
    /// θ₀ with its statistics of normalisation frozen (`frozen-norm`): training, too, normalises by them, so that it
    /// begins at exactly the function that was trained
    /// ([`Encoder::with_frozen_statistics`](icl_core::Encoder::with_frozen_statistics)).
    FrozenNorm,
    /// A fresh encoder with random parameters (`scratch`).
    Scratch,
    /// θ₀, shrunk and moved towards a fresh encoder (`shrink-perturb`, `shrink-perturb:λ:σ`; Ash and Adams, 2020, with the
    /// defaults of their code, λ = 0.4 and σ = 0.1). λ and σ are from 0 to 1, and not both 0.
    ///
    /// ```text
    /// θ ← λ·θ₀ + σ·θ_fresh
    /// ```
    ///
    /// The literature has three things of this name. Here, as in Ash and Adams' code, the noise is a *fresh
    /// initialisation*, whose scale differs from layer to layer; Renate adds Gaussian noise of one deviation to all
    /// parameters; and Dohare et al. (2024) add small noise in *every step*, with weight decay in the place of λ.
    ///
    /// All parameters that are trained take part, also the γ and β of normalisation. Statistics of normalisation, frozen
    /// parameters and numbers that are no floats stay those of θ₀: the trainer re-estimates the statistics of the
    /// encoders of this project before it measures them.
    ShrinkPerturb {
        /// Share λ of θ₀.
        keep: f64,
        /// Share σ of the fresh encoder.
        fresh: f64,
    },
}

impl Start {
    /// Returns whether the start needs an encoder with random parameters.
    pub fn needs_fresh(self) -> bool {
        matches!(self, Self::Scratch | Self::ShrinkPerturb { .. })
    }

    /// Returns the encoder from which a run starts, given the trained encoder θ₀ and an encoder of the same architecture with
    /// random parameters.
    ///
    /// # Errors
    /// If the start needs an encoder with random parameters and there is none, or the two encoders cannot be blended.
    pub(crate) fn encoder<B, M>(self, trained: M, fresh: Option<M>) -> Result<M, TrainError>
    where
        B: AutodiffBackend,
        M: TrainableEncoder<B>,
    {
        if !self.needs_fresh() {
            return Ok(trained.with_frozen_statistics(self == Self::FrozenNorm));
        }
        let start = self.to_string();
        let Some(fresh) = fresh else {
            let found = format!("{start} without a fresh encoder");
            let expected = "one: pass it to Trainer::update_with as `fresh`";
            return Err(TrainError::new("start", found, expected));
        };
        match self {
            Self::ShrinkPerturb { keep, fresh: share } => {
                let trained = trained.with_frozen_statistics(false);
                let blended = blended::<B, M>(trained, &fresh, (keep, share));
                blended.map_err(|[found, trained]| {
                    let expected = format!(
                        "{trained} as in the trained encoder, with which {start} blends it"
                    );
                    TrainError::new("the fresh encoder", found, expected)
                })
            }
            _ => Ok(fresh.with_frozen_statistics(false)),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trained => f.write_str("trained"),
            Self::Statistics => f.write_str("statistics"),
            Self::FrozenNorm => f.write_str("frozen-norm"),
            Self::Scratch => f.write_str("scratch"),
            Self::ShrinkPerturb { keep, fresh } => write!(f, "shrink-perturb:{keep}:{fresh}"),
        }
    }
}

impl FromStr for Start {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let wrong = || {
            let expected = "trained, statistics, frozen-norm, scratch, shrink-perturb, or shrink-perturb:L:S with \
                            numbers from 0 to 1 that are not both 0";
            TrainError::new("start", text, expected)
        };
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let numbers: Result<Vec<f64>, _> = parts.map(str::parse).collect();
        let numbers = numbers.map_err(|_| wrong())?;
        let is_share = |number: &f64| (0.0..=1.0).contains(number);
        match (name, &numbers[..]) {
            ("trained", []) => Ok(Self::Trained),
            ("statistics", []) => Ok(Self::Statistics),
            ("frozen-norm", []) => Ok(Self::FrozenNorm),
            ("scratch", []) => Ok(Self::Scratch),
            ("shrink-perturb", []) => Ok(Self::ShrinkPerturb {
                keep: KEEP,
                fresh: FRESH,
            }),
            ("shrink-perturb", &[keep, fresh])
                if is_share(&keep) && is_share(&fresh) && keep + fresh > 0.0 =>
            {
                Ok(Self::ShrinkPerturb { keep, fresh })
            }
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_its_text() {
        for (text, start, full) in [
            ("trained", Start::Trained, "trained"),
            ("statistics", Start::Statistics, "statistics"),
            ("frozen-norm", Start::FrozenNorm, "frozen-norm"),
            ("scratch", Start::Scratch, "scratch"),
            (
                "shrink-perturb",
                Start::ShrinkPerturb {
                    keep: 0.4,
                    fresh: 0.1,
                },
                "shrink-perturb:0.4:0.1",
            ),
            (
                "shrink-perturb:1:0",
                Start::ShrinkPerturb {
                    keep: 1.0,
                    fresh: 0.0,
                },
                "shrink-perturb:1:0",
            ),
        ] {
            assert_eq!(text.parse(), Ok(start));
            assert_eq!(start.to_string(), full);
            assert_eq!(full.parse(), Ok(start));
        }
        for text in [
            "trained:1",
            "shrink-perturb:0.4",
            "shrink-perturb:0:0",
            "shrink-perturb:1.1:0",
            "shrink-perturb:NaN:0.1",
            "shrink-perturb:0.4:0.1:0.1",
            "shrink-perturb:",
        ] {
            let error = text.parse::<Start>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("start: found {text}, expected trained, ")));
        }
    }
}
