//! An encoder with noise between its output and a projection head.

use std::marker::PhantomData;

use burn::module::{Module, ModuleDisplay};
use burn::tensor::{Tensor, backend::Backend};
use icl_core::{Batches, Encoder, Mode, SampleError};

use super::batch::HiddenBatch;

/// An encoder E with noise on its output and a projection head g behind it (DACL, Eq. 4; Verma et al.,
/// 2021, section 3.2).
///
/// ```text
/// h  = E(samples)                                    [m, d_embedding]
/// h⁺ᵢ = λᵢ·h[sourceᵢ] + (1 − λᵢ)·h[partnerᵢ]          [n, d_embedding], with hidden mixup
/// φ  = g(h⁺)                                         [n, d]
/// ```
///
/// [`encode`](Encoder::encode) returns φ, which the losses take; [`embed`](Encoder::embed) returns
/// E's own embeddings without noise and without head. The views and their collation are
/// [`HiddenViews`](crate::HiddenViews) and [`HiddenCollate`](crate::HiddenCollate); the views carry the random
/// numbers, so there is noise in evaluation, too, and the exact risk is that of the views.
///
/// The gradient flows through both rows of a mixture; the paper does not say. With hidden Gaussian noise,
/// the columns' deviations are constants of the batch that get no gradient.
///
/// Partners come from the batch, and Algorithm 1 of the paper takes them from it as well. In a batch
/// of old and new samples a partner may be of either.
///
/// E encodes in the current [`Mode`], and should have no projection head of its own. Its tensors are named
/// `encoder.…` and those of the head `head.…`.
///
/// ```
/// use burn::backend::Flex;
/// use burn::tensor::Tensor;
/// use icl_core::mixup::MixingRange;
/// use icl_core::{Augment, Collate, Encoder, Mode, Seed, Stack, Views};
/// use icl_models::{
///     HiddenBatch, HiddenCollate, HiddenMixup, HiddenNoise, HiddenViews, MlpConfig,
///     ProjectionHeadConfig,
/// };
///
/// let device = Default::default();
/// let seed = Seed::new(1);
/// let encoder = HiddenMixup::new(
///     MlpConfig::new(2).with_width(16).init::<Flex>(seed.child("encoder"), &device),
///     ProjectionHeadConfig::new(16, 4).init(seed.child("head"), &device),
/// );
///
/// let range = MixingRange::try_new(0.9)?;
/// let views = Augment::new(|sample: &[f32; 2], _| *sample);
/// let views = HiddenViews::try_new(views, HiddenNoise::Mixup { range })?;
/// let mut rng = seed.child("views").rng();
/// let made = [[0.5, 1.0], [2.0, -1.0], [0.0, 3.0]].map(|sample| views.view(&sample, &mut rng));
/// let batch: HiddenBatch<Flex, Tensor<Flex, 2>> = HiddenCollate::new(Stack).collate(&made, &device);
/// assert_eq!(encoder.encode(batch.clone(), Mode::Evaluation).dims(), [3, 4]);
/// assert_eq!(encoder.embed(batch).dims(), [3, 16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Module, Debug)]
pub struct HiddenMixup<B: Backend, E, H> {
    encoder: E,
    head: H,
    backend: PhantomData<B>,
}

impl<B, E, H> HiddenMixup<B, E, H>
where
    B: Backend,
    E: Encoder<B>,
    H: Encoder<B, Batch = Tensor<B, 2>>,
{
    /// Creates an encoder of `encoder` and `head`, which takes vectors of the width that `encoder` encodes
    /// into.
    pub fn new(encoder: E, head: H) -> Self {
        Self {
            encoder,
            head,
            backend: PhantomData,
        }
    }

    /// Returns the encoder before the noise.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// Returns the projection head behind the noise.
    pub fn head(&self) -> &H {
        &self.head
    }
}

impl<B, E, H> Encoder<B> for HiddenMixup<B, E, H>
where
    B: Backend,
    E: Encoder<B> + ModuleDisplay,
    H: Encoder<B, Batch = Tensor<B, 2>> + ModuleDisplay,
{
    type Batch = HiddenBatch<B, E::Batch>;

    const FORWARD_SHARE: f64 = E::FORWARD_SHARE;

    /// Encodes the samples of a batch, makes the views and projects them. In training, the encoder draws
    /// from the generator first and the head after it.
    fn encode(&self, batch: Self::Batch, mode: Mode<'_>) -> Tensor<B, 2> {
        let inner = batch.inner.clone();
        match mode {
            Mode::Evaluation => {
                let encoded = self.encoder.encode(inner, Mode::Evaluation);
                self.head.encode(batch.views_of(encoded), Mode::Evaluation)
            }
            Mode::Training(rng) => {
                let encoded = self.encoder.encode(inner, Mode::Training(&mut *rng));
                let views = batch.views_of(encoded);
                self.head.encode(views, Mode::Training(rng))
            }
        }
    }

    /// Encodes the samples of the views by the encoder's own `embed`, without noise and head.
    fn embed(&self, batch: Self::Batch) -> Tensor<B, 2> {
        self.encoder.embed(batch.inner).select(0, batch.source)
    }

    /// Re-estimates the statistics of the encoder over the samples of the batches, then those of the head
    /// over the views that the encoder gives in evaluation with its new statistics. The batches are
    /// passed once by each.
    fn recalibrated(self, batches: &Batches<'_, Self::Batch>) -> Result<Self, SampleError> {
        let encoder = self
            .encoder
            .recalibrated(&batches.map(|batch| batch.inner))?;
        let frozen = encoder.clone().no_grad();
        let views = batches.map(move |batch| {
            let encoded = frozen.encode(batch.inner.clone(), Mode::Evaluation);
            batch.views_of(encoded)
        });
        let head = self.head.recalibrated(&views)?;
        Ok(Self::new(encoder, head))
    }

    fn with_frozen_statistics(self, is_frozen: bool) -> Self {
        let encoder = self.encoder.with_frozen_statistics(is_frozen);
        Self::new(encoder, self.head.with_frozen_statistics(is_frozen))
    }
}
