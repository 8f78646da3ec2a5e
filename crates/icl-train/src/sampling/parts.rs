//! The old and the new samples that an epoch holds, by the sampling of the method.

use icl_core::{Increment, Seed};

use crate::method::Sampling;
use crate::sampling::reservoir::Reservoir;
use crate::sampling::widening;
use crate::settings::TrainingSettings;

impl Sampling {
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
