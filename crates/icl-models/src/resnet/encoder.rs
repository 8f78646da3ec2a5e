//! ResNet-18 (He, Zhang, Ren and Sun, 2016) as an image encoder.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::{Batches, Encoder, Error, Mode, SampleError, Seed};

use super::block::ResidualBlock;
use super::config::{D_FEATURES, ResNetConfig, STAGES};
use super::stem::StemLayers;
use crate::convolution::means_over_places;
use crate::head::{ProjectionHead, projected};
use crate::linear::Linear;
use crate::normalization::{BatchNorm, Normalised, Statistics};

impl ResNetConfig {
    /// Creates an encoder with weights drawn from `seed`: the same on every backend, and the same
    /// below the heads for any choice of heads.
    ///
    /// As in torchvision, weights of convolutions are normal with variance 2/fan_out (He et al., 2015),
    /// γ is 1, β is 0, and the linear layers are uniform in ±1/√fan_in.
    ///
    /// # Errors
    /// [`Error`] if a width is 0 or ε is not above 0.
    pub fn try_init<B: Backend>(&self, seed: Seed, device: &B::Device) -> Result<ResNet<B>, Error> {
        self.check()?;
        let projection = self.head().map(|head| {
            let seed = seed.child("projection");
            head.init(seed, device)
        });
        let stem = StemLayers::new(
            self.stem,
            [self.in_channels, STAGES[0]],
            self.epsilon,
            seed.child("stem"),
            device,
        );
        let block = |index: usize| {
            let (stage, is_first) = (index / 2, index.is_multiple_of(2));
            let c_in = STAGES[if is_first { stage.max(1) - 1 } else { stage }];
            let stride = if is_first && stage > 0 { 2 } else { 1 };
            let seed = seed.child("blocks").at(index as u64);
            ResidualBlock::new([c_in, STAGES[stage]], stride, self.epsilon, seed, device)
        };
        Ok(ResNet {
            stem,
            blocks: (0..2 * STAGES.len()).map(block).collect(),
            classifier: self
                .n_classes
                .map(|n| Linear::new([D_FEATURES, n], seed.child("classifier"), device)),
            projection,
        })
    }

    /// Creates an encoder with weights drawn from `seed`, as [`try_init`](Self::try_init) does.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with its message.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> ResNet<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// ResNet-18 (He et al., 2016) as encoder φ(·; θ) of images `[n, channels, height, width]`.
///
/// ```text
/// X₀ = stem(images)
/// Xₗ = relu(norm(relu(norm(Xₗ₋₁ ∗ W₁)) ∗ W₂) + shortcut(Xₗ₋₁))     eight blocks, 64 to 512 channels
/// h  = mean of X₈ over height and width                         [n, 512]
/// φ  = g(h) with a projection head g, else h
/// ```
///
/// [`encode`](Encoder::encode) returns φ, which the losses take; [`embed`](Encoder::embed) returns h.
/// The encoder has no randomness, so training does not use the generator of
/// [`Mode::Training`].
///
/// Training normalises by the statistics of the batch and leaves those of the population unchanged.
/// [`recalibrated`](Encoder::recalibrated) and loaded weights set the latter; each clone has its own.
/// Before that they are mean 0 and variance 1.
#[derive(Module, Debug)]
pub struct ResNet<B: Backend> {
    pub(super) stem: StemLayers<B>,
    pub(super) blocks: Vec<ResidualBlock<B>>,
    pub(super) classifier: Option<Linear<B>>,
    projection: Option<ProjectionHead<B>>,
}

impl<B: Backend> ResNet<B> {
    /// Computes the features h `[n, 512]` of `images` `[n, channels, height, width]`.
    ///
    /// # Panics
    /// If the number of channels is not the encoder's.
    pub fn features(&self, images: Tensor<B, 4>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.features_by(images, &mut Statistics::of(&mode))
    }

    /// Computes the logits `[n, n_classes]` of the classes for `images`
    /// `[n, channels, height, width]`.
    ///
    /// # Panics
    /// If the encoder has no classes, or the number of channels is not the encoder's.
    pub fn logits(&self, images: Tensor<B, 4>, mode: Mode<'_>) -> Tensor<B, 2> {
        let classifier = self.classifier.as_ref();
        let classifier = classifier.expect("logits need a ResNet with n_classes");
        classifier.forward(self.features(images, mode))
    }

    /// Computes h, normalised by `statistics`.
    fn features_by(&self, images: Tensor<B, 4>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let found = images.dims()[1];
        let expected = self.stem.convolution.weight.val().dims()[1];
        assert_eq!(
            found, expected,
            "images have {found} channels, the encoder takes {expected}"
        );
        // The kernels take channels last (ADR 5).
        let images = images.permute([0, 2, 3, 1]);
        let stem = self.stem.forward(images, statistics);
        let x = self
            .blocks
            .iter()
            .fold(stem, |x, block| block.forward(x, statistics));
        means_over_places(x)
    }
}

impl<B: Backend> Normalised<B> for ResNet<B> {
    type Batch = Tensor<B, 4>;

    fn norms_mut(&mut self) -> Vec<&mut BatchNorm<B>> {
        let blocks = self
            .blocks
            .iter_mut()
            .flat_map(ResidualBlock::convolutions_mut);
        let convolutions = std::iter::once(&mut self.stem.convolution).chain(blocks);
        let head = self
            .projection
            .iter_mut()
            .flat_map(ProjectionHead::norms_mut);
        convolutions.map(|it| &mut it.norm).chain(head).collect()
    }

    /// Computes φ.
    fn pass(&self, batch: Tensor<B, 4>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let features = self.features_by(batch, statistics);
        projected(self.projection.as_ref(), features, statistics)
    }
}

impl<B: Backend> Encoder<B> for ResNet<B> {
    type Batch = Tensor<B, 4>;

    /// Measured by `icl compare-backends` on MNIST-1v7, batch 32, two cores, flex: one seed.
    const FORWARD_SHARE: f64 = 0.27;

    fn encode(&self, batch: Tensor<B, 4>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.pass(batch, &mut Statistics::of(&mode))
    }

    /// Computes the features h, without the projection head.
    fn embed(&self, batch: Tensor<B, 4>) -> Tensor<B, 2> {
        self.features(batch, Mode::Evaluation)
    }

    /// Re-estimates the statistics of all 20 layers in one pass over the batches, in which each layer
    /// normalises by the statistics of the batch. The statistics of the population are the mean and
    /// the biased variance of all inputs of a layer:
    ///
    /// ```text
    /// mean = Σᵢ nᵢ·meanᵢ / n      var = Σᵢ nᵢ·(varᵢ + (meanᵢ − mean)²) / n      over batches i
    /// ```
    ///
    /// A pass per layer, as for the graph encoder, would be 20 passes. The statistics of the first
    /// layer are the same in both ways. The inputs of higher layers are normalised batch by batch
    /// here, so their statistics depend slightly on the composition of the batches, but on nothing
    /// besides the parameters and the batches. Izmailov et al. (2018) re-estimate the statistics of
    /// averaged weights in the same way, except that they average the variances of the batches and
    /// leave out the distances between their means.
    ///
    /// No graph is recorded, and memory is that of one batch.
    ///
    /// # Panics
    /// If there are no batches.
    fn recalibrated(self, batches: &Batches<'_, Tensor<B, 4>>) -> Result<Self, SampleError> {
        self.with_estimates(batches)
    }

    fn with_frozen_statistics(self, is_frozen: bool) -> Self {
        self.with_frozen_norms(is_frozen)
    }
}
