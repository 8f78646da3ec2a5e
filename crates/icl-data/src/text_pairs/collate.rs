//! Collation of texts into a batch.

use burn::tensor::backend::Backend;
use icl_core::bags::{TextBatch, means};
use icl_core::{Collate, Side};

use super::dataset::TextPair;
use super::views::TextPairView;

/// Collation of [`TextPairView`]s into a [`TextBatch`].
///
/// Second texts of pairs that share a text with the pair of a first text are not used as its negatives.
///
/// # Panics
/// [`collate`](Collate::collate) panics if a word is not below the number of words of the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPairCollate {
    n_words: usize,
}

impl TextPairCollate {
    /// Creates the collation for a vocabulary of `n_words` words.
    pub fn new(n_words: usize) -> Self {
        Self { n_words }
    }
}

impl<B: Backend> Collate<B, TextPairView, TextBatch<B>> for TextPairCollate {
    fn collate(&self, views: &[TextPairView], device: &B::Device) -> TextBatch<B> {
        let words = means(
            views.iter().map(|view| view.pair.words(view.side)),
            self.n_words,
        );
        TextBatch::new(words, excluded(views), device)
    }
}

/// Returns, of each first text, the positions among the second texts whose pairs share a text with its own.
fn excluded(views: &[TextPairView]) -> Vec<Vec<u32>> {
    let of_side = |side| -> Vec<&TextPair> {
        let views = views.iter().filter(|view| view.side == side);
        views.map(|view| &view.pair).collect()
    };
    let [firsts, seconds] = Side::BOTH.map(of_side);
    let shared = |first: &&TextPair| {
        let seconds = (0..).zip(&seconds);
        let shared = seconds.filter(|(_, second)| first.shares_a_text(second));
        shared.map(|(position, _)| position).collect()
    };
    firsts.iter().map(shared).collect()
}
