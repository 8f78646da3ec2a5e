//! Random crops.

use icl_core::Rng;
use rand::RngExt;

use super::chance::uniform;
use crate::image::raster::Image;

/// Number of attempts to draw a crop before the centre is used.
const N_ATTEMPTS: usize = 10;

/// A crop: a rectangle of whole pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CropBox {
    /// First column.
    pub left: usize,
    /// First row.
    pub top: usize,
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

impl CropBox {
    /// Takes the whole image.
    pub(super) fn whole(image: &Image) -> Self {
        Self {
            left: 0,
            top: 0,
            width: image.width(),
            height: image.height(),
        }
    }

    /// Draws a crop: a share of the area uniform in `scale`, a ratio of width to height whose
    /// logarithm is uniform between those of `ratio`, and a position uniform among all that fit.
    ///
    /// Each attempt draws area and ratio, and the position (row, then column) if the crop fits.
    /// After ten attempts the largest crop in the centre whose ratio lies within `ratio` is used.
    pub(super) fn draw(image: &Image, scale: [f64; 2], ratio: [f64; 2], rng: &mut Rng) -> Self {
        let (width, height) = (image.width() as f64, image.height() as f64);
        let log_ratio = ratio.map(f64::ln);
        for _ in 0..N_ATTEMPTS {
            let area = width * height * uniform(scale, rng);
            let aspect = uniform(log_ratio, rng).exp();
            // Halves are rounded to even numbers, as in Python.
            let crop_width = (area * aspect).sqrt().round_ties_even();
            let crop_height = (area / aspect).sqrt().round_ties_even();
            let fits = (1.0..=width).contains(&crop_width) && (1.0..=height).contains(&crop_height);
            if fits {
                // 64 bits on every machine, so that the draws are the same everywhere.
                let top = rng.random_range(0..=(height - crop_height) as u64);
                let left = rng.random_range(0..=(width - crop_width) as u64);
                return Self {
                    left: left as usize,
                    top: top as usize,
                    width: crop_width as usize,
                    height: crop_height as usize,
                };
            }
        }
        Self::centre(image, ratio)
    }

    /// Takes the largest crop in the centre whose ratio lies within `ratio`, of at least one pixel.
    fn centre(image: &Image, [least, greatest]: [f64; 2]) -> Self {
        let (image_width, image_height) = (image.width(), image.height());
        let ratio = image_width as f64 / image_height as f64;
        let side = |length: f64| (length.round_ties_even() as usize).max(1);
        let (width, height) = if ratio < least {
            (
                image_width,
                side(image_width as f64 / least).min(image_height),
            )
        } else if ratio > greatest {
            (
                side(image_height as f64 * greatest).min(image_width),
                image_height,
            )
        } else {
            (image_width, image_height)
        };
        Self {
            left: (image_width - width) / 2,
            top: (image_height - height) / 2,
            width,
            height,
        }
    }

    /// Panics unless the crop lies within the image.
    pub(super) fn check(&self, image: &Image) {
        let within = |first: usize, length: usize, side: usize| {
            length > 0 && length <= side && first <= side - length
        };
        assert!(
            within(self.left, self.width, image.width())
                && within(self.top, self.height, image.height()),
            "a crop must have at least one pixel and lie within its image of {} x {}, found \
             {} x {} at column {}, row {}",
            image.width(),
            image.height(),
            self.width,
            self.height,
            self.left,
            self.top
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn centre(width: usize, height: usize, ratio: [f64; 2]) -> [usize; 4] {
        let image = Image::new(width, height, 1, vec![0; width * height]);
        let crop = CropBox::centre(&image, ratio);
        crop.check(&image);
        [crop.left, crop.top, crop.width, crop.height]
    }

    #[test]
    fn the_centre_keeps_to_the_ratio() {
        let ratio = [3.0 / 4.0, 4.0 / 3.0];
        assert_eq!(centre(400, 20, ratio), [186, 0, 27, 20]);
        assert_eq!(centre(20, 400, ratio), [0, 186, 20, 27]);
        assert_eq!(centre(100, 90, ratio), [0, 0, 100, 90]);
        // 10 · 1.25 = 12.5 and 14 · 1.25 = 17.5 are rounded to even numbers.
        assert_eq!(centre(99, 10, [1.0, 1.25]), [43, 0, 12, 10]);
        assert_eq!(centre(99, 14, [1.0, 1.25]), [40, 0, 18, 14]);
        // Where torchvision would crop to nothing, one pixel is left.
        assert_eq!(centre(1, 5, [10.0, 20.0]), [0, 2, 1, 1]);
        assert_eq!(centre(5, 1, [0.05, 0.1]), [2, 0, 1, 1]);
        assert_eq!(centre(1, 1, ratio), [0, 0, 1, 1]);
    }
}
