//! Views of a history and the item that follows.

use icl_core::{Pairing, Rng, Side, Views};

use super::next_item::NextItem;

/// Views of [`NextItem`]s: the first view of a pair is the history, the second is the item that follows. There is no
/// noise.
///
/// The view without a pair, which evaluation protocols embed, is the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextItemViews {
    n_recent: usize,
}

impl Default for NextItemViews {
    /// Returns views of the last 50 items of a history, as on ML-100K in the experiments of this project.
    fn default() -> Self {
        Self { n_recent: 50 }
    }
}

impl NextItemViews {
    /// Sets the number of last items of a history that its view holds.
    pub fn with_n_recent(self, n_recent: usize) -> Self {
        Self { n_recent }
    }

    /// Returns the number of last items of a history that its view holds.
    pub fn n_recent(&self) -> usize {
        self.n_recent
    }

    fn history(&self, sample: &NextItem) -> NextItemView {
        NextItemView::History {
            sample: sample.clone(),
            n_recent: self.n_recent,
        }
    }
}

/// View of a [`NextItem`].
#[derive(Debug, Clone, PartialEq)]
pub enum NextItemView {
    /// The history, of which the last items are used.
    History {
        /// Sample with the history.
        sample: NextItem,
        /// Number of last items that are used.
        n_recent: usize,
    },
    /// The item that follows.
    Item(u32),
}

impl Views for NextItemViews {
    type Sample = NextItem;
    type View = NextItemView;

    fn view(&self, sample: &NextItem, _: &mut Rng) -> NextItemView {
        self.history(sample)
    }

    fn plain(&self, sample: &NextItem) -> NextItemView {
        self.history(sample)
    }

    fn paired_view(
        &self,
        sample: &NextItem,
        pairing: &Pairing<'_, NextItem>,
        _: &mut Rng,
    ) -> NextItemView {
        match pairing.side {
            Side::First => self.history(sample),
            Side::Second => NextItemView::Item(sample.target()),
        }
    }
}
