//! The sampling axis: the samples that are anchors and noise, and their proportion.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Samples of an epoch: the sampling axis.
///
/// In a batch every sample is an anchor, and noise for the other anchors. A sampling therefore implies the
/// noise distribution under which [NCE-I](crate::LossKind::InfoNce) is computed, which is named for each
/// choice. Both forms of Eq. 9 instead estimate the noise of old and of new samples separately and weigh
/// them by the growth ratio α, so that their noise distribution is p(X′) or p(X) under any sampling whose
/// batches hold both.
///
/// The text of a choice (`Display`, `FromStr`) is given in parentheses below.
///
/// ```
/// use icl_train::Sampling;
///
/// assert_eq!("share:0.2".parse(), Ok(Sampling::Share(0.2)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Sampling {
    /// All of X′ in one shuffled order (`all`). Noise distribution: p(X′).
    All,
    /// The old data X alone (`old`), as in the training of θ₀. Noise distribution: p(X).
    Old,
    /// The new data ΔX alone (`new`). Noise distribution: p(ΔX).
    New,
    /// ΔX, and in each epoch another random fraction f of X (`share:F`, 0 < f ≤ 1). Noise distribution:
    /// p(X) and p(ΔX) in the proportion f(1 − α) : α.
    ///
    /// New data weigh α/(α + f(1 − α)) instead of α, as anchors and as noise: epochs are cheaper, and the
    /// loss is biased.
    Share(f64),
    /// ΔX, and in each epoch another random fraction of X, which begins at f (`widening:F`, 0 < f ≤ 1) and doubles, up
    /// to all of X, whenever the cost of training quadruples, for the first time at the cost of 12 epochs over all data.
    /// Without f (`widening`), it begins at a half, or at the fraction that leaves two fifths of an epoch to new data
    /// if that is larger, or at the fraction with which an epoch fills a batch if that is larger still. Noise
    /// distribution: that of [`Share`](Self::Share) with the current fraction, and in the end p(X′).
    Widening(Option<f64>),
    /// ΔX and a buffer of old samples, drawn from X once by reservoir sampling (`buffer`; Vitter, 1985):
    /// replay. Noise distribution: the buffer and ΔX in the proportion of their sizes.
    /// [`TrainingSettings::replay_size`](field@crate::TrainingSettings::replay_size) is the size of the
    /// buffer.
    Buffer,
    /// All of X′, every batch with old and new samples in the proportion of the data (`stratified`).
    /// Noise distribution: p(X′), with less variance between batches than [`All`](Self::All).
    Stratified,
}

impl Sampling {
    /// Returns whether an epoch holds both old and new samples and is not one shuffled order of X′.
    pub(crate) fn has_parts(self) -> bool {
        matches!(
            self,
            Self::Share(_) | Self::Widening(_) | Self::Buffer | Self::Stratified
        )
    }

    /// Returns whether the share of the old data widens.
    pub(crate) fn is_widening(self) -> bool {
        matches!(self, Self::Widening(_))
    }
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Old => f.write_str("old"),
            Self::New => f.write_str("new"),
            Self::Share(fraction) => write!(f, "share:{fraction}"),
            Self::Widening(None) => f.write_str("widening"),
            Self::Widening(Some(fraction)) => write!(f, "widening:{fraction}"),
            Self::Buffer => f.write_str("buffer"),
            Self::Stratified => f.write_str("stratified"),
        }
    }
}

impl FromStr for Sampling {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let share = |name| {
            let fraction: f64 = text.strip_prefix(name)?.strip_prefix(':')?.parse().ok()?;
            (fraction > 0.0 && fraction <= 1.0).then_some(fraction)
        };
        match text {
            "all" => Ok(Self::All),
            "old" => Ok(Self::Old),
            "new" => Ok(Self::New),
            "buffer" => Ok(Self::Buffer),
            "stratified" => Ok(Self::Stratified),
            "widening" => Ok(Self::Widening(None)),
            _ => share("share")
                .map(Self::Share)
                .or_else(|| share("widening").map(|first| Self::Widening(Some(first))))
                .ok_or_else(|| {
                    let expected = "all, old, new, share:F, widening, widening:F (F above 0, at most 1), buffer or stratified";
                    TrainError::new("sampling", text, expected)
                }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sampling_reads_what_it_writes() {
        for sampling in [
            Sampling::All,
            Sampling::Old,
            Sampling::New,
            Sampling::Share(0.2),
            Sampling::Widening(None),
            Sampling::Widening(Some(1.0)),
            Sampling::Buffer,
            Sampling::Stratified,
        ] {
            assert_eq!(sampling.to_string().parse(), Ok(sampling));
        }
        for text in [
            "",
            "share",
            "share:0",
            "share:1.1",
            "share:NaN",
            "widening:-1",
            "share:0.2x",
        ] {
            assert!(text.parse::<Sampling>().is_err(), "{text}");
        }
    }
}
