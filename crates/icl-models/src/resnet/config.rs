//! The configuration of ResNet-18, and the tensors that it implies.

use burn::config::Config;
use icl_core::Error;

use super::stem::Stem;
use crate::checks::{check_epsilon, check_fields};
use crate::convolution::convolution_tensors;
use crate::head::ProjectionHeadConfig;
use crate::linear::linear_tensors;

/// Widths of the four stages of two blocks each. Every stage but the first halves the side.
pub(crate) const STAGES: [usize; 4] = [64, 128, 256, 512];

/// Width of the features.
pub(crate) const D_FEATURES: usize = STAGES[3];

/// Configuration of [`ResNet`](crate::ResNet).
///
/// With 3 channels, 1000 classes and the other defaults it is torchvision's `resnet18` of 11 689 512
/// parameters.
#[derive(Config, Debug)]
pub struct ResNetConfig {
    /// Number of channels of the images.
    pub in_channels: usize,
    /// Layers before the residual blocks.
    #[config(default = "Stem::Standard")]
    pub stem: Stem,
    /// Number of classes of a linear head on the features; without it there is no such head.
    pub n_classes: Option<usize>,
    /// Width d of a projection head 512 → 512 → d on the features, whose output the contrastive
    /// losses take (SimCLR; Chen et al., 2020); without it they take the features.
    pub projection: Option<usize>,
    /// Constant ε added to the variance in normalisation.
    #[config(default = 1e-5)]
    pub epsilon: f64,
}

impl ResNetConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`Error`] if a width is 0 or ε is not above 0.
    pub fn check(&self) -> Result<(), Error> {
        check_fields([
            ("in_channels", Some(self.in_channels)),
            ("n_classes", self.n_classes),
            ("projection", self.projection),
        ])?;
        check_epsilon(self.epsilon)
    }

    /// Returns the name and the shape of each tensor of the encoder, in the order and with the names
    /// that collecting the tensors of the module gives.
    ///
    /// No tensor is allocated, so a file can be checked before an encoder is created from it.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let stem = convolution_tensors(
            "stem.convolution",
            [self.in_channels, STAGES[0]],
            self.stem.window().size,
        );
        let blocks = (0..2 * STAGES.len()).flat_map(block);
        let classifier = self.n_classes;
        let classifier = classifier.map(|n| linear_tensors("classifier", [D_FEATURES, n]));
        let projection = self.head().map(|head| head.tensors_at("projection"));
        stem.into_iter()
            .chain(blocks)
            .chain(classifier.into_iter().flatten())
            .chain(projection.into_iter().flatten())
    }

    /// Returns the configuration of the projection head, if there is one.
    pub(super) fn head(&self) -> Option<ProjectionHeadConfig> {
        self.projection
            .map(|d| ProjectionHeadConfig::new(D_FEATURES, d))
    }
}

/// Names and shapes of the tensors of the block of this index.
fn block(index: usize) -> impl Iterator<Item = (String, Vec<usize>)> {
    let (stage, is_first) = (index / 2, index.is_multiple_of(2));
    let width = STAGES[stage];
    let narrows = is_first && stage > 0;
    let c_in = if narrows { STAGES[stage - 1] } else { width };
    let at = |name: &str| format!("blocks.{index}.{name}");
    let shortcut = narrows.then(|| convolution_tensors(&at("shortcut"), [c_in, width], 1));
    convolution_tensors(&at("first"), [c_in, width], 3)
        .into_iter()
        .chain(convolution_tensors(&at("second"), [width, width], 3))
        .chain(shortcut.into_iter().flatten())
}
