//! Batches of bags, whose embedding is a mean: histories of users, and texts.
//!
//! These types are in this crate because the crates that make them (`icl-data`) and that use them (`icl-models`) do not
//! depend on each other.

use std::sync::Arc;

use burn::tensor::{DType, Int, Tensor, TensorData, backend::Backend};

use crate::graph::{HostCsr, SparseMatrix};

/// Returns the matrix `[n_bags, n_members]` with which a product averages embeddings over each bag: 1/length at each
/// member of a bag. A member that is twice in a bag has two entries; the row of an empty bag has none.
///
/// ```
/// use icl_core::bags::means;
///
/// let matrix = means([&[2, 0][..], &[], &[1]], 3);
/// assert_eq!(matrix.pointers, [0, 2, 2, 3]);
/// assert_eq!(matrix.columns, [2, 0, 1]);
/// assert_eq!(matrix.values, [0.5, 0.5, 1.0]);
/// ```
pub fn means<'a>(bags: impl IntoIterator<Item = &'a [u32]>, n_members: usize) -> HostCsr {
    let mut matrix = HostCsr {
        pointers: vec![0],
        n_columns: n_members,
        ..HostCsr::default()
    };
    for bag in bags {
        // Infinite for an empty bag, which has no entry that could hold it.
        let share = 1.0 / bag.len() as f32;
        // A member beyond i32 becomes negative, and the upload refuses negative columns.
        matrix
            .columns
            .extend(bag.iter().map(|&member| member as i32));
        matrix.values.resize(matrix.columns.len(), share);
        matrix.pointers.push(matrix.columns.len() as i32);
    }
    matrix
}

/// Histories of users and single items on the host, in the order of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct HostHistories {
    /// Matrix of the histories `[n_histories, n_items]`, see [`means`].
    pub histories: HostCsr,
    /// Single items.
    pub items: Vec<u32>,
    /// Kind of each row of the batch: `true` for the next single item, `false` for the next history.
    pub is_item: Vec<bool>,
    /// Items that must not be negatives, for each history `[n_histories]`, in strictly ascending order.
    pub excluded: Vec<Vec<u32>>,
}

/// A batch of histories of users and of single items on a device, the input of a recommender with two towers.
#[derive(Debug, Clone)]
pub struct HistoryBatch<B: Backend> {
    /// Matrix with which a product averages over histories `[n_histories, n_items]`.
    pub histories: SparseMatrix<B>,
    /// Matrix with which a product selects the single items `[n_singles, n_items]`.
    pub items: SparseMatrix<B>,
    /// Position of each row of the batch among all histories and, after them, all single items; `None` if the batch is
    /// in this order already, as a batch of pairs is.
    pub order: Option<Tensor<B, 1, Int>>,
    /// Items that must not be negatives, for each history `[n_histories]`, in strictly ascending order.
    pub excluded: Arc<Vec<Vec<u32>>>,
}

impl<B: Backend> HistoryBatch<B> {
    /// Uploads a batch to a device.
    ///
    /// # Panics
    /// If `is_item` does not flag as many rows as there are items and leave as many as there are histories, if there
    /// are not as many lists of excluded items as histories, or if an item is not below the number of columns of
    /// `histories`.
    pub fn new(host: HostHistories, device: &B::Device) -> Self {
        let (n_histories, n_singles) = (host.histories.n_rows(), host.items.len());
        let n_flagged = host.is_item.iter().filter(|is_item| **is_item).count();
        assert!(
            n_flagged == n_singles && host.is_item.len() == n_histories + n_singles,
            "a batch of {n_histories} histories and {n_singles} items: found {} rows, of which {n_flagged} are items",
            host.is_item.len()
        );
        assert_eq!(
            host.excluded.len(),
            n_histories,
            "each of {n_histories} histories must have its list of excluded items"
        );
        let singles = host.items.chunks(1);
        let items = means(singles, host.histories.n_columns);
        Self {
            order: order(&host.is_item, n_histories).map(|order| {
                let order = TensorData::new(order, [host.is_item.len()]);
                Tensor::from_data(order, (device, DType::I32))
            }),
            histories: SparseMatrix::new(host.histories, device),
            items: SparseMatrix::new(items, device),
            excluded: Arc::new(host.excluded),
        }
    }
}

/// Returns the position of each row among the histories and, after them, the items; `None` if it is the row's own.
fn order(is_item: &[bool], n_histories: usize) -> Option<Vec<i32>> {
    if is_item.is_sorted() {
        return None;
    }
    let mut next = [0, n_histories as i32];
    let place = |&is_item: &bool| {
        let next = &mut next[usize::from(is_item)];
        *next += 1;
        *next - 1
    };
    Some(is_item.iter().map(place).collect())
}

/// A batch of texts as bags of words on a device.
#[derive(Debug, Clone)]
pub struct TextBatch<B: Backend> {
    /// Matrix with which a product averages over the words of each text `[n_texts, n_words]`.
    pub words: SparseMatrix<B>,
    /// Positives of the batch that must not be negatives, for each anchor, in strictly ascending order: its own, and
    /// those of pairs with an equal text. Positives are numbered from 0.
    pub excluded: Arc<Vec<Vec<u32>>>,
}

impl<B: Backend> TextBatch<B> {
    /// Uploads a batch to a device; `words` is made by [`means`].
    ///
    /// # Panics
    /// If a word is not below the number of columns.
    pub fn new(words: HostCsr, excluded: Vec<Vec<u32>>, device: &B::Device) -> Self {
        Self {
            words: SparseMatrix::new(words, device),
            excluded: Arc::new(excluded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestBackend;

    #[test]
    fn the_order_is_that_of_histories_before_items() {
        assert_eq!(order(&[false, false, true], 2), None);
        assert_eq!(order(&[true, true], 0), None);
        assert_eq!(
            order(&[true, false, true, false], 2),
            Some(vec![2, 0, 3, 1])
        );
    }

    fn upload(is_item: &[bool], excluded: usize) {
        let host = HostHistories {
            histories: means([&[0, 1][..]], 2),
            items: vec![1],
            is_item: is_item.to_vec(),
            excluded: vec![vec![]; excluded],
        };
        HistoryBatch::<TestBackend>::new(host, &Default::default());
    }

    #[test]
    fn a_history_and_an_item_make_a_batch() {
        upload(&[true, false], 1);
    }

    #[test]
    #[should_panic(expected = "1 histories and 1 items: found 2 rows, of which 2 are items")]
    fn rows_of_the_wrong_kind_are_misuse() {
        upload(&[true, true], 1);
    }

    #[test]
    #[should_panic(expected = "must have its list of excluded items")]
    fn histories_without_lists_are_misuse() {
        upload(&[false, true], 0);
    }
}
