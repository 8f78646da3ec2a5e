//! Views of small images: a shift, a factor of the contrast and noise.

use std::sync::Arc;

use burn::config::Config;
use icl_core::mixup::gaussian;
use icl_core::{Error, Pairing, Rng, Views};
use rand::RngExt;

use super::chance::uniform;
use super::config::{ImageViewsConfig, number};
use super::image_views::{ImageView, ImageViews};
use crate::image::raster::Image;

/// Configuration of [`ShiftViews`].
///
/// Crops and blurs of [`ImageViewsConfig`] leave little of an image of a few pixels, and colour jitter has
/// little to change in a grey one. These views are weaker, so that a digit of 8 x 8 pixels is still the same
/// digit.
#[derive(Config, Debug, PartialEq)]
pub struct ShiftViewsConfig {
    /// Side of the square view in pixels, from 1 to 16384.
    pub size: usize,
    /// Maximum shift s in each direction in pixels, below the side; rows and columns that come in are black.
    #[config(default = 1)]
    pub shift_px: usize,
    /// Strength c of the change of contrast, from 0 to 1; the factor is uniform in [1 − c, 1 + c].
    #[config(default = 0.15)]
    pub contrast: f64,
    /// Standard deviation σ of the noise on values from 0 to 1, at least 0.
    #[config(default = 0.1)]
    pub noise: f64,
}

impl ShiftViewsConfig {
    /// Checks the configuration and creates the views.
    ///
    /// # Errors
    /// [`Error`] if
    /// - the size is not from 1 to 16384;
    /// - the maximum shift is not below the size;
    /// - the strength of the contrast is not from 0 to 1;
    /// - the standard deviation of the noise is negative or does not fit in 32 bits.
    pub fn try_init(&self) -> Result<ShiftViews, Error> {
        let plain = ImageViewsConfig::new(self.size)
            .with_mean([0.0; 3])
            .with_std([1.0; 3])
            .try_init()?;
        Error::unless(
            self.shift_px < self.size,
            "image views",
            format_args!("{} as shift_px", self.shift_px),
            format_args!("less than the side of {} pixels", self.size),
        )?;
        number("contrast", self.contrast, 1.0, "from 0 to 1")?;
        let most = f64::from(f32::MAX);
        number(
            "noise",
            self.noise,
            most,
            "of at least 0 that fits in 32 bits",
        )?;
        Ok(ShiftViews {
            config: self.clone(),
            plain,
        })
    }

