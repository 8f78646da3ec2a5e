//! ResNet-18 (He, Zhang, Ren and Sun, 2016) as an image encoder.

use burn::module::Module;
use burn::tensor::Tensor;
use icl_core::{Batches, Encoder, Mode, SampleError, Seed};

use super::block::ResidualBlock;
use super::config::{D_FEATURES, ResNetConfig, ResNetError, STAGES};
use super::convolution::Convolution;
use super::heads::{Linear, ProjectionHead};
use super::normalization::{Gathered, Statistics};
use super::stem::StemLayers;
use crate::image_ops::ImageBackend;

impl ResNetConfig {
    /// The encoder, its weights drawn from `seed`: the same on every backend, and the same below
    /// the heads whatever heads there are.
    ///
    /// As in torchvision, convolutions are normal with variance 2/fan_out (He et al., 2015), γ is 1
    /// and β is 0; the linear layers are uniform in ±1/√fan_in.
    ///
    /// # Errors
    /// [`ResNetError`] if a width is 0 or ε is not above 0.
    pub fn try_init<B: ImageBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<ResNet<B>, ResNetError> {
        self.check()?;
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
            projection: self
                .projection
                .map(|d| ProjectionHead::new([D_FEATURES, d], seed.child("projection"), device)),
        })
    }

    /// The encoder, its weights drawn from `seed`.
    ///
    /// # Panics
    /// Where [`try_init`](Self::try_init) gives an error, with its words.
    pub fn init<B: ImageBackend>(&self, seed: Seed, device: &B::Device) -> ResNet<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// ResNet-18 as encoder φ(·; θ) of images `[n, channels, height, width]`.
///
/// ```text
/// X₀ = stem(images)
/// Xₗ = relu(norm(relu(norm(Xₗ₋₁ ∗ W₁)) ∗ W₂) + shortcut(Xₗ₋₁))     eight blocks, 64 to 512 channels
/// h  = mean of X₈ over height and width                         [n, 512]
/// φ  = g(h) with a projection head g, else h
/// ```
///
/// [`encode`](Encoder::encode) gives φ, which the losses see; [`embed`](Encoder::embed) gives h. No
/// part of it draws numbers, so training uses its generator for nothing.
///
/// Training normalises by each batch's own statistics and leaves those of the population alone;
/// they are set by [`recalibrated`](Encoder::recalibrated) and by loaded weights, and belong to
/// each clone by itself. Before that they are mean 0 and variance 1, by which nothing is
/// normalised.
#[derive(Module, Debug)]
pub struct ResNet<B: ImageBackend> {
    pub(super) stem: StemLayers<B>,
    pub(super) blocks: Vec<ResidualBlock<B>>,
    pub(super) classifier: Option<Linear<B>>,
    projection: Option<ProjectionHead<B>>,
}

impl<B: ImageBackend> ResNet<B> {
    /// The features h `[n, 512]` of `images` `[n, channels, height, width]`.
    ///
    /// # Panics
    /// If the number of channels is not the encoder's.
    pub fn features(&self, images: Tensor<B, 4>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.pass(images, &mut statistics(&mode))
    }

    /// The classes' logits `[n, n_classes]` of `images` `[n, channels, height, width]`.
    ///
    /// # Panics
    /// If the encoder has no classes, or the number of channels is not the encoder's.
    pub fn logits(&self, images: Tensor<B, 4>, mode: Mode<'_>) -> Tensor<B, 2> {
        let classifier = self.classifier.as_ref();
        let classifier = classifier.expect("logits need a ResNet with n_classes");
        classifier.forward(self.features(images, mode))
    }

    /// h, normalised as `statistics` say.
    fn pass(&self, images: Tensor<B, 4>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let found = images.dims()[1];
        let expected = self.stem.convolution.weight.val().dims()[1];
        assert_eq!(
            found, expected,
            "images have {found} channels, the encoder takes {expected}"
        );
        let images = images.permute([0, 2, 3, 1]);
        let stem = self.stem.forward(images, statistics);
        let x = self
            .blocks
            .iter()
            .fold(stem, |x, block| block.forward(x, statistics));
        let [n, height, width, channels] = x.dims();
        x.reshape([n, height * width, channels])
            .mean_dim(1)
            .reshape([n, channels])
    }

    /// All its convolutions.
    fn convolutions_mut(&mut self) -> impl Iterator<Item = &mut Convolution<B>> {
        let blocks = self.blocks.iter_mut();
        std::iter::once(&mut self.stem.convolution)
            .chain(blocks.flat_map(ResidualBlock::convolutions_mut))
    }
}

/// By which statistics a mode normalises.
fn statistics(mode: &Mode<'_>) -> Statistics<'static> {
    match mode {
        Mode::Training(_) => Statistics::Batch,
        Mode::Evaluation => Statistics::Population,
    }
}

impl<B: ImageBackend> Encoder<B> for ResNet<B> {
    type Batch = Tensor<B, 4>;

    fn encode(&self, batch: Tensor<B, 4>, mode: Mode<'_>) -> Tensor<B, 2> {
        let features = self.features(batch, mode);
        match &self.projection {
            Some(head) => head.forward(features),
            None => features,
        }
    }

    /// The features, in front of the projection head.
    fn embed(&self, batch: Tensor<B, 4>) -> Tensor<B, 2> {
        self.features(batch, Mode::Evaluation)
    }

    /// One pass over the batches for all 20 layers: each normalises by the batch's own statistics,
    /// and the population's are the mean and variance of all that a layer took in.
    ///
    /// ```text
    /// mean = Σᵢ nᵢ·meanᵢ / n      var = Σᵢ nᵢ·(varᵢ + (meanᵢ − mean)²) / n      over batches i
    /// ```
    ///
    /// Layer by layer, as for the graph encoder, would be 20 passes. The first layer's statistics
    /// are the same either way. Further up a layer takes in what lower layers normalised batch by
    /// batch, not by the population, so its statistics depend a little on how the samples are
    /// batched; they depend on the parameters and the batches alone. Averaged weights get their
    /// statistics in this way too (Izmailov et al., 2018), where however the batches' variances are
    /// averaged and the distances between the batches' means are left out.
    ///
    /// No graph is recorded, and memory is that of one batch.
    ///
    /// # Panics
    /// If there are no batches.
    fn recalibrated(mut self, batches: &Batches<'_, Tensor<B, 4>>) -> Result<Self, SampleError> {
        let frozen = self.clone().no_grad();
        let mut gathered = Gathered::default();
        for batch in batches.iter() {
            frozen.pass(batch?, &mut Statistics::Gathered(&mut gathered));
        }
        for convolution in self.convolutions_mut() {
            convolution.norm.set_population(&gathered);
        }
        Ok(self)
    }
}
