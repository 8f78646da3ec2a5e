//! The stem: the layers before the residual blocks.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::Seed;
use icl_kernels::image::{self, Window};
use serde::{Deserialize, Serialize};

use crate::convolution::Convolution;
use crate::normalization::Statistics;

/// Layers before the residual blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stem {
    /// A 7x7 convolution of stride 2 and a 3x3 max pooling of stride 2 (He et al., 2016, and
    /// torchvision), for images of about 64 pixels and above. The side shrinks to a quarter.
    #[default]
    Standard,
    /// A 3x3 convolution of stride 1 without pooling, for images of about 32 pixels (Chen et al.,
    /// 2020, appendix B.9). The side stays the same.
    Small,
}

impl Stem {
    /// Returns the window of the convolution.
    pub(crate) fn window(self) -> Window {
        match self {
            Self::Standard => Window {
                size: 7,
                stride: 2,
                padding: 3,
            },
            Self::Small => Window {
                size: 3,
                stride: 1,
                padding: 1,
            },
        }
    }

    /// Returns the window of the pooling, if there is one.
    pub(crate) fn pool(self) -> Option<Window> {
        match self {
            Self::Standard => Some(Window {
                size: 3,
                stride: 2,
                padding: 1,
            }),
            Self::Small => None,
        }
    }
}

/// The layers of a [`Stem`]: `pool(relu(norm(x ∗ W)))`.
#[derive(Module, Debug)]
pub(crate) struct StemLayers<B: Backend> {
    pub(crate) convolution: Convolution<B>,
    #[module(skip)]
    stem: Stem,
}

impl<B: Backend> StemLayers<B> {
    pub(crate) fn new(
        stem: Stem,
        channels: [usize; 2],
        epsilon: f64,
        seed: Seed,
        device: &B::Device,
    ) -> Self {
        Self {
            convolution: Convolution::new(channels, stem.window(), epsilon, seed, device),
            stem,
        }
    }

    /// Maps `[n, h, w, c_in]` to `[n, h′, w′, c_out]`.
    pub(crate) fn forward(&self, x: Tensor<B, 4>, statistics: &mut Statistics<'_>) -> Tensor<B, 4> {
        let y = self.convolution.forward(x, None, true, statistics);
        match self.stem.pool() {
            Some(window) => image::max_pool(y, window),
            None => y,
        }
    }
}
