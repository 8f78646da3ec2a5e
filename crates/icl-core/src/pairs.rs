//! Embeddings of positive pairs, and candidates for their negatives.

use std::sync::Arc;

use burn::tensor::{Tensor, backend::Backend};

/// Embeddings of a batch of n positive pairs, as [`Encoder::encode_pairs`](crate::Encoder::encode_pairs) returns
/// them.
#[derive(Debug, Clone)]
pub struct PairEmbeddings<B: Backend> {
    /// Embeddings of the anchors `[n, d]`.
    pub anchors: Tensor<B, 2>,
    /// Embeddings of the positives `[n, d]`; row i belongs to anchor i.
    pub positives: Tensor<B, 2>,
    /// Candidates for the negatives, which replace the other pairs of the batch as noise; `None` if the other
    /// pairs are the noise.
    pub catalogue: Option<Catalogue<B>>,
}

impl<B: Backend> PairEmbeddings<B> {
    /// Divides embeddings `[2n, d]` into n anchors and, after them, their n positives; without a catalogue.
    ///
    /// ```
    /// use burn::backend::Flex;
    /// use burn::tensor::Tensor;
    /// use icl_core::PairEmbeddings;
    ///
    /// let rows = Tensor::<Flex, 2>::from_data([[1.0], [2.0], [3.0], [4.0]], &Default::default());
    /// let pairs = PairEmbeddings::of_halves(rows);
    /// assert_eq!(pairs.anchors.into_data().to_vec::<f32>().unwrap(), [1.0, 2.0]);
    /// assert_eq!(pairs.positives.into_data().to_vec::<f32>().unwrap(), [3.0, 4.0]);
    /// ```
    ///
    /// # Panics
    /// If the number of rows is odd.
    pub fn of_halves(embeddings: Tensor<B, 2>) -> Self {
        let [n_views, _] = embeddings.dims();
        assert!(
            n_views.is_multiple_of(2),
            "pairs: found {n_views} views, expected an even number"
        );
        let n = n_views / 2;
        Self {
            anchors: embeddings.clone().narrow(0, 0, n),
            positives: embeddings.narrow(0, n, n),
            catalogue: None,
        }
    }
}

/// Candidates for the negatives of a batch of pairs: all items of a recommender, say.
///
/// Negatives come from the catalogue instead of from the batch, so scores are one product of the anchors
/// with the catalogue, whatever the number of negatives. An anchor for which all rows are excluded has loss 0.
#[derive(Debug, Clone)]
pub struct Catalogue<B: Backend> {
    /// Embeddings of the candidates `[m, d]`.
    pub embeddings: Tensor<B, 2>,
    /// Rows of the catalogue that must not be negatives, for each anchor `[n]`, in strictly ascending order: its
    /// positive, and rows that are positive by the data, too, such as the items that a user has already seen.
    pub excluded: Arc<Vec<Vec<u32>>>,
}

impl<B: Backend> Catalogue<B> {
    /// Creates a catalogue of candidates `[m, d]` without the rows `excluded` of each anchor.
    ///
    /// # Panics
    /// If the excluded rows of an anchor do not rise strictly, or one is not below m.
    pub fn new(embeddings: Tensor<B, 2>, excluded: Arc<Vec<Vec<u32>>>) -> Self {
        let [m, _] = embeddings.dims();
        for (anchor, rows) in excluded.iter().enumerate() {
            let rises = rows.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(
                rises && rows.last().is_none_or(|&last| (last as usize) < m),
                "catalogue: the excluded rows of anchor {anchor} must rise and be below {m}, found {rows:?}"
            );
        }
        Self {
            embeddings,
            excluded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestBackend;

    fn zeros(n: usize) -> Tensor<TestBackend, 2> {
        Tensor::zeros([n, 2], &Default::default())
    }

    #[test]
    #[should_panic(expected = "pairs: found 3 views, expected an even number")]
    fn half_a_pair_is_misuse() {
        PairEmbeddings::of_halves(zeros(3));
    }

    #[test]
    fn excluded_rows_may_be_all_or_none() {
        let catalogue = Catalogue::new(zeros(3), Arc::new(vec![vec![], vec![0, 1, 2]]));
        assert_eq!(catalogue.excluded[1], [0, 1, 2]);
    }

    #[test]
    #[should_panic(
        expected = "the excluded rows of anchor 1 must rise and be below 3, found [0, 3]"
    )]
    fn excluding_a_row_outside_is_misuse() {
        Catalogue::new(zeros(3), Arc::new(vec![vec![2], vec![0, 3]]));
    }

    #[test]
    #[should_panic(
        expected = "the excluded rows of anchor 0 must rise and be below 3, found [1, 1]"
    )]
    fn excluding_a_row_twice_is_misuse() {
        Catalogue::new(zeros(3), Arc::new(vec![vec![1, 1]]));
    }
}
