//! Views whose noise is added behind the encoder.

use icl_core::{Error, Pairing, Rng, Seed, Side, Views};
use rand::RngExt;

use super::noise::{HiddenNoise, PairNoise};

/// A plain view of a sample, with the noise that its vector gets.
#[derive(Debug, Clone)]
pub struct HiddenView<V> {
    /// Plain view of the sample, which is encoded.
    pub inner: V,
    /// Noise on the encoded vector; none for a plain view.
    pub noise: Option<PairNoise>,
}

/// Views that differ in the noise on an encoder's output, for [`HiddenMixup`](crate::HiddenMixup).
///
/// Both views of a sample hold its plain view, as `V` makes it; the augmentations of `V` are not used. This
/// is DACL's noise for data without a fixed length, such as graphs (Verma et al., 2021, section 3.2).
#[derive(Debug, Clone)]
pub struct HiddenViews<V> {
    views: V,
    noise: HiddenNoise,
}

impl<V: Views> HiddenViews<V> {
    /// Creates views with this noise on the plain views of `views`.
    ///
    /// # Errors
    /// [`Error`] if σ is below 0, infinite or NaN.
    pub fn try_new(views: V, noise: HiddenNoise) -> Result<Self, Error> {
        noise.check()?;
        Ok(Self { views, noise })
    }

    /// Makes the view on this side of a pair.
    fn on_side(
        &self,
        sample: &V::Sample,
        pair: Seed,
        side: Side,
        rng: &mut Rng,
    ) -> HiddenView<V::View> {
        HiddenView {
            inner: self.views.plain(sample),
            noise: Some(PairNoise {
                pair,
                side,
                draw: self.noise.draw(rng),
            }),
        }
    }
}

impl<V: Views> Views for HiddenViews<V> {
    type Sample = V::Sample;
    type View = HiddenView<V::View>;

    /// Makes a view that is in no pair: it counts as a first view.
    fn view(&self, sample: &V::Sample, rng: &mut Rng) -> Self::View {
        let pair = Seed::new(rng.random());
        self.on_side(sample, pair, Side::First, rng)
    }

    fn plain(&self, sample: &V::Sample) -> Self::View {
        HiddenView {
            inner: self.views.plain(sample),
            noise: None,
        }
    }

    fn paired_view(
        &self,
        sample: &V::Sample,
        pairing: &Pairing<'_, V::Sample>,
        rng: &mut Rng,
    ) -> Self::View {
        self.on_side(sample, pairing.pair, pairing.side, rng)
    }

    /// Returns `true`: mixup takes its partner from the batch, and Gaussian noise the deviations of the
    /// columns.
    fn mixes_in_batch(&self) -> bool {
        true
    }
}
