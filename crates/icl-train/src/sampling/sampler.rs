//! The samples of an epoch in batches, for any training loop.

use icl_core::{Increment, Rng, Seed};
use rand::seq::SliceRandom;

use crate::method::Sampling;
use crate::sampling::batch_plan::{BatchPlan, count_repetitions};
use crate::sampling::reservoir::Reservoir;
use crate::sampling::widening;

/// Sampler of indices for any training loop: which old and new samples an epoch holds, in which batches.
///
/// An epoch is a pure function of the sampling, the data, the seed, the number of the epoch and the share of old
/// data, so that a loop that is resumed needs no state of it. Every sample of an epoch occurs once. An epoch of n
/// samples has ⌈n/B⌉ batches whose sizes differ by at most one, so that no batch is short. Batches that separate old
/// samples from new hold an even part of both; there are fewer, and larger ones, if they would otherwise hold fewer
/// than the two samples of each that a contrast needs.
///
/// Old samples that stand for several ([`Increment::with_old_weight`]) occur as often as it takes for an epoch to hold the
/// share of all N, at equal intervals and in no batch twice: a sample is no negative of itself. Every batch then holds an
/// even part of them, and there are more batches if one would hold more old samples than there are.
///
/// ```
/// use icl_core::{Increment, Seed};
/// use icl_train::{Sampler, Sampling};
///
/// let increment = Increment::try_new((0..900).collect(), (900..1000).collect())?;
/// let sampler = Sampler::new(Sampling::Widening(None), &increment, 32, Seed::new(7));
/// let mut n_seen = 0;
/// for epoch in 0..3 {
///     let share = sampler.share(n_seen as f64 / 1000.0);
///     for batch in sampler.epoch(epoch, share) {
///         // Two views of each of `batch.samples`, their loss and a step of the optimizer.
///         n_seen += batch.samples.len();
///     }
/// }
/// // An epoch holds all 100 new samples, and half of the old ones.
/// assert_eq!(n_seen, 3 * 550);
/// # Ok::<(), icl_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sampler<'a> {
    sampling: Sampling,
    /// Whether batches separate old samples from new.
    is_separated: bool,
    increment: &'a Increment,
    batch_size: usize,
    /// Old samples of the run: all, or the buffer.
    old: Vec<usize>,
    seed: Seed,
}

impl<'a> Sampler<'a> {
    /// Creates a sampler of batches of at most B = `batch_size` samples. `seed` decides the order of samples.
    ///
    /// # Panics
    /// If `batch_size` is below 4, as in the settings of the trainer.
    pub fn new(
        sampling: Sampling,
        increment: &'a Increment,
        batch_size: usize,
        seed: Seed,
    ) -> Self {
        assert!(
            batch_size >= 4,
            "found batches of {batch_size} samples, expected at least 4"
        );
        let sampler = Self {
            sampling,
            is_separated: sampling == Sampling::Stratified,
            increment,
            batch_size,
            old: increment.old().to_vec(),
            seed,
        };
        sampler.with_buffer(increment.old().len().div_ceil(5))
    }

    /// Sets the number of old samples in the buffer of [`Sampling::Buffer`]; other samplings have none. Default: a
    /// fifth.
    #[must_use]
    pub fn with_buffer(mut self, n: usize) -> Self {
        if self.sampling == Sampling::Buffer {
            let mut rng = self.seed.child("reservoir").rng();
            let mut reservoir = Reservoir::new(n.min(self.increment.old().len()));
            for &index in self.increment.old() {
                reservoir.push(index, &mut rng);
            }
            self.old = reservoir.items().to_vec();
        }
        self
    }

    /// Separates old samples from new in every batch: the first [`n_old`](BatchPlan::n_old) are old. Losses that
    /// estimate the noise of old and of new samples separately need it (Eq. 9), such as those of
    /// [`Contrast::in_batch`](icl_core::Contrast::in_batch). It changes nothing under a sampling of old or of new
    /// samples alone.
    #[must_use]
    pub fn separated(self) -> Self {
        Self {
            is_separated: !matches!(self.sampling, Sampling::Old | Sampling::New),
            ..self
        }
    }

    /// Returns the number of samples of the data, old and new.
    pub(crate) fn n_samples(&self) -> usize {
        self.increment.n_samples()
    }

    /// Returns the number of old samples that are at hand.
    pub(crate) fn n_old_at_hand(&self) -> usize {
        self.old.len()
    }

    /// Returns the maximum number of samples of a batch.
    pub(crate) fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Returns the share of the old data that an epoch holds after training at the cost of `epochs` epochs over all
    /// data, old and new: the number of samples that were trained on so far, divided by their number in the data.
    /// Only the share of [`Sampling::Widening`] depends on it.
    pub fn share(&self, epochs: f64) -> f64 {
        let n_old = self.increment.n_old() as f64;
        match self.sampling {
            Sampling::Share(share) => share,
            Sampling::Widening(first) => {
                widening::share(first.unwrap_or_else(|| self.first_share()), epochs)
            }
            Sampling::Buffer => self.old.len() as f64 / n_old,
            Sampling::New => 0.0,
            Sampling::All | Sampling::Old | Sampling::Stratified => 1.0,
        }
    }

    /// Returns the share of the old data that an epoch holds where the length of the training is known and the share
    /// `done` of it is done, from 0 to 1. Only the share of [`Sampling::Widening`] depends on it: it grows from its first
    /// value f₀ to all of the old data, so that the training ends with the proportions of X′.
    ///
    /// ```text
    /// f = f₀^(1 − done)
    /// ```
    pub fn share_within(&self, done: f64) -> f64 {
        match self.sampling {
            Sampling::Widening(_) => self.share(0.0).powf((1.0 - done).max(0.0)),
            _ => self.share(0.0),
        }
    }

