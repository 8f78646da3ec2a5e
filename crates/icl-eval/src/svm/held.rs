//! The samples that a solver holds: all of them, or those that shrinking has left.

use super::kernel::{Gram, LANES};

/// A value of each sample, in whole lanes.
pub(super) type Lanes = Vec<[f64; LANES]>;

/// Samples of a problem with the rows of their kernel matrix. A row of some of the samples is copied from the
/// whole matrix when it is first needed.
pub(super) struct Held<'a> {
    gram: &'a Gram,
    /// Samples in their order.
    samples: Vec<usize>,
    /// Copied rows; empty if all samples are held.
    rows: Vec<[f32; LANES]>,
    is_copied: Vec<bool>,
}

impl<'a> Held<'a> {
    /// Holds all samples.
    pub(super) fn all(gram: &'a Gram) -> Self {
        Self {
            gram,
            samples: (0..gram.n()).collect(),
            rows: Vec::new(),
            is_copied: Vec::new(),
        }
    }

    /// Holds these samples, in this order.
    pub(super) fn some(gram: &'a Gram, samples: Vec<usize>) -> Self {
        let n = samples.len();
        Self {
            gram,
            samples,
            rows: vec![[0.0; LANES]; n * n.div_ceil(LANES)],
            is_copied: vec![false; n],
        }
    }

    /// Returns the samples in their order. Every other function takes their positions.
    pub(super) fn samples(&self) -> &[usize] {
        &self.samples
    }

    /// Makes sure that a row can be read.
    pub(super) fn prepare(&mut self, at: usize) {
        if self.is_copied.is_empty() || self.is_copied[at] {
            return;
        }
        self.is_copied[at] = true;
        let n_lanes = self.samples.len().div_ceil(LANES);
        let row = self.gram.row(self.samples[at]).as_flattened();
        let copy = self.rows[at * n_lanes..][..n_lanes].as_flattened_mut();
        for (copy, &sample) in copy.iter_mut().zip(&self.samples) {
            *copy = row[sample];
        }
    }

    /// Returns a row that was prepared.
    #[inline(always)]
    pub(super) fn row(&self, at: usize) -> &[[f32; LANES]] {
        if self.is_copied.is_empty() {
            return self.gram.row(at);
        }
        let n_lanes = self.samples.len().div_ceil(LANES);
        &self.rows[at * n_lanes..][..n_lanes]
    }

    /// Returns a value of each of the samples, from one of every sample, with `filler` beyond the last.
    pub(super) fn select(&self, values: impl Fn(usize) -> f64, filler: f64) -> Lanes {
        let mut lanes = vec![[filler; LANES]; self.samples.len().div_ceil(LANES)];
        let places = lanes.as_flattened_mut().iter_mut();
        for (place, &sample) in places.zip(&self.samples) {
            *place = values(sample);
        }
        lanes
    }
}

/// Adds a multiple of a row of the kernel to a value of each sample.
#[inline(always)]
pub(super) fn add(values: &mut Lanes, row: &[[f32; LANES]], factor: f64) {
    for (v, k) in values.iter_mut().zip(row) {
        for lane in 0..LANES {
            v[lane] += f64::from(k[lane]) * factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_some_samples_are_those_of_all() {
        let gram = Gram::of(40, |i, j| (i * 40 + j) as f64);
        let mut held = Held::some(&gram, (0..40).filter(|i| i % 3 == 1).collect());
        held.prepare(5);
        let row = held.row(5).as_flattened();
        assert_eq!(held.samples()[5], 16);
        assert_eq!(row[1], gram.entry(16, 4));
        assert_eq!(row[5], 1.0);
        assert_eq!(row[12], gram.entry(16, 37));
        assert_eq!(row[13..], [0.0; 3]);
        let all = Held::all(&gram);
        assert_eq!(all.row(16), gram.row(16));
    }
}
