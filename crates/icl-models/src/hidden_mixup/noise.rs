//! The kinds of hidden noise, and what is drawn for one view.

use icl_core::mixup::MixingRange;
use icl_core::{Error, Rng, Seed, Side};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Noise on a vector h of an encoder, from which a view h⁺ is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HiddenNoise {
    /// Mixup with the vector h̃ of another sample of the batch (DACL, Eq. 4).
    ///
    /// ```text
    /// h⁺ = λ·h + (1 − λ)·h̃      λ ~ U(α, 1)
    /// ```
    Mixup {
        /// Distribution of λ.
        range: MixingRange,
    },
    /// Gaussian noise, with which DACL compares mixup, in units of each column's deviation.
    ///
    /// ```text
    /// h⁺ = h + σ·s ∘ z      z ~ N(0, I)
    /// ```
    ///
    /// with the biased standard deviation s of each column over the encoded samples of the batch.
    Gaussian {
        /// Deviation σ of the noise, in deviations of a column.
        sigma: f64,
    },
}

impl HiddenNoise {
    /// Checks the noise.
    ///
    /// # Errors
    /// [`Error`] if σ is below 0, infinite or NaN.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Self::Gaussian { sigma } if !(sigma.is_finite() && sigma >= 0.0) => {
                let found = format!("σ = {sigma}");
                Err(Error::new(
                    "hidden noise",
                    found,
                    "a finite number of at least 0",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Draws the noise of one view.
    pub(super) fn draw(self, rng: &mut Rng) -> NoiseDraw {
        match self {
            Self::Mixup { range } => NoiseDraw::Mixup {
                lambda: range.draw(rng),
                partner: rng.random(),
            },
            Self::Gaussian { sigma } => NoiseDraw::Gaussian {
                sigma,
                seed: Seed::new(rng.random()),
            },
        }
    }
}

/// Noise of one view, with the pair that the view belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairNoise {
    /// Seed that the views of a pair share, by which the collation recognises them.
    pub pair: Seed,
    /// Side of the view.
    pub side: Side,
    /// Random numbers of the noise.
    pub draw: NoiseDraw,
}

/// Random numbers of the noise of one view. They belong to the view and not to the encoder, so that a
/// view is the same in training and in evaluation, given the samples of its batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoiseDraw {
    /// Hidden mixup.
    Mixup {
        /// Share λ of the sample itself.
        lambda: f32,
        /// 64 uniform bits that choose the partner among the other samples of the side.
        partner: u64,
    },
    /// Hidden Gaussian noise.
    Gaussian {
        /// Deviation σ of the noise, in deviations of a column.
        sigma: f64,
        /// Seed of z.
        seed: Seed,
    },
}
