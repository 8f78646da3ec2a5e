//! What is drawn for one view.

use icl_core::Rng;
use rand::RngExt;

use super::ImageViewsConfig;
use super::crop::CropBox;
use super::jitter::Jitter;
use crate::image::raster::Image;

/// Everything that chance decides about one view of one image.
///
/// [`ImageViews::draw`](super::ImageViews::draw) draws it and
/// [`ImageViews::apply`](super::ImageViews::apply) carries it out, in the order of the fields.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewParameters {
    /// The part of the image that is resized to the view.
    pub crop: CropBox,
    /// Whether the view turns grey.
    pub grey: bool,
    /// The colour jitter, if there is one.
    pub jitter: Option<Jitter>,
    /// The standard deviation of the blur in pixels of the view, if there is one.
    pub blur_sigma: Option<f64>,
    /// Whether left and right are exchanged.
    pub flip: bool,
}

impl ViewParameters {
    /// Draws everything, used or not, so that settings that differ in a probability see the same
    /// crops.
    pub(super) fn draw(config: &ImageViewsConfig, image: &Image, rng: &mut Rng) -> Self {
        let crop = CropBox::draw(image, config.scale, config.ratio, rng);
        let grey = happens(config.grey, rng);
        let jittered = happens(config.jitter, rng);
        let jitter = Jitter::draw(config, rng);
        let blurred = happens(config.blur, rng);
        let sigma = uniform(config.blur_sigma, rng);
        Self {
            crop,
            grey,
            jitter: jittered.then_some(jitter),
            blur_sigma: blurred.then_some(sigma),
            flip: happens(config.flip, rng),
        }
    }

    /// Panics as [`ImageViews::apply`](super::ImageViews::apply) says.
    pub(super) fn check(&self, image: &Image) {
        self.crop.check(image);
        if let Some(jitter) = &self.jitter {
            jitter.check();
        }
        if let Some(sigma) = self.blur_sigma {
            assert!(
                sigma > 0.0 && sigma.is_finite(),
                "the deviation of a blur must be a number above 0 and finite, found {sigma}"
            );
        }
    }
}

/// One draw: true with this probability.
fn happens(probability: f64, rng: &mut Rng) -> bool {
    rng.random::<f64>() < probability
}

/// One draw, uniform between the two.
pub(super) fn uniform([low, high]: [f64; 2], rng: &mut Rng) -> f64 {
    low + (high - low) * rng.random::<f64>()
}
