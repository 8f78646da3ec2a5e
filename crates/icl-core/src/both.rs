//! Two kinds of views of the same samples.

use crate::pairing::Pairing;
use crate::samples::Views;
use crate::seed::Rng;

/// Positive pairs of two kinds of views in every step, whose losses are summed: SimCLR+DACL of the DACL
/// paper with image augmentations first and mixup noise second (its section 5.2).
///
/// The exact risk and the plain view use the first kind of views, `A`, only.
#[derive(Debug, Clone)]
pub struct Both<A, B> {
    first: A,
    second: B,
}

impl<A, B> Both<A, B>
where
    A: Views,
    B: Views<Sample = A::Sample, View = A::View>,
{
    /// Creates views of both kinds.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second }
    }
}

impl<A, B> Views for Both<A, B>
where
    A: Views,
    B: Views<Sample = A::Sample, View = A::View>,
{
    type Sample = A::Sample;
    type View = A::View;

    fn view(&self, sample: &A::Sample, rng: &mut Rng) -> A::View {
        self.first.view(sample, rng)
    }

    fn plain(&self, sample: &A::Sample) -> A::View {
        self.first.plain(sample)
    }

    fn paired_view(
        &self,
        sample: &A::Sample,
        pairing: &Pairing<'_, A::Sample>,
        rng: &mut Rng,
    ) -> A::View {
        match pairing.part.checked_sub(self.first.n_pairs()) {
            None => {
                let pairing = of_part(pairing, pairing.part, self.first.n_partners());
                self.first.paired_view(sample, &pairing, rng)
            }
            Some(part) => {
                let pairing = of_part(pairing, part, self.second.n_partners());
                self.second.paired_view(sample, &pairing, rng)
            }
        }
    }

    fn paired_view_into(
        &self,
        sample: &A::Sample,
        pairing: &Pairing<'_, A::Sample>,
        rng: &mut Rng,
        slot: &mut A::View,
    ) {
        match pairing.part.checked_sub(self.first.n_pairs()) {
            None => {
                let pairing = of_part(pairing, pairing.part, self.first.n_partners());
                self.first.paired_view_into(sample, &pairing, rng, slot);
            }
            Some(part) => {
                let pairing = of_part(pairing, part, self.second.n_partners());
                self.second.paired_view_into(sample, &pairing, rng, slot);
            }
        }
    }

    fn n_partners(&self) -> usize {
        self.first.n_partners().max(self.second.n_partners())
    }

    fn n_pairs(&self) -> usize {
        self.first.n_pairs() + self.second.n_pairs()
    }

    fn mixes_in_batch(&self) -> bool {
        self.first.mixes_in_batch() || self.second.mixes_in_batch()
    }
}

/// Returns the pairing as one kind of views expects it: its pairs counted from 0, and as many partners as it needs.
fn of_part<'a, S: Clone>(
    pairing: &Pairing<'a, S>,
    part: usize,
    n_partners: usize,
) -> Pairing<'a, S> {
    Pairing {
        part,
        side: pairing.side,
        pair: pairing.pair,
        partners: &pairing.partners[..n_partners],
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::{Augment, Seed, Side};

    /// Views that name their part and the sum of their partners.
    struct Partnered(usize);

    impl Views for Partnered {
        type Sample = f32;
        type View = f32;

        fn view(&self, sample: &f32, _: &mut Rng) -> f32 {
            *sample
        }

        fn plain(&self, sample: &f32) -> f32 {
            *sample
        }

        fn paired_view(&self, sample: &f32, pairing: &Pairing<'_, f32>, _: &mut Rng) -> f32 {
            let partners: f32 = pairing.partners.iter().map(|partner| **partner).sum();
            sample + 100.0 * partners + 1000.0 * pairing.part as f32
        }

        fn n_partners(&self) -> usize {
            self.0
        }

        fn n_pairs(&self) -> usize {
            2
        }
    }

    #[test]
    fn each_part_is_made_by_its_own_views() {
        let views = Both::new(Augment::new(|x: &f32, _: &mut Rng| x + 0.5), Partnered(1));
        assert_eq!((views.n_pairs(), views.n_partners()), (3, 1));
        assert!(!views.mixes_in_batch());
        let partners = [Cow::Owned(7.0)];
        let made: Vec<f32> = (0..3)
            .map(|part| {
                let pairing = Pairing {
                    part,
                    side: Side::First,
                    pair: Seed::new(1),
                    partners: &partners,
                };
                let mut slot = 0.0;
                let rng = &mut Seed::new(2).rng();
                views.paired_view_into(&1.0, &pairing, rng, &mut slot);
                assert_eq!(views.paired_view(&1.0, &pairing, rng), slot);
                slot
            })
            .collect();
        assert_eq!(made, [1.5, 701.0, 1701.0]);
        assert_eq!(views.plain(&1.0), 1.0);
    }
}
