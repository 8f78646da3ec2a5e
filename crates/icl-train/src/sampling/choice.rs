//! The sampling axis: the samples that are anchors and noise, and their proportion.

use std::fmt;
use std::str::FromStr;

use icl_core::{Increment, Seed};
use serde::{Deserialize, Serialize};

use crate::method::MethodError;
use crate::sampling::reservoir::Reservoir;
use crate::sampling::widening;
use crate::trainer::settings::TrainingSettings;

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
    /// Without f (`widening`), new data are two fifths of the first epochs, or α if that is more. Noise
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
    /// Returns whether every batch holds old samples first, then new ones, in the proportion of the
    /// epoch, under any loss.
    pub(crate) fn is_stratified(self) -> bool {
        self == Self::Stratified
    }

    /// Returns whether an epoch holds both old and new samples and is not one shuffled order of X′.
    pub(crate) fn has_parts(self) -> bool {
        matches!(
            self,
            Self::Share(_) | Self::Widening(_) | Self::Buffer | Self::Stratified
        )
    }

    /// Returns the share of the old samples that the first epoch holds. An epoch whose share is not given
    /// fills at least one batch.
    pub(crate) fn first_fraction(self, settings: &TrainingSettings, increment: &Increment) -> f64 {
        let (n_old, n_new) = (increment.old().len(), increment.new_data().len());
        match self {
            Self::Share(fraction) | Self::Widening(Some(fraction)) => fraction,
            Self::Widening(None) => {
                let batch = settings.batch_size.saturating_sub(n_new) as f64 / n_old as f64;
                let alpha = increment.growth_ratio().value();
                widening::first_share(alpha).max(batch).min(1.0)
            }
            Self::Buffer => settings.replay_size(n_old) as f64 / n_old as f64,
            Self::New => 0.0,
            Self::All | Self::Old | Self::Stratified => 1.0,
        }
    }

    /// Returns whether the share of the old data widens.
    pub(crate) fn is_widening(self) -> bool {
        matches!(self, Self::Widening(_))
    }

    /// Returns the old samples of the run: all, or the buffer.
    pub(crate) fn kept_old(
        self,
        increment: &Increment,
        settings: &TrainingSettings,
        seed: Seed,
    ) -> Vec<usize> {
        match self {
            Self::Buffer => {
                let mut rng = seed.child("reservoir").rng();
                let mut reservoir = Reservoir::new(settings.replay_size(increment.old().len()));
                for &index in increment.old() {
                    reservoir.push(index, &mut rng);
                }
                reservoir.items().to_vec()
            }
            _ => increment.old().to_vec(),
        }
    }

    /// Returns the number of old samples in an epoch, of the `n` old samples of the run. `fraction` is the
    /// current share for a sampling that has one.
    pub(crate) fn n_old_of_epoch(self, n: usize, fraction: f64) -> usize {
        match self {
            Self::Share(_) | Self::Widening(_) => (fraction * n as f64).round() as usize,
            Self::New => 0,
            Self::All | Self::Old | Self::Buffer | Self::Stratified => n,
        }
    }

    /// Returns the order of an epoch whose batches do not separate old samples from new, from its shuffled
    /// parts.
    pub(crate) fn mixed(
        self,
        old: Vec<usize>,
        new: Vec<usize>,
        increment: &Increment,
        mut shuffled: impl FnMut(&[usize]) -> Vec<usize>,
    ) -> Vec<usize> {
        match self {
            Self::Old => old,
            Self::New => new,
            Self::All => shuffled(&increment.all()),
            Self::Share(_) | Self::Widening(_) | Self::Buffer | Self::Stratified => {
                shuffled(&[&old[..], &new].concat())
            }
        }
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
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
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
                .ok_or_else(|| MethodError::Value {
                    axis: "sampling",
                    found: text.to_owned(),
                    expected: "all, old, new, share:F, widening, widening:F (F above 0, at most 1), buffer or stratified",
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
