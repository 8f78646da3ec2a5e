//! Ranks of positives among explicit noise.

use burn::tensor::{Tensor, backend::Backend};
use icl_kernels::rows::Rivals;

use super::similarity::normalize;
use super::terms::assert_paired;
use crate::negatives::{Rank, Ranks};

/// Computes the ranks of positives among explicit noise samples: of each row of `anchors` and `positives` `[n, d]`, by
/// the cosine similarity to the anchor, among all rows of `noise` `[m, d]`.
///
/// Cosines that differ by at most 10⁻⁶ are ties, because the same two rows may be multiplied in another order. All n·m
/// similarities are in memory at once.
///
/// # Panics
/// If the shapes of anchors and positives or the widths d differ, or there is no row of either.
pub fn ranks_among<B: Backend>(
    anchors: Tensor<B, 2>,
    positives: Tensor<B, 2>,
    noise: Tensor<B, 2>,
) -> Ranks {
    assert_paired(&anchors, &positives);
    let [n_noise, _] = noise.dims();
    let [anchors, positives, noise] = [anchors, positives, noise].map(normalize);
    let of_positives = (anchors.clone() * positives).sum_dim(1).squeeze_dim(1);
    let of_noise = anchors.matmul(noise.transpose());
    ranks_of(Rivals::of_rows(of_noise, of_positives), n_noise)
}

/// Returns the rank of each positive among `n_noise` samples, of which `rivals` counts those that score at least as
/// high.
pub(crate) fn ranks_of(rivals: impl Iterator<Item = Rivals>, n_noise: usize) -> Ranks {
    let rank = |Rivals { above, tied }| Rank {
        below: n_noise - above - tied,
        tied,
        above,
    };
    Ranks::new(rivals.map(rank).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::TestBackend;

    #[test]
    fn noise_is_ranked_by_its_direction() {
        let device = Default::default();
        let rows = |rows: Vec<[f32; 2]>| {
            let n = rows.len();
            let data = burn::tensor::TensorData::new(rows.concat(), [n, 2]);
            Tensor::<TestBackend, 2>::from_data(data, &device)
        };
        let ranks = ranks_among(
            rows(vec![[1.0, 0.0], [0.0, 0.0]]),
            rows(vec![[2.0, 1.0], [1.0, 1.0]]),
            rows(vec![[4.0, 2.0], [9.0, 1.0], [-1.0, 0.1], [0.0, 3.0]]),
        );
        let expected = [
            Rank {
                below: 2,
                tied: 1,
                above: 1,
            },
            // A row of zeros is equally similar to all others.
            Rank {
                below: 0,
                tied: 4,
                above: 0,
            },
        ];
        assert_eq!(ranks.of_anchors(), expected);
    }
}
