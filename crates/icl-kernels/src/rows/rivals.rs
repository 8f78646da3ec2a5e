//! Keys that score at least as high as a target.

use burn::tensor::{Bool, Int, Tensor, backend::Backend};

/// Largest difference of two cosines that counts as a tie.
///
/// It is eight roundings of single precision at 1. The same two rows may differ by a few of them in another block of a
/// matrix product, whose order of summation is another one, and the target is no part of such a product.
const TIE: f32 = 8.0 * f32::EPSILON;

/// Number of keys whose cosine to a query is above a target, and as high as it.
///
/// Cosines that differ by at most 10⁻⁶ are ties, because the same two rows may be multiplied in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rivals {
    /// Number with a higher cosine.
    pub above: usize,
    /// Number with the same cosine.
    pub tied: usize,
}

impl Rivals {
    /// Counts the cosines of a query's keys next to its target. Pairs that are left out have a cosine below all others.
    #[cfg(any(test, feature = "flex"))]
    #[inline(always)]
    pub(super) fn of_row(keys: &[f32], target: f32) -> Self {
        let (low, high) = (target - TIE, target + TIE);
        let (mut above, mut at_least_tied) = (0_u32, 0_u32);
        for value in keys {
            above += u32::from(*value > high);
            at_least_tied += u32::from(*value >= low);
        }
        Self {
            above: above as usize,
            tied: (at_least_tied - above) as usize,
        }
    }

    /// Counts the cosines `[n, m]` of the keys of each query next to its target `[n]`.
    pub fn of_rows<B: Backend>(
        cosines: Tensor<B, 2>,
        targets: Tensor<B, 1>,
    ) -> impl Iterator<Item = Self> {
        let targets = targets.unsqueeze_dim::<2>(1);
        let count = |is_in: Tensor<B, 2, Bool>| {
            let counts: Tensor<B, 1, Int> = is_in.int().sum_dim(1).squeeze_dim(1);
            let counts = counts.into_data().convert::<i64>().into_vec::<i64>();
            counts.expect("integers convert to i64")
        };
        let above = count(cosines.clone().greater(targets.clone() + TIE));
        let at_least_tied = count(cosines.greater_equal(targets - TIE));
        above
            .into_iter()
            .zip(at_least_tied)
            .map(|(above, tied)| Self {
                above: above as usize,
                tied: (tied - above) as usize,
            })
    }

    /// Adds the counts among other keys.
    pub fn add(&mut self, other: Self) {
        self.above += other.above;
        self.tied += other.tied;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::TestBackend;

    #[test]
    fn counts_are_those_of_differences() {
        let keys: Vec<f32> = (0..37).map(|i| (i * 7 % 19) as f32 / 19.0).collect();
        for target in [0.0, 3.0 / 19.0, 0.5, 18.0 / 19.0, 2.0] {
            let expected = Rivals {
                above: keys.iter().filter(|it| **it > target + TIE).count(),
                tied: keys
                    .iter()
                    .filter(|it| (**it - target).abs() <= TIE)
                    .count(),
            };
            assert_eq!(Rivals::of_row(&keys, target), expected);
            let device = Default::default();
            let tensor = Tensor::<TestBackend, 1>::from_floats(&keys[..], &device);
            let of_target = Tensor::from_floats([target], &device);
            let of_rows = Rivals::of_rows(tensor.unsqueeze(), of_target);
            assert_eq!(of_rows.collect::<Vec<_>>(), [expected]);
        }
    }
}
