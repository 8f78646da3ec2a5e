//! Collation of histories and items into a batch.

use burn::tensor::backend::Backend;
use icl_core::Collate;
use icl_core::bags::{HistoryBatch, HostHistories, means};

use super::next_item::NextItem;
use super::views::NextItemView;

/// Collation of [`NextItemView`]s into a [`HistoryBatch`].
///
/// Items that the user of a history has seen, and the target, are not used as its negatives.
///
/// # Panics
/// [`collate`](Collate::collate) panics if an item is not below the number of items of the data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextItemCollate {
    n_items: usize,
}

impl NextItemCollate {
    /// Creates the collation for a catalogue of `n_items` items.
    pub fn new(n_items: usize) -> Self {
        Self { n_items }
    }

    /// Makes the batch in host memory.
    fn host(&self, views: &[NextItemView]) -> HostHistories {
        let mut bags = Vec::new();
        let mut items = Vec::new();
        let mut excluded = Vec::new();
        for view in views {
            match view {
                NextItemView::History { sample, n_recent } => {
                    let history = sample.history();
                    bags.push(&history[history.len().saturating_sub(*n_recent)..]);
                    excluded.push(excluded_items(sample));
                }
                NextItemView::Item(item) => items.push(*item),
            }
        }
        let is_item = |view| matches!(view, &NextItemView::Item(_));
        HostHistories {
            histories: means(bags, self.n_items),
            items,
            is_item: views.iter().map(is_item).collect(),
            excluded,
        }
    }
}

impl<B: Backend> Collate<B, NextItemView, HistoryBatch<B>> for NextItemCollate {
    fn collate(&self, views: &[NextItemView], device: &B::Device) -> HistoryBatch<B> {
        HistoryBatch::new(self.host(views), device)
    }
}

/// Returns the items that the user of a sample has seen, and its target, in ascending order, each once.
fn excluded_items(sample: &NextItem) -> Vec<u32> {
    let mut items = sample.seen().to_vec();
    if let Err(position) = items.binary_search(&sample.target()) {
        items.insert(position, sample.target());
    }
    items
}
