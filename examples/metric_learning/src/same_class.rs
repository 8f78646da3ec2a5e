//! Positive pairs of samples of one class, by their labels.

use icl::core::{Pairing, Side};
use icl::prelude::*;
use rand::RngExt;

/// Number of pixels of a digit.
pub const D_PIXELS: usize = 64;

/// Brightness of a white pixel.
const WHITE: f32 = 16.0;

/// Views of digits, of which a sample is the index. The anchor is the digit itself, the positive another one of its
/// class; both have a little noise.
#[derive(Debug)]
pub struct SameClass<'a> {
    digits: &'a [[f32; D_PIXELS]],
    /// The other samples of the class of each sample, in its part of the data.
    others: Vec<Vec<usize>>,
}

impl<'a> SameClass<'a> {
    /// Creates the views. Both samples of a pair are of one of the `parts`.
    pub fn new(digits: &'a [[f32; D_PIXELS]], labels: &[usize], parts: &[Vec<usize>]) -> Self {
        let mut others = vec![Vec::new(); digits.len()];
        for part in parts {
            for &at in part {
                let is_other = |it: &&usize| **it != at && labels[**it] == labels[at];
                others[at] = part.iter().filter(is_other).copied().collect();
            }
        }
        Self { digits, others }
    }
}

impl Views for SameClass<'_> {
    type Sample = usize;
    type View = [f32; D_PIXELS];

    fn view(&self, sample: &usize, rng: &mut Rng) -> Self::View {
        self.plain(sample)
            .map(|pixel| pixel + 0.2 * (rng.random::<f32>() - 0.5))
    }

    fn plain(&self, sample: &usize) -> Self::View {
        self.digits[*sample].map(|pixel| pixel / WHITE)
    }

    fn paired_view(
        &self,
        sample: &usize,
        pairing: &Pairing<'_, usize>,
        rng: &mut Rng,
    ) -> Self::View {
        match (pairing.side, &self.others[*sample][..]) {
            (Side::First, _) | (_, []) => self.view(sample, rng),
            (Side::Second, others) => self.view(&others[rng.random_range(0..others.len())], rng),
        }
    }
}

/// Returns the share of samples of an anchor's class among the other samples of `noise`, the mean over anchors.
pub fn share_of_same_class(labels: &[usize], anchors: &[usize], noise: &[usize]) -> f64 {
    let of_class = |class| noise.iter().filter(|&&it| labels[it] == class).count() - 1;
    let counts = anchors.iter().map(|&anchor| of_class(labels[anchor]));
    counts.sum::<usize>() as f64 / (anchors.len() * (noise.len() - 1)) as f64
}