    /// Checks the configuration and creates the views, see [`try_init`](Self::try_init).
    ///
    /// # Panics
    /// If `try_init` returns an error, with the error's message.
    pub fn init(&self) -> ShiftViews {
        match self.try_init() {
            Ok(views) => views,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Views of small images, grey or RGB.
///
/// ```text
/// view[y, x] = f · p[y − d_y, x − d_x] + σ · ε[y, x]
///
/// d_y, d_x   whole numbers, uniform in [−s, s]
/// f          uniform in [1 − c, 1 + c]
/// ε          standard normal, for each value
/// p          values of the image from 0 to 1, and 0 outside of it
/// ```
///
/// Shift and factor are the same for all channels. An image that does not have the size of a view is first
/// resized to it, as its plain view is. Values are neither clamped nor normalised further. Created by
/// [`ShiftViewsConfig::init`].
///
/// ```
/// use std::sync::Arc;
///
/// use icl_core::{Seed, Views};
/// use icl_data::{Image, ShiftViewsConfig};
///
/// let dot = Arc::new(Image::new(3, 3, 1, vec![0, 0, 0, 0, 255, 0, 0, 0, 0]));
/// let views = ShiftViewsConfig::new(3).with_contrast(0.0).with_noise(0.0).init();
/// let view = views.view(&dot, &mut Seed::new(1).rng());
/// // The dot is at another place.
/// assert_eq!(view.values().iter().sum::<f32>(), 1.0);
/// ```
#[derive(Debug, Clone)]
pub struct ShiftViews {
    config: ShiftViewsConfig,
    plain: ImageViews,
}

impl ShiftViews {
    /// Returns the configuration, whose values are all checked.
    pub fn config(&self) -> &ShiftViewsConfig {
        &self.config
    }

    /// Makes a random view in a slot that holds an earlier view, whose buffer is reused.
    ///
    /// The order of the draws is: the shift down, the shift to the right, the factor, the noise of each
    /// value. All are drawn even if they have no effect.
    pub fn view_into(&self, sample: &Arc<Image>, rng: &mut Rng, slot: &mut ImageView) {
        self.plain.plain_into(sample, slot);
        // The size is at most 16384.
        let most = self.config.shift_px as i32;
        let [down, right] = [(); 2].map(|()| rng.random_range(-most..=most) as isize);
        let c = self.config.contrast;
        let factor = uniform([1.0 - c, 1.0 + c], rng) as f32;
        let (channels, size) = (slot.channels(), slot.size());
        let values = slot.reshape(channels, size);
        for plane in values.chunks_exact_mut(size * size) {
            shift(plane, size, down, right);
        }
        for value in values.iter_mut() {
            *value *= factor;
        }
        gaussian(values, 0.0, self.config.noise as f32, rng);
    }
}

/// Shifts a plane in place. Both shifts are smaller than the side.
fn shift(plane: &mut [f32], size: usize, down: isize, right: isize) {
    let kept = plane.len() - (down * size as isize + right).unsigned_abs();
    let by = plane.len() - kept;
    // Values that leave a row at one end come into the next at the other, where they are erased.
    if down * size as isize + right > 0 {
        plane.copy_within(..kept, by);
        plane[..by].fill(0.0);
    } else {
        plane.copy_within(by.., 0);
        plane[kept..].fill(0.0);
    }
    let width = right.unsigned_abs();
    for row in plane.chunks_exact_mut(size) {
        if right > 0 {
            row[..width].fill(0.0);
        } else {
            row[size - width..].fill(0.0);
        }
    }
}

impl Views for ShiftViews {
    type Sample = Arc<Image>;
    type View = ImageView;

    fn view(&self, sample: &Arc<Image>, rng: &mut Rng) -> ImageView {
        let mut view = ImageView::default();
        self.view_into(sample, rng, &mut view);
        view
    }

    /// Returns the centre of the image with values from 0 to 1; see [`ImageViews`].
    fn plain(&self, sample: &Arc<Image>) -> ImageView {
        self.plain.plain(sample)
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

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::Seed;

    const SIDE: usize = 5;

    fn image(channels: usize) -> Arc<Image> {
        let pixels = (1..=SIDE * SIDE * channels).map(|at| (at * 3) as u8);
        Arc::new(Image::new(SIDE, SIDE, channels, pixels.collect()))
    }

    fn rng(stream: u64) -> Rng {
        Seed::new(5).child("views").at(stream).rng()
    }

    /// The definition by a loop over rows and columns.
    fn moved(plane: &[f32], size: usize, down: isize, right: isize) -> Vec<f32> {
        let n = size as isize;
        let mut out = Vec::new();
        for y in 0..n {
            for x in 0..n {
                let (from_y, from_x) = (y - down, x - right);
                let is_within = (0..n).contains(&from_y) && (0..n).contains(&from_x);
                let at = from_y * n + from_x;
                out.push(if is_within { plane[at as usize] } else { 0.0 });
            }
        }
        out
    }

    #[test]
    fn a_shift_is_that_of_the_definition() {
        for size in [1_usize, 2, 3, 8] {
            let most = size as isize - 1;
            let plane: Vec<f32> = (1..=size * size).map(|at| at as f32).collect();
            for down in -most..=most {
                for right in -most..=most {
                    let mut found = plane.clone();
                    shift(&mut found, size, down, right);
                    assert_eq!(found, moved(&plane, size, down, right), "{down} {right}");
                }
            }
        }
    }

    #[test]
    fn the_plain_view_has_the_pixels_from_0_to_1() {
        let views = ShiftViewsConfig::new(SIDE).init();
        for channels in [1, 3] {
            let image = image(channels);
            let view = views.plain(&image);
            assert_eq!((view.channels(), view.size()), (channels, SIDE));
            for (at, value) in view.values().iter().enumerate() {
                let (channel, pixel) = (at / (SIDE * SIDE), at % (SIDE * SIDE));
                let exact = f32::from(image.pixels()[pixel * channels + channel]) / 255.0;
                assert!((value - exact).abs() < 1e-7, "{value} {exact}");
            }
        }
    }

    #[test]
    fn without_any_strength_a_view_is_the_plain_one() {
        let views = ShiftViewsConfig::new(SIDE)
            .with_shift_px(0)
            .with_contrast(0.0)
            .with_noise(0.0)
            .init();
        let image = image(3);
        assert_eq!(views.view(&image, &mut rng(0)), views.plain(&image));
    }

    #[test]
    fn all_shifts_come_equally_often_and_no_others() {
        let views = ShiftViewsConfig::new(SIDE)
            .with_contrast(0.0)
            .with_noise(0.0)
            .init();
        let image = image(1);
        let plain = views.plain(&image);
        let shifts: Vec<Vec<f32>> = (0..9)
            .map(|at| moved(plain.values(), SIDE, at / 3 - 1, at % 3 - 1))
            .collect();
        let mut counts = [0_u32; 9];
        for stream in 0..9000 {
            let view = views.view(&image, &mut rng(stream));
            let at = shifts.iter().position(|of| of == view.values());
            counts[at.expect("a shift by at most one pixel")] += 1;
        }
        // Five standard deviations of a count with expectation 1000.
        assert!(counts.iter().all(|n| n.abs_diff(1000) < 150), "{counts:?}");
    }

    #[test]
    fn factors_are_uniform_in_their_interval() {
        let views = ShiftViewsConfig::new(SIDE)
            .with_shift_px(0)
            .with_noise(0.0)
            .init();
        let image = image(1);
        let plain = views.plain(&image);
        let factors: Vec<f64> = (0..4000)
            .map(|stream| {
                let view = views.view(&image, &mut rng(stream));
                let factor = f64::from(view.values()[7]) / f64::from(plain.values()[7]);
                // One factor for the whole image.
                for (value, plain) in view.values().iter().zip(plain.values()) {
                    assert!((f64::from(*value) - factor * f64::from(*plain)).abs() < 1e-6);
                }
                factor
            })
            .collect();
        assert!(
            factors
                .iter()
                .all(|f| (0.85 - 1e-6..1.15 + 1e-6).contains(f))
        );
        let mean = factors.iter().sum::<f64>() / 4000.0;
        // The variance of a uniform number in an interval of width 0.3 is 0.3² / 12.
        let deviation = 0.3 / 12f64.sqrt();
        assert!((mean - 1.0).abs() < 5.0 * deviation / 4000f64.sqrt());
        let variance = factors.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / 4000.0;
        assert!((variance / deviation.powi(2) - 1.0).abs() < 0.1);
    }

    #[test]
    fn noise_has_its_standard_deviation() {
        let views = ShiftViewsConfig::new(SIDE)
            .with_shift_px(0)
            .with_contrast(0.0)
            .init();
        let image = image(1);
        let plain = views.plain(&image);
        let mut squares = 0.0;
        for stream in 0..400 {
            let view = views.view(&image, &mut rng(stream));
            for (value, plain) in view.values().iter().zip(plain.values()) {
                squares += f64::from(value - plain).powi(2);
            }
        }
        let n = (400 * SIDE * SIDE) as f64;
        // The variance of a square of a normal number is 2·σ⁴.
        assert!((squares / n / 0.01 - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
    }

    #[test]
    fn the_generator_decides_and_the_slot_does_not() {
        let views = ShiftViewsConfig::new(7).init();
        let mut slot = ImageView::default();
        for stream in 0..20 {
            let image = image(if stream % 2 == 0 { 1 } else { 3 });
            let view = views.view(&image, &mut rng(stream));
            views.view_into(&image, &mut rng(stream), &mut slot);
            assert_eq!(view, slot);
            assert_ne!(view, views.view(&image, &mut rng(stream + 100)));
        }
    }

    #[test]
    fn wrong_settings_are_errors() {
        let config = || ShiftViewsConfig::new(8);
        for (config, message) in [
            (
                ShiftViewsConfig::new(0),
                "image views: found 0 as size, expected a side from 1 to 16384 pixels",
            ),
            (
                config().with_shift_px(8),
                "image views: found 8 as shift_px, expected less than the side of 8 pixels",
            ),
            (
                config().with_contrast(1.5),
                "image views: found 1.5 as contrast, expected a number from 0 to 1",
            ),
            (
                config().with_noise(-0.1),
                "image views: found -0.1 as noise, expected a number of at least 0 that fits in 32 bits",
            ),
            (
                config().with_noise(f64::NAN),
                "image views: found NaN as noise, expected a number of at least 0 that fits in 32 bits",
            ),
        ] {
            assert_eq!(config.try_init().unwrap_err().to_string(), message);
        }
    }

    #[test]
    #[should_panic = "image views: found 1 as shift_px, expected less than the side of 1 pixels"]
    fn init_panics_with_the_same_words() {
        ShiftViewsConfig::new(1).init();
    }
}
