//! Views of images: the drawn and the plain ones.

use std::cell::RefCell;
use std::sync::Arc;

use icl_core::{Error, Pairing, Rng, Views};

use super::config::ImageViewsConfig;
use super::parameters::ViewParameters;
use super::pixels::{Canvas, Normalisation, SourceRegion};
use crate::image::raster::Image;

thread_local! {
    /// Buffers of the view that this thread is making. They are not in the slots, because a trainer
    /// keeps many slots and few threads.
    static CANVAS: RefCell<Canvas> = RefCell::default();
}

/// A view of an image: normalised values `[channels, size, size]`, one plane after the other.
///
/// The default is an empty slot without channels, to be filled by [`ImageViews::apply`] or
/// [`view_into`](ImageViews::view_into).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImageView {
    values: Vec<f32>,
    channels: usize,
    size: usize,
}

impl ImageView {
    /// Returns the normalised values `[channels, size, size]`, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the number of channels: 1 for a grey image, 3 for RGB.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns the number of rows, which equals the number of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Changes the shape and returns the values, which the caller overwrites; the buffer is kept.
    pub(in crate::image) fn reshape(&mut self, channels: usize, size: usize) -> &mut [f32] {
        self.channels = channels;
        self.size = size;
        self.values.resize(channels * size * size, 0.0);
        &mut self.values
    }
}

impl ImageViewsConfig {
    /// Checks the configuration and creates the views.
    ///
    /// # Errors
    /// [`Error`] if
    /// - the size is not from 1 to 16384;
    /// - a probability is not from 0 to 1;
    /// - a strength is negative or infinite, or that of the hue is above 0.5;
    /// - `scale` is not two ascending numbers above 0 and at most 1;
    /// - `ratio` or `blur_sigma` is not two ascending finite numbers above 0;
    /// - a mean is not from 0 to 1;
    /// - a standard deviation is not above 0, or is denormal or infinite;
    /// - any of them is not a number, even if it is not used.
    pub fn try_init(&self) -> Result<ImageViews, Error> {
        self.check()?;
        Ok(ImageViews {
            normalisation: Normalisation::new(self.mean, self.std),
            config: self.clone(),
        })
    }

    /// Checks the configuration and creates the views, see [`try_init`](Self::try_init).
    ///
    /// # Panics
    /// If `try_init` returns an error, with the error's message.
    pub fn init(&self) -> ImageViews {
        match self.try_init() {
            Ok(views) => views,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Augmentations that make the positive pairs of images.
///
/// For the same parameters they equal torchvision's on 8-bit images (Pillow): grey, jitter and flip
/// bit by bit, resizing (bilinear, with antialiasing) and blur to one level of 255. The values are
/// normalised last. Created by [`ImageViewsConfig::init`].
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
    /// Returns the configuration, whose values are all checked.
    pub fn config(&self) -> &ImageViewsConfig {
        &self.config
    }

    /// Draws the parameters of one view.
    ///
    /// The order of the draws is: the crop (up to ten times area and ratio; then row and column),
    /// grey or not, jitter or not, the order of its steps (three draws), brightness, contrast,
    /// saturation, hue, blur or not, its standard deviation, flip or not. All but those of the crop
    /// are drawn even if they are not used.
    pub fn draw(&self, image: &Image, rng: &mut Rng) -> ViewParameters {
        ViewParameters::draw(&self.config, image, rng)
    }

    /// Makes the view with these parameters into a slot, whose buffer is reused.
    ///
    /// On a grey image, the grey, saturation and hue parameters have no effect. Apart from the
    /// weights for resizing, nothing is allocated once the thread has made a view of this size.
    ///
    /// # Panics
    /// If the crop is empty or does not lie within the image; if the image has a side of more than
    /// `u32::MAX` pixels; if a factor of the jitter is negative, not a number or too large for 32
    /// bits; if the rotation of the hue is not from −0.5 to 0.5; or if the standard deviation of the
    /// blur is not above 0 and finite.
    pub fn apply(&self, image: &Image, parameters: &ViewParameters, slot: &mut ImageView) {
        parameters.check(image);
        self.make(image, &SourceRegion::of(parameters.crop), slot, |canvas| {
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

    /// Resizes the region of the image, applies `change`, which returns whether to flip the view, and
    /// normalises it.
    fn make(
        &self,
        image: &Image,
        region: &SourceRegion,
        slot: &mut ImageView,
        change: impl FnOnce(&mut Canvas) -> bool,
    ) {
        let size = self.config.size;
        let values = slot.reshape(image.channels(), size);
        CANVAS.with_borrow_mut(|canvas| {
            canvas.paint(image, region, size);
            let flip = change(canvas);
            canvas.write(&self.normalisation, flip, values);
        });
    }

    /// Makes the plain view in a slot that holds an earlier view, whose buffers are reused.
    pub(super) fn plain_into(&self, sample: &Image, slot: &mut ImageView) {
        let region = SourceRegion::centre(sample, self.config.size);
        self.make(sample, &region, slot, |_| false);
    }

    /// Makes a random view in a slot that holds an earlier view, whose buffers are reused.
    pub fn view_into(&self, sample: &Arc<Image>, rng: &mut Rng, slot: &mut ImageView) {
        let parameters = self.draw(sample, rng);
        self.apply(sample, &parameters, slot);
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

    /// Returns the centre of the image: the short side resized to the size of a view, the long side
    /// cropped to its middle.
    ///
    /// The result equals torchvision's `Resize(size)` and `CenterCrop(size)`; an image that has the size of a
    /// view is only normalised.
    fn plain(&self, sample: &Arc<Image>) -> ImageView {
        let mut view = ImageView::default();
        self.plain_into(sample, &mut view);
        view
    }

    fn paired_view_into(
        &self,
        sample: &Arc<Image>,
        _pairing: &Pairing<'_, Arc<Image>>,
        rng: &mut Rng,
        slot: &mut ImageView,
    ) {
        self.view_into(sample, rng, slot);
    }
}
