//! The circumstances of a view: its side of the pair, the pair's seed, and partners to mix with.

use std::borrow::Cow;

use crate::Seed;

/// Side of a positive pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first view, which is the anchor.
    First,
    /// The second view, which is the positive.
    Second,
}

impl Side {
    /// Both sides in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// Returns 0 for the first side and 1 for the second.
    pub fn index(self) -> u64 {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// Circumstances of a view besides its sample and its generator, for
/// [`Views::paired_view`](crate::Views::paired_view).
#[derive(Debug)]
pub struct Pairing<'a, S: Clone> {
    /// Position of the pair among those of the sample in one step, below
    /// [`Views::n_pairs`](crate::Views::n_pairs).
    pub part: usize,
    /// Side of the view.
    pub side: Side,
    /// Seed that both views of the pair share. It differs between pairs, and between epochs.
    pub pair: Seed,
    /// Other samples, as many as [`Views::n_partners`](crate::Views::n_partners) returns.
    ///
    /// Each is drawn uniformly, independently of the others and of the other view's, from the samples
    /// over which the step's objective takes its noise distribution, without the sample itself: in the
    /// training of θ₀ from X, so that nothing of ΔX reaches θ₀, in fine-tuning from ΔX, with a buffer
    /// from the buffer and ΔX. An equal sample with another index may be a partner.
    pub partners: &'a [Cow<'a, S>],
}
