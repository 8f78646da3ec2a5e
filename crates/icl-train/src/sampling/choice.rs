//! The sampling axis: which samples are anchors and noise, in which proportion.

use std::fmt;
use std::str::FromStr;

use icl_core::{Increment, Seed};
use serde::{Deserialize, Serialize};

use crate::method::MethodError;
use crate::sampling::reservoir::Reservoir;
use crate::trainer::settings::TrainingSettings;

/// The samples of an epoch. They are anchors and noise alike, so a sampling implies the noise
/// distribution that NCE-I has in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Sampling {
    /// All of X′, in one shuffled order: noise follows p(X′).
    All,
    /// X alone, with noise p(X): what the first encoder is trained on.
    Old,
    /// ΔX alone, with noise p(ΔX).
    New,
    /// ΔX and a fresh fraction f of X in each epoch, with noise from both. New data weigh
    /// α/(α + f(1 − α)) instead of α, in the sum and in the noise: cheaper epochs, and biased.
    Share(f64),
    /// As [`Share`](Self::Share), but f is only the first share of old data: it grows up to all of X
    /// when the exact risk stalls.
    Widening(f64),
    /// ΔX and a buffer that was drawn from X once, by reservoir sampling (Vitter, 1985).
    Buffer,
    /// All of X′, every batch with old and new samples in the proportion of the data.
    Stratified,
}

impl Sampling {
    /// Returns whether every batch holds old samples first, then new ones, in the proportion of the
    /// epoch, whatever the loss.
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

    /// Share of `n_old` old samples that the first epoch draws from.
    pub(crate) fn first_fraction(self, settings: &TrainingSettings, n_old: usize) -> f64 {
        match self {
            Self::Share(fraction) | Self::Widening(fraction) => fraction,
            Self::Buffer => settings.replay_size(n_old) as f64 / n_old as f64,
            Self::New => 0.0,
            Self::All | Self::Old | Self::Stratified => 1.0,
        }
    }

    /// The share that widens, where it does.
    pub(crate) fn widening_from(self) -> Option<f64> {
        match self {
            Self::Widening(fraction) => Some(fraction),
            _ => None,
        }
    }

    /// The old samples that the run trains on: all, or the buffer.
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

    /// Number of old samples of an epoch, of `n` that the run trains on. `fraction` is the share of the
    /// old data where it is the sampling's to choose.
    pub(crate) fn n_old_of_epoch(self, n: usize, fraction: f64) -> usize {
        match self {
            Self::Share(_) | Self::Widening(_) => (fraction * n as f64).round() as usize,
            Self::New => 0,
            Self::All | Self::Old | Self::Buffer | Self::Stratified => n,
        }
    }

    /// The order of an epoch whose batches do not tell old from new, from shuffled parts.
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
            Self::Widening(fraction) => write!(f, "widening:{fraction}"),
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
            _ => share("share")
                .map(Self::Share)
                .or_else(|| share("widening").map(Self::Widening))
                .ok_or_else(|| MethodError::Value {
                    axis: "sampling",
                    found: text.to_owned(),
                    expected: "all, old, new, share:F, widening:F (F above 0, at most 1), buffer or stratified",
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
            Sampling::Widening(1.0),
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
