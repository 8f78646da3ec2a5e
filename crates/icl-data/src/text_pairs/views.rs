//! Views of a pair of texts.

use icl_core::{Pairing, Rng, Side, Views};

use super::dataset::TextPair;

/// Views of [`TextPair`]s: the first view of a pair is its first text, the second its second. There is no noise.
///
/// The view without a pair, which evaluation protocols embed, is the first text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextPairViews;

/// View of a [`TextPair`]: one of its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPairView {
    /// Pair of the text.
    pub pair: TextPair,
    /// Side of the text in the pair.
    pub side: Side,
}

impl Views for TextPairViews {
    type Sample = TextPair;
    type View = TextPairView;

    fn view(&self, sample: &TextPair, _: &mut Rng) -> TextPairView {
        self.plain(sample)
    }

    fn plain(&self, sample: &TextPair) -> TextPairView {
        TextPairView {
            pair: sample.clone(),
            side: Side::First,
        }
    }

    fn paired_view(
        &self,
        sample: &TextPair,
        pairing: &Pairing<'_, TextPair>,
        _: &mut Rng,
    ) -> TextPairView {
        TextPairView {
            pair: sample.clone(),
            side: pairing.side,
        }
    }
}
