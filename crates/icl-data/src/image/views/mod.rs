//! Image augmentations: crop, grey, colour jitter, blur, flip.

mod blur;
mod canvas;
mod colour;
mod config;
mod crop;
mod hue;
mod jitter;
mod normalisation;
mod parameters;
mod resample;

use std::cell::RefCell;
use std::sync::Arc;

use icl_core::{Rng, Views};

use super::raster::Image;
use super::view::ImageView;
use canvas::Canvas;
pub use config::{ImageViewsConfig, ImageViewsError};
pub use crop::CropBox;
pub use jitter::{Jitter, JitterStep};
use normalisation::Normalisation;
pub use parameters::ViewParameters;
use resample::Window;

thread_local! {
    /// The buffers of the view that this thread is making. A trainer keeps many slots and few
    /// threads, so that they are here and not in the slot.
    static CANVAS: RefCell<Canvas> = RefCell::default();
}

/// The augmentations that make a positive pair of images.
///
/// Equal to torchvision's on 8-bit images (Pillow), for the same parameters: grey, jitter and flip
/// bit by bit, resizing (bilinear, with antialiasing) and blur to one level of 255. The values are
/// normalised last. Made by [`ImageViewsConfig::init`].
///
/// ```
/// use std::sync::Arc;
///
/// use icl_core::{Seed, Views};
/// use icl_data::{Image, ImageViewsConfig};
///
/// let photo = Arc::new(Image::new(40, 30, 3, vec![128; 40 * 30 * 3]));
/// let views = ImageViewsConfig::new(32).init();
/// let seed = Seed::new(1).child("views");
/// let first = views.view(&photo, &mut seed.at(0).rng());
/// let again = views.view(&photo, &mut seed.at(0).rng());
/// assert_eq!(first, again);
/// assert_eq!((first.channels(), first.size()), (3, 32));
/// ```
#[derive(Debug, Clone)]
pub struct ImageViews {
    config: ImageViewsConfig,
    normalisation: Normalisation,
}

impl ImageViews {
    /// The configuration, with all values checked.
    pub fn config(&self) -> &ImageViewsConfig {
        &self.config
    }

    /// Draws one view's parameters.
    ///
    /// The order of the draws: the crop (up to ten times area and ratio; then row and column),
    /// grey or not, jitter or not, the order of its steps (three draws), brightness, contrast,
    /// saturation, hue, blur or not, its deviation, flip or not. All but those of the crop are
    /// drawn whether or not they are used.
    pub fn draw(&self, image: &Image, rng: &mut Rng) -> ViewParameters {
        ViewParameters::draw(&self.config, image, rng)
    }

    /// Makes the view with these parameters, into a slot whose buffer may be used again.
    ///
    /// Of a grey image, greyness, saturation and hue are as they are. Beside what resizing takes
    /// for its weights, nothing is allocated once the thread has made a view of this size.
    ///
    /// # Panics
    /// If the crop is empty or does not lie within the image; if the image has a side of more than
    /// `u32::MAX` pixels; if a factor of the jitter is negative, not a number or too large for 32
    /// bits; if the turn of the hue is not from −0.5 to 0.5; or if the deviation of the blur is
    /// not above 0 and finite.
    pub fn apply(&self, image: &Image, parameters: &ViewParameters, slot: &mut ImageView) {
        parameters.check(image);
        self.make(image, &Window::of(parameters.crop), slot, |canvas| {
            if parameters.grey {
                canvas.grey();
            }
            if let Some(jitter) = &parameters.jitter {
                canvas.jitter(jitter);
            }
            if let Some(sigma) = parameters.blur_sigma {
                canvas.blur(sigma);
            }
            parameters.flip
        });
    }

    /// Resizes the window of the image, changes it as `change` does, which says whether to flip it,
    /// and normalises it.
    fn make(
        &self,
        image: &Image,
        window: &Window,
        slot: &mut ImageView,
        change: impl FnOnce(&mut Canvas) -> bool,
    ) {
        let size = self.config.size;
        let values = slot.reshape(image.channels(), size);
        CANVAS.with_borrow_mut(|canvas| {
            canvas.paint(image, window, size);
            let flip = change(canvas);
            canvas.write(&self.normalisation, flip, values);
        });
    }
}

impl Views for ImageViews {
    type Sample = Arc<Image>;
    type View = ImageView;

    fn view(&self, sample: &Arc<Image>, rng: &mut Rng) -> ImageView {
        let mut view = ImageView::default();
        self.view_into(sample, rng, &mut view);
        view
    }

    /// The centre: the short side resized to the size of a view, and the middle of the long one.
    ///
    /// Equal to torchvision's `Resize(size)` and `CenterCrop(size)`; an image that has the size of
    /// a view is taken as it is.
    fn plain(&self, sample: &Arc<Image>) -> ImageView {
        let mut view = ImageView::default();
        let window = Window::centre(sample, self.config.size);
        self.make(sample, &window, &mut view, |_| false);
        view
    }

    fn view_into(&self, sample: &Arc<Image>, rng: &mut Rng, slot: &mut ImageView) {
        let parameters = self.draw(sample, rng);
        self.apply(sample, &parameters, slot);
    }
}

#[cfg(test)]
mod tests;
