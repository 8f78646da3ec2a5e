//! The old samples that are kept, in bounded memory.

use icl_core::Seed;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::stream::keep::Keep;

/// Sample that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSample {
    /// Experience in which it came, from 0.
    pub experience: usize,
    /// Number of the sample, as the caller counts them.
    pub sample: usize,
    /// Random number that was drawn when it came: of samples that compete, those with the lowest stay.
    key: u64,
}

/// Old samples of a stream that are kept: at most as many as [`Keep`] says, whatever the length of the stream.
///
/// Every sample draws a key when it comes, and those with the lowest keys stay. The lowest N of uniform keys are a uniform
/// sample of all that have come, as a reservoir is (Vitter, 1985), and a sample that has once been dropped never would have
/// stayed, so that nothing but the kept samples must be remembered. A key depends on the seed and on the sample's place in
/// its experience: later experiences do not change it.
///
/// ```
/// use icl_core::Seed;
/// use icl_train::{Buffer, Keep};
///
/// let mut buffer = Buffer::default();
/// for experience in 0..4 {
///     let samples: Vec<usize> = (100 * experience..100 * (experience + 1)).collect();
///     buffer.add(Keep::Equal(20), &samples, Seed::new(1).at(experience as u64));
/// }
/// assert_eq!(buffer.kept().len(), 20);
/// assert!((0..4).all(|it| buffer.kept().iter().filter(|kept| kept.experience == it).count() == 5));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    n_experiences: usize,
    kept: Vec<KeptSample>,
}

impl Buffer {
    /// Adds the samples of the next experience, and drops what `keep` does not keep. The seed is that of the experience.
    pub fn add(&mut self, keep: Keep, samples: &[usize], seed: Seed) {
        let mut rng = seed.child("keep").rng();
        let experience = self.n_experiences;
        self.n_experiences += 1;
        self.kept.extend(samples.iter().map(|&sample| KeptSample {
            experience,
            sample,
            key: rng.random(),
        }));
        match keep {
            Keep::All => {}
            Keep::Reservoir(n) => {
                let order = |kept: &KeptSample| (kept.key, kept.experience, kept.sample);
                self.kept.sort_unstable_by_key(order);
                self.kept.truncate(n);
            }
            Keep::Equal(n) => self.keep_shares(n, |_| 1.0),
            // Half as many for each experience of age; ages beyond 1000 have no share at all.
            Keep::Exponential(n) => self.keep_shares(n, |age| 0.5_f64.powi(age.min(1000) as i32)),
            Keep::Fifo(n) => self.keep_last(n),
        }
        self.kept
            .sort_unstable_by_key(|kept| (kept.experience, kept.key, kept.sample));
    }

    /// Returns the kept samples, in the order of their experiences.
    pub fn kept(&self) -> &[KeptSample] {
        &self.kept
    }

    /// Returns the number of experiences that were added.
    pub fn n_experiences(&self) -> usize {
        self.n_experiences
    }

    /// Returns the number of kept samples of each experience.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_experiences];
        for kept in &self.kept {
            counts[kept.experience] += 1;
        }
        counts
    }

    /// Keeps n samples in proportion to the weights of their experiences' ages, 0 for the last.
    fn keep_shares(&mut self, n: usize, weight: impl Fn(usize) -> f64) {
        let ages = (0..self.n_experiences).rev();
        let weights: Vec<f64> = ages.map(weight).collect();
        self.keep_quotas(&quotas(n, &self.counts(), &weights));
    }

    /// Keeps the n samples of the last experiences.
    fn keep_last(&mut self, n: usize) {
        let mut left = n;
        let mut quotas: Vec<usize> = self
            .counts()
            .into_iter()
            .rev()
            .map(|count| {
                let quota = count.min(left);
                left -= quota;
                quota
            })
            .collect();
        quotas.reverse();
        self.keep_quotas(&quotas);
    }

    /// Keeps of each experience as many samples as its quota, those with the lowest keys.
    fn keep_quotas(&mut self, quotas: &[usize]) {
        self.kept
            .sort_unstable_by_key(|kept| (kept.experience, kept.key, kept.sample));
        let mut left = quotas.to_vec();
        self.kept.retain(|kept| {
            let left = &mut left[kept.experience];
            let is_kept = *left > 0;
            *left = left.saturating_sub(1);
            is_kept
        });
    }
}

