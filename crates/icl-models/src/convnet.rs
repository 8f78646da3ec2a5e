//! A small convolutional network as an image encoder, for training on a CPU.

use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::{Batches, Encoder, Error, Mode, SampleError, Seed};
use icl_kernels::image::Window;

use crate::checks::{check_epsilon, check_fields};
use crate::convolution::{Convolution, convolution_tensors, means_over_places};
use crate::head::{ProjectionHead, ProjectionHeadConfig, projected};
use crate::normalization::{BatchNorm, Normalised, Statistics};

/// Number of convolutions.
pub(crate) const N_LAYERS: usize = 4;

/// Window of every convolution: 3x3 with stride 2, which halves the side.
pub(crate) const WINDOW: Window = Window {
    size: 3,
    stride: 2,
    padding: 1,
};

/// Configuration of [`ConvNet`].
#[derive(Config, Debug)]
pub struct ConvNetConfig {
    /// Number of channels of the images.
    pub in_channels: usize,
    /// Number of channels w of the first convolution. The others have 2w, 4w and 8w.
    #[config(default = 32)]
    pub width: usize,
    /// Width d of a projection head 8w → 8w → d on the features, whose output the contrastive losses take
    /// (SimCLR; Chen et al., 2020); without it they take the features.
    pub projection: Option<usize>,
    /// Constant ε added to the variance in normalisation.
    #[config(default = 1e-5)]
    pub epsilon: f64,
}

impl ConvNetConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`Error`] if a width is 0 or ε is not above 0.
    pub fn check(&self) -> Result<(), Error> {
        check_fields([
            ("in_channels", Some(self.in_channels)),
            ("width", Some(self.width)),
            ("projection", self.projection),
        ])?;
        check_epsilon(self.epsilon)
    }

    /// Creates an encoder with weights drawn from `seed`, the same on every backend. Weights of convolutions
    /// are normal with variance 2/fan_out (He et al., 2015), γ is 1 and β is 0.
    ///
    /// # Errors
    /// [`Error`] if a width is 0 or ε is not above 0.
    pub fn try_init<B: Backend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<ConvNet<B>, Error> {
        self.check()?;
        let layers = (0..N_LAYERS).map(|layer| {
            let seed = seed.child("layers").at(layer as u64);
            Convolution::new(self.channels(layer), WINDOW, self.epsilon, seed, device)
        });
        let projection = self
            .head()
            .map(|head| head.init(seed.child("projection"), device));
        Ok(ConvNet {
            layers: layers.collect(),
            projection,
        })
    }

    /// Creates an encoder with weights drawn from `seed`, as [`try_init`](Self::try_init) does.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with its message.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> ConvNet<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the name and the shape of each tensor of the encoder, in the order and with the names that
    /// collecting the tensors of the module gives.
    ///
    /// No tensor is allocated, so a file can be checked before an encoder is created from it.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let layers = (0..N_LAYERS).flat_map(|layer| {
            let name = format!("layers.{layer}");
            convolution_tensors(&name, self.channels(layer), WINDOW.size)
        });
        let projection = self.head().map(|head| head.tensors_at("projection"));
        layers.chain(projection.into_iter().flatten())
    }

    /// Returns the width 8w of the features.
    pub fn d_features(&self) -> usize {
        self.channels(N_LAYERS - 1)[1]
    }

    /// Returns the numbers of channels of the input and the output of a layer.
    fn channels(&self, layer: usize) -> [usize; 2] {
        // A damaged file may name any width. Its tensors are compared before any is made, so no product may overflow.
        let output = |layer: usize| self.width.saturating_mul(1 << layer);
        let input = match layer {
            0 => self.in_channels,
            _ => output(layer - 1),
        };
        [input, output(layer)]
    }

    /// Returns the configuration of the projection head, if there is one.
    fn head(&self) -> Option<ProjectionHeadConfig> {
        self.projection
            .map(|d| ProjectionHeadConfig::new(self.d_features(), d))
    }
}

/// A network of four 3x3 convolutions as encoder φ(·; θ) of images `[n, channels, height, width]`.
///
/// ```text
/// X₀ = images
/// Xₗ = relu(norm(Xₗ₋₁ ∗ Wₗ))          four layers, w, 2w, 4w and 8w channels, each halves the side
/// h  = mean of X₄ over height and width                                             [n, 8w]
/// φ  = g(h) with a projection head g, else h
/// ```
///
/// Its width w is 32 by default, which is 3.3 million multiplications for an image of 28 pixels with one
/// channel; a [`ResNet`](crate::ResNet) of the same image takes 456 million with its small stem.
///
/// [`encode`](Encoder::encode) returns φ, which the losses take; [`embed`](Encoder::embed) returns h. Modes,
/// statistics of normalisation and their re-estimation are as those of a [`ResNet`](crate::ResNet).
#[derive(Module, Debug)]
pub struct ConvNet<B: Backend> {
    layers: Vec<Convolution<B>>,
    projection: Option<ProjectionHead<B>>,
}

impl<B: Backend> ConvNet<B> {
    /// Computes the features h `[n, 8w]` of `images` `[n, channels, height, width]`.
    ///
    /// # Panics
    /// If the number of channels is not the encoder's.
    pub fn features(&self, images: Tensor<B, 4>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.features_by(images, &mut Statistics::of(&mode))
    }

    /// Computes h, normalised by `statistics`.
    fn features_by(&self, images: Tensor<B, 4>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let found = images.dims()[1];
        let expected = self.layers[0].weight.val().dims()[1];
        assert_eq!(
            found, expected,
            "images have {found} channels, the encoder takes {expected}"
        );
        // The kernels take channels last (ADR 5).
        let images = images.permute([0, 2, 3, 1]);
        let layers = self.layers.iter();
        let x = layers.fold(images, |x, layer| layer.forward(x, None, true, statistics));
        means_over_places(x)
    }
}

impl<B: Backend> Normalised<B> for ConvNet<B> {
    type Batch = Tensor<B, 4>;

    fn norms_mut(&mut self) -> Vec<&mut BatchNorm<B>> {
        let layers = self.layers.iter_mut().map(|layer| &mut layer.norm);
        let head = self
            .projection
            .iter_mut()
            .flat_map(ProjectionHead::norms_mut);
        layers.chain(head).collect()
    }

    /// Computes φ.
    fn pass(&self, batch: Tensor<B, 4>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let features = self.features_by(batch, statistics);
        projected(self.projection.as_ref(), features, statistics)
    }
}

impl<B: Backend> Encoder<B> for ConvNet<B> {
    type Batch = Tensor<B, 4>;

    fn encode(&self, batch: Tensor<B, 4>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.pass(batch, &mut Statistics::of(&mode))
    }

    /// Computes the features h, without the projection head.
    fn embed(&self, batch: Tensor<B, 4>) -> Tensor<B, 2> {
        self.features(batch, Mode::Evaluation)
    }

    /// Re-estimates the statistics of all layers in one pass over the batches, as
    /// [`ResNet::recalibrated`](crate::ResNet) does.
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
