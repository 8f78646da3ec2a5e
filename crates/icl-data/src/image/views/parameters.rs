//! Parameters of one view.

use icl_core::Rng;

use super::chance::{happens, uniform};
use super::config::ImageViewsConfig;
use super::crop::CropBox;
use super::jitter::Jitter;
use crate::image::raster::Image;

/// Random parameters of one view of one image.
///
/// [`ImageViews::draw`](crate::ImageViews::draw) draws them and
/// [`ImageViews::apply`](crate::ImageViews::apply) applies them in the order of the fields.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewParameters {
    /// Part of the image that is resized to the view.
    pub crop: CropBox,
    /// `true` to convert the view to grey.
    pub grey: bool,
    /// Colour jitter, if there is one.
    pub jitter: Option<Jitter>,
    /// Standard deviation of the blur in pixels of the view, if there is a blur.
    pub blur_sigma: Option<f64>,
    /// `true` to flip the view horizontally.
    pub flip: bool,
}

impl ViewParameters {
    /// Draws all parameters, used or not, so that configurations with different probabilities get
    /// the same crops.
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

    /// Panics under the conditions of [`ImageViews::apply`](crate::ImageViews::apply).
    pub(super) fn check(&self, image: &Image) {
        self.crop.check(image);
        if let Some(jitter) = &self.jitter {
            jitter.check();
        }
        if let Some(sigma) = self.blur_sigma {
            assert!(
                sigma > 0.0 && sigma.is_finite(),
                "the standard deviation of a blur must be above 0 and finite, found {sigma}"
            );
        }
    }
}