/// Divides n places over parts in proportion to their weights, at most `counts` each: a part that has fewer leaves the rest
/// to the others. Places that remain by rounding go to the last parts.
fn quotas(n: usize, counts: &[usize], weights: &[f64]) -> Vec<usize> {
    let mut quotas = vec![0; counts.len()];
    let mut is_open: Vec<bool> = counts.iter().map(|&count| count > 0).collect();
    let mut left = n.min(counts.iter().sum());
    while left > 0 {
        let total: f64 = (0..counts.len())
            .filter(|&part| is_open[part])
            .map(|part| weights[part])
            .sum();
        let mut taken = 0;
        for part in (0..counts.len()).filter(|&part| is_open[part]) {
            // Parts whose weights vanish compared with the others' have no share until the others are full.
            let share = if total > 0.0 {
                weights[part] / total
            } else {
                0.0
            };
            let wanted = (left as f64 * share).floor() as usize;
            let given = wanted.min(counts[part] - quotas[part]);
            quotas[part] += given;
            taken += given;
        }
        left -= taken;
        let mut is_closed = false;
        for part in 0..counts.len() {
            let is_full = is_open[part] && quotas[part] == counts[part];
            is_closed |= is_full;
            is_open[part] &= !is_full;
        }
        // Rounding has left these places. Where a part has just become full, its rest is divided once more instead.
        if taken == 0 || !is_closed {
            for part in (0..counts.len()).rev().cycle().take(counts.len()) {
                let given = usize::from(left > 0 && is_open[part]);
                quotas[part] += given;
                left -= given;
                is_open[part] &= quotas[part] < counts[part];
            }
        }
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(keep: Keep, sizes: &[usize], seed: u64) -> Buffer {
        let mut buffer = Buffer::default();
        let mut first = 0;
        for (at, &size) in sizes.iter().enumerate() {
            let samples: Vec<usize> = (first..first + size).collect();
            buffer.add(keep, &samples, Seed::new(seed).at(at as u64));
            first += size;
        }
        buffer
    }

    #[test]
    fn shares_are_those_of_the_choice() {
        let counts = |keep, sizes: &[usize]| filled(keep, sizes, 1).counts();
        let sizes = [100, 100, 100, 100];
        assert_eq!(counts(Keep::All, &sizes), [100; 4]);
        assert_eq!(counts(Keep::Equal(40), &sizes), [10; 4]);
        assert_eq!(counts(Keep::Equal(42), &sizes), [10, 10, 11, 11]);
        assert_eq!(counts(Keep::Exponential(75), &sizes), [5, 10, 20, 40]);
        assert_eq!(counts(Keep::Fifo(150), &sizes), [0, 0, 50, 100]);
        // A small experience leaves its places to the others.
        assert_eq!(counts(Keep::Equal(60), &[100, 10, 100]), [25, 10, 25]);
        assert_eq!(counts(Keep::Equal(60), &[5, 5, 5]), [5, 5, 5]);
        assert_eq!(counts(Keep::Fifo(60), &[100, 10, 20]), [30, 10, 20]);
    }

    /// A buffer never holds more than its limit, and no sample twice.
    #[test]
    fn memory_is_bounded_over_a_long_stream() {
        let sizes: Vec<usize> = (0..200).map(|at| 1 + at * 7 % 23).collect();
        for keep in [
            Keep::Reservoir(64),
            Keep::Equal(64),
            Keep::Exponential(64),
            Keep::Fifo(64),
        ] {
            let buffer = filled(keep, &sizes, 3);
            assert_eq!(buffer.kept().len(), 64, "{keep}");
            let mut samples: Vec<usize> = buffer.kept().iter().map(|it| it.sample).collect();
            samples.sort_unstable();
            samples.dedup();
            assert_eq!(samples.len(), 64, "{keep}");
            assert_eq!(buffer, filled(keep, &sizes, 3), "{keep}");
        }
    }

    /// On average 4000·(10/50) = 800 of 4000 buffers keep each of 50 samples, with a standard deviation of 25.
    #[test]
    fn every_sample_of_a_reservoir_is_as_likely_to_stay() {
        let mut kept = [0_u32; 50];
        for seed in 0..4000 {
            let buffer = filled(Keep::Reservoir(10), &[5, 30, 15], seed);
            buffer.kept().iter().for_each(|it| kept[it.sample] += 1);
        }
        assert!(kept.iter().all(|&n| n.abs_diff(800) < 125), "{kept:?}");
    }

    /// The state of a buffer is all that the next experience needs.
    #[test]
    fn a_stored_buffer_goes_on_as_it_would_have() {
        let whole = filled(Keep::Reservoir(20), &[30, 30, 30], 5);
        let part = filled(Keep::Reservoir(20), &[30, 30], 5);
        let text = serde_json::to_string(&part).unwrap();
        let mut read: Buffer = serde_json::from_str(&text).unwrap();
        let samples: Vec<usize> = (60..90).collect();
        read.add(Keep::Reservoir(20), &samples, Seed::new(5).at(2));
        assert_eq!(read, whole);
    }
}
