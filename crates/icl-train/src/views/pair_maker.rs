//! The maker of the random views of positive pairs.

use icl_core::{Pairing, SampleError, Samples, Seed, Side, Views};

use crate::views::partners::Partners;

/// Maker of the random views of one pass over samples. A view depends on the seed of the pass, the sample,
/// the number of its earlier occurrences in the pass, the side and the population of partners, not on batches
/// and threads.
#[derive(Debug)]
pub(crate) struct PairMaker<'a, S, V> {
    /// The views.
    pub(crate) views: &'a V,
    /// Partners of the views.
    pub(crate) partners: Partners<'a, S>,
    /// Seed of the pass.
    pub(crate) seed: Seed,
}

impl<S, V> PairMaker<'_, S, V>
where
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Makes the view on one side of pair number `part` of the sample at `index`, which has occurred
    /// `repetition` times before, in the slot of an earlier view if there is one.
    ///
    /// # Errors
    /// [`SampleError`] if a partner cannot be read.
    pub(crate) fn make(
        &self,
        (index, repetition): (usize, usize),
        sample: &S::Sample,
        (part, side): (usize, Side),
        slot: Option<V::View>,
    ) -> Result<V::View, SampleError> {
        // The first occurrence has the seed that a sample with one occurrence has.
        let own = match (self.seed.at(index as u64), repetition) {
            (first, 0) => first,
            (first, repetition) => first.child("repetition").at(repetition as u64),
        };
        // The first pair has the seeds that a sample with one pair has.
        let seed = match part {
            0 => own,
            part => own.child("part").at(part as u64),
        };
        let seed = seed.at(side.index());
        let n_partners = self.views.n_partners();
        let partners = self
            .partners
            .draw(index, n_partners, seed.child("partner"))?;
        let pairing = Pairing {
            part,
            side,
            pair: own.child("pair").at(part as u64),
            partners: &partners,
        };
        let mut rng = seed.rng();
        Ok(match slot {
            Some(mut slot) => {
                self.views
                    .paired_view_into(sample, &pairing, &mut rng, &mut slot);
                slot
            }
            None => self.views.paired_view(sample, &pairing, &mut rng),
        })
    }
}
