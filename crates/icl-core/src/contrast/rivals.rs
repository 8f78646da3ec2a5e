//! Noise samples that score at least as high as the positive.

use burn::tensor::{Int, Tensor, backend::Backend};

use crate::negatives::Rank;

/// Largest difference of two cosines that counts as a tie.
///
/// It is eight roundings of single precision at 1. The same two rows may differ by a few of them in another block of a
/// matrix product, whose order of summation is another one, and the positive's cosine is no part of such a product.
pub(super) const TIE: f32 = 8.0 * f32::EPSILON;

/// Number of noise samples of an anchor that score above its positive, and as high as it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rivals {
    /// Number with a higher score.
    pub(super) above: usize,
    /// Number with the same score, up to [`TIE`].
    pub(super) tied: usize,
}

impl Rivals {
    /// Counts the cosines of an anchor's noise next to that of its positive. Pairs that are left out have a cosine below
    /// all others.
    #[inline(always)]
    pub(super) fn of_row(noise: &[f32], positive: f32) -> Self {
        let (low, high) = (positive - TIE, positive + TIE);
        let (mut above, mut at_least_tied) = (0_u32, 0_u32);
        for value in noise {
            above += u32::from(*value > high);
            at_least_tied += u32::from(*value >= low);
        }
        Self {
            above: above as usize,
            tied: (at_least_tied - above) as usize,
        }
    }

    /// Counts by Burn's operations, on any backend: cosines `[n, m]` of the noise next to those of the positives `[n]`.
    pub(super) fn composed<B: Backend>(
        noise: Tensor<B, 2>,
        positives: Tensor<B, 1>,
    ) -> impl Iterator<Item = Self> {
        let positives = positives.unsqueeze_dim::<2>(1);
        let count = |is_in: Tensor<B, 2, burn::tensor::Bool>| {
            let counts: Tensor<B, 1, Int> = is_in.int().sum_dim(1).squeeze_dim(1);
            let counts = counts.into_data().convert::<i64>().into_vec::<i64>();
            counts.expect("integers convert to i64")
        };
        let above = count(noise.clone().greater(positives.clone() + TIE));
        let at_least_tied = count(noise.greater_equal(positives - TIE));
        above
            .into_iter()
            .zip(at_least_tied)
            .map(|(above, tied)| Self {
                above: above as usize,
                tied: (tied - above) as usize,
            })
    }

    /// Takes the number above the positive and the number tied with it.
    pub(crate) fn new(above: usize, tied: usize) -> Self {
        Self { above, tied }
    }

    /// Returns the number above the positive and the number tied with it.
    pub(crate) fn counts(self) -> [usize; 2] {
        [self.above, self.tied]
    }

    /// Adds those of other noise.
    pub(crate) fn add(&mut self, other: Self) {
        self.above += other.above;
        self.tied += other.tied;
    }

    /// Returns the rank of the positive among all of `n_noise` samples.
    pub(crate) fn rank(self, n_noise: usize) -> Rank {
        Rank {
            below: n_noise - self.above - self.tied,
            tied: self.tied,
            above: self.above,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::TestBackend;

    #[test]
    fn counts_are_those_of_differences() {
        let noise: Vec<f32> = (0..37).map(|i| (i * 7 % 19) as f32 / 19.0).collect();
        for positive in [0.0, 3.0 / 19.0, 0.5, 18.0 / 19.0, 2.0] {
            let expected = Rivals {
                above: noise.iter().filter(|it| **it > positive + TIE).count(),
                tied: noise
                    .iter()
                    .filter(|it| (**it - positive).abs() <= TIE)
                    .count(),
            };
            assert_eq!(Rivals::of_row(&noise, positive), expected);
            let device = Default::default();
            let tensor = Tensor::<TestBackend, 1>::from_floats(&noise[..], &device);
            let of_positive = Tensor::from_floats([positive], &device);
            let composed = Rivals::composed(tensor.unsqueeze(), of_positive);
            assert_eq!(composed.collect::<Vec<_>>(), [expected]);
        }
    }
}