    /// Returns the share of the old data with which widening begins where it is not given: the epoch fills at least
    /// one batch.
    fn first_share(&self) -> f64 {
        let (n_old, n_new) = (self.increment.n_old(), self.increment.new_data().len());
        let batch = self.batch_size.saturating_sub(n_new) as f64 / n_old as f64;
        let alpha = self.increment.growth_ratio().value();
        widening::first_share(alpha).max(batch).min(1.0)
    }

    /// Returns the batches of an epoch. `share` is the share of the old data that it holds ([`share`](Self::share)),
    /// for a sampling that has one.
    ///
    /// There is no batch if there are fewer than two samples, or two of each part where batches separate them.
    pub fn epoch(&self, epoch: usize, share: f64) -> Vec<BatchPlan> {
        let ([old, new], mut rng) = self.parts(epoch, share);
        if self.is_separated {
            return self.stratified(&old, &new);
        }
        let is_repeated = old.len() > self.old.len();
        let (old, new) = match self.sampling {
            Sampling::Old => (old, Vec::new()),
            Sampling::New => (Vec::new(), new),
            _ => (old, new),
        };
        if is_repeated {
            return self.repeated(&old, &new);
        }
        let samples = match self.sampling {
            Sampling::Old => old,
            Sampling::New => new,
            Sampling::All => shuffled(&self.increment.all(), &mut rng),
            _ => shuffled(&[old, new].concat(), &mut rng),
        };
        let n = samples
            .len()
            .div_ceil(self.batch_size)
            .min(samples.len() / 2);
        let batch = |at| BatchPlan::joined(Vec::new(), part(&samples, at, n).to_vec());
        (0..n).map(batch).collect()
    }

    /// Returns the old and the new samples of an epoch, shuffled, and the generator of its further draws. Old samples that
    /// stand for several are repeated in one order.
    pub(crate) fn parts(&self, epoch: usize, share: f64) -> ([Vec<usize>; 2], Rng) {
        let mut rng = self.seed.at(epoch as u64).rng();
        let old = shuffled(&self.old, &mut rng);
        let new = shuffled(self.increment.new_data(), &mut rng);
        let n_old = self.n_old_of_epoch(share);
        let old = old.into_iter().cycle().take(n_old).collect();
        ([old, new], rng)
    }

    /// Returns the number of old samples in an epoch: at least two if batches separate them from new ones.
    fn n_old_of_epoch(&self, share: f64) -> usize {
        let n = match self.sampling {
            Sampling::Buffer => self.old.len(),
            _ => self.increment.n_old(),
        };
        let n_old = match self.sampling {
            Sampling::Share(_) | Sampling::Widening(_) => (share * n as f64).round() as usize,
            Sampling::New => 0,
            Sampling::All | Sampling::Old | Sampling::Buffer | Sampling::Stratified => n,
        };
        let least = if self.is_separated { 2 } else { 0 };
        n_old.max(least).min(n)
    }

    /// Returns batches that each hold an even part of the old and of the new samples, at least two of each.
    fn stratified(&self, old: &[usize], new: &[usize]) -> Vec<BatchPlan> {
        // Enough batches for the batch size, and for no batch to hold a repeated sample twice; but few enough for two
        // old and two new samples in each.
        let n = (old.len() + new.len())
            .div_ceil(self.batch_size)
            .max(old.len().div_ceil(self.old.len()))
            .min(old.len() / 2)
            .min(new.len() / 2);
        self.even(old, new, n)
    }

    /// Returns batches of both parts, which do not separate them, with an even part of old samples that are repeated.
    fn repeated(&self, old: &[usize], new: &[usize]) -> Vec<BatchPlan> {
        let n = (old.len() + new.len())
            .div_ceil(self.batch_size)
            .max(old.len().div_ceil(self.old.len()));
        let mut batches = self.even(old, new, n);
        batches.iter_mut().for_each(|batch| batch.n_old = 0);
        batches
    }

    /// Returns `n` batches that each hold an even part of the old and of the new samples. New samples that are left over
    /// go to the batches with the fewest old ones. Of repeated old samples a batch holds each at most once.
    fn even(&self, old: &[usize], new: &[usize], n: usize) -> Vec<BatchPlan> {
        if n == 0 {
            return Vec::new();
        }
        let of_batch = |at| {
            let part = part(old, at, n);
            // They are repeated in one order, so that a run of as many as are at hand holds each once.
            &part[..part.len().min(self.old.len())]
        };
        let old: Vec<&[usize]> = (0..n).map(of_batch).collect();
        let mut by_length: Vec<usize> = (0..n).collect();
        by_length.sort_by_key(|&at| old[at].len());
        let mut n_new = vec![new.len() / n; n];
        for &at in &by_length[..new.len() % n] {
            n_new[at] += 1;
        }
        let mut rest = new;
        let batches = old.iter().zip(n_new).map(|(old, n_new)| {
            let (new, after) = rest.split_at(n_new);
            rest = after;
            BatchPlan::joined(old.to_vec(), new.to_vec())
        });
        let mut batches: Vec<BatchPlan> = batches.collect();
        count_repetitions(&mut batches);
        batches
    }
}

/// Returns indices in a random order.
pub(crate) fn shuffled(indices: &[usize], rng: &mut Rng) -> Vec<usize> {
    let mut indices = indices.to_vec();
    indices.shuffle(rng);
    indices
}

/// Returns part number `at` of `n` parts whose lengths differ by at most one.
pub(crate) fn part(items: &[usize], at: usize, n: usize) -> &[usize] {
    &items[at * items.len() / n..(at + 1) * items.len() / n]
}
