//! Mixup noise as views of images.

use std::sync::Arc;

use burn::config::Config;
use burn::serde::{Deserialize, Serialize};
use icl_core::mixup::{MixingRange, MixupNote, binary, gaussian, geometric, linear};
use icl_core::{Error, Pairing, Rng, Views};
use rand::RngExt;

use super::image_views::{ImageView, ImageViews};
use crate::image::raster::Image;

/// Noise on the pixels of an image. Equation numbers are those of the DACL paper (Verma et al., 2021).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(crate = "burn::serde", rename_all = "kebab-case")]
pub enum ImageNoise {
    /// Linear mixup (Eq. 3).
    Linear,
    /// Geometric mixup of values from 0 to 1 (Eq. 5), shifted by ε = 1/255.
    Geometric,
    /// Binary mixup (Eq. 6): each value of a pixel is kept or exchanged.
    Binary,
    /// One of the three, drawn uniformly for each pair (DACL+).
    Plus,
    /// Gaussian noise N(0, σ²) on normalised values.
    Gaussian,
    /// Gaussian noise N(m, 1) on values from 0 to 1, as the paper prints it.
    GaussianPrinted,
}

/// Configuration of [`MixedImageViews`].
#[derive(Config, Debug, PartialEq)]
pub struct MixedImageViewsConfig {
    /// Kind of noise.
    pub noise: ImageNoise,
    /// Lower end α of the range of λ, from 0 to 1.
    #[config(default = 0.9)]
    pub alpha_mix: f64,
    /// Probability ρ that binary mixup keeps a value, from 0 to 1.
    #[config(default = 0.9)]
    pub keep: f64,
    /// Standard deviation σ of Gaussian noise, or the mean m of the printed form.
    #[config(default = 0.1)]
    pub sigma: f64,
}

impl MixedImageViewsConfig {
    /// Returns a note if the settings are allowed but rarely make sense.
    pub fn note(&self) -> Option<MixupNote> {
        let range = MixingRange::try_new(self.alpha_mix).ok()?.note();
        match self.noise {
            ImageNoise::Linear | ImageNoise::Geometric => range,
            ImageNoise::Binary => (self.keep == 1.0).then_some(MixupNote::NoNoise),
            ImageNoise::Plus => {
                range.filter(|note| *note != MixupNote::NoNoise || self.keep == 1.0)
            }
            ImageNoise::Gaussian => (self.sigma == 0.0).then_some(MixupNote::NoNoise),
            ImageNoise::GaussianPrinted => None,
        }
    }

    /// Checks the configuration and creates views of the size of `plain`, whose augmentations are not used.
    ///
    /// # Errors
    /// [`Error`] if α or the probability is not from 0 to 1, or σ is below 0 or not finite.
    pub fn try_init(&self, plain: ImageViews) -> Result<MixedImageViews, Error> {
        let (keep, sigma) = (self.keep, self.sigma);
        let is_share = (0.0..=1.0).contains(&keep);
        Error::unless(is_share, "keep", keep, "a number from 0 to 1")?;
        let is_sigma = (0.0..=f64::from(f32::MAX)).contains(&sigma);
        Error::unless(is_sigma, "sigma", sigma, "a finite number of at least 0")?;
        Ok(MixedImageViews {
            lambda: MixingRange::try_new(self.alpha_mix)?,
            config: self.clone(),
            plain,
        })
    }
}

/// Views of images by mixup noise: the centre view of an image mixed with that of a partner.
///
/// The two views of an image have independent λ and partners; under [`ImageNoise::Plus`] they share the kind.
#[derive(Debug, Clone)]
pub struct MixedImageViews {
    config: MixedImageViewsConfig,
    lambda: MixingRange,
    plain: ImageViews,
}

/// ε of geometric mixup: one level of 255.
const EPSILON: f32 = 1.0 / 255.0;

impl MixedImageViews {
    /// Returns the configuration, whose values are all checked.
    pub fn config(&self) -> &MixedImageViewsConfig {
        &self.config
    }

    /// Mixes the normalised values of a view with those of a partner.
    fn mix(&self, noise: ImageNoise, view: &mut ImageView, partner: &ImageView, rng: &mut Rng) {
        let (channels, area) = (view.channels(), view.size() * view.size());
        let values = view.reshape(channels, partner.size());
        match noise {
            ImageNoise::Linear => linear(values, partner.values(), self.lambda.draw(rng)),
            ImageNoise::Geometric => {
                // Eq. (5) of DACL is for values from 0 on: the normalisation is undone, and done again after it.
                let lambda = self.lambda.draw(rng);
                let epsilon = vec![EPSILON; area];
                let planes = values
                    .chunks_exact_mut(area)
                    .zip(partner.values().chunks_exact(area));
                for (channel, (own, other)) in planes.enumerate() {
                    let (mean, std) = self.normalisation(channel, channels);
                    // Rounding may lead a black pixel to just below 0.
                    let raw = |x: f32| (x * std + mean).max(0.0);
                    let other: Vec<f32> = other.iter().map(|&x| raw(x)).collect();
                    own.iter_mut().for_each(|x| *x = raw(*x));
                    geometric(own, &other, lambda, &epsilon);
                    own.iter_mut().for_each(|x| *x = (*x - mean) / std);
                }
            }
            _ => {
                let keep: Vec<bool> = (0..values.len())
                    .map(|_| rng.random_bool(self.config.keep))
                    .collect();
                binary(values, partner.values(), &keep);
            }
        }
    }

    /// Adds Gaussian noise to normalised values.
    fn add_noise(&self, view: &mut ImageView, rng: &mut Rng) {
        let (channels, size) = (view.channels(), view.size());
        let values = view.reshape(channels, size);
        let sigma = self.config.sigma as f32;
        if self.config.noise == ImageNoise::Gaussian {
            return gaussian(values, 0.0, sigma, rng);
        }
        for (channel, values) in values.chunks_exact_mut(size * size).enumerate() {
            let (_, std) = self.normalisation(channel, channels);
            // Noise on values from 0 to 1 is divided by the standard deviation as the values are.
            gaussian(values, sigma / std, 1.0 / std, rng);
        }
    }

    /// Returns the mean and the standard deviation by which a channel is normalised.
    fn normalisation(&self, channel: usize, channels: usize) -> (f32, f32) {
        let config = self.plain.config();
        let of = |values: [f32; 3]| match channels {
            1 => values.iter().sum::<f32>() / 3.0,
            _ => values[channel],
        };
        (of(config.mean), of(config.std))
    }
}

impl Views for MixedImageViews {
    type Sample = Arc<Image>;
    type View = ImageView;

    /// Makes a view without a partner.
    ///
    /// # Panics
    /// If the noise needs a partner.
    fn view(&self, sample: &Arc<Image>, rng: &mut Rng) -> ImageView {
        assert_eq!(
            self.n_partners(),
            0,
            "mixup needs a partner: `paired_view` makes its views"
        );
        let mut view = self.plain(sample);
        self.add_noise(&mut view, rng);
        view
    }

    fn plain(&self, sample: &Arc<Image>) -> ImageView {
        self.plain.plain(sample)
    }

    fn paired_view(
        &self,
        sample: &Arc<Image>,
        pairing: &Pairing<'_, Arc<Image>>,
        rng: &mut Rng,
    ) -> ImageView {
        let [partner] = pairing.partners else {
            return self.view(sample, rng);
        };
        let noise = match self.config.noise {
            ImageNoise::Plus => {
                // Both views of the pair draw the same kind from the pair's seed.
                let kinds = [
                    ImageNoise::Linear,
                    ImageNoise::Geometric,
                    ImageNoise::Binary,
                ];
                kinds[pairing
                    .pair
                    .child("noise-kind")
                    .rng()
                    .random_range(0..3_u32) as usize]
            }
            noise => noise,
        };
        let mut view = self.plain(sample);
        self.mix(noise, &mut view, &self.plain(partner), rng);
        view
    }

    fn n_partners(&self) -> usize {
        match self.config.noise {
            ImageNoise::Gaussian | ImageNoise::GaussianPrinted => 0,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use icl_core::{Seed, Side};

    use super::*;
    use crate::image::views::ImageViewsConfig;

    fn image(seed: usize) -> Arc<Image> {
        let pixels = (0..4 * 4 * 3).map(|at| ((at * 37 + seed * 91) % 256) as u8);
        Arc::new(Image::new(4, 4, 3, pixels.collect()))
    }

    fn views(config: MixedImageViewsConfig) -> MixedImageViews {
        config.try_init(ImageViewsConfig::new(4).init()).unwrap()
    }

    fn made(views: &MixedImageViews, seed: u64) -> ImageView {
        let partners = [Cow::Owned(image(2))];
        let pairing = Pairing {
            part: 0,
            side: Side::First,
            pair: Seed::new(seed),
            partners: &partners[..views.n_partners()],
        };
        views.paired_view(&image(1), &pairing, &mut Seed::new(seed).rng())
    }

    /// Pixels from 0 to 1 of both images, before normalisation.
    fn raw(view: &ImageView, views: &MixedImageViews) -> Vec<f64> {
        let area = view.size() * view.size();
        let planes = view.values().chunks_exact(area).enumerate();
        planes
            .flat_map(|(channel, plane)| {
                let (mean, std) = views.normalisation(channel, 3);
                plane.iter().map(move |x| f64::from(x * std + mean))
            })
            .collect()
    }

    #[test]
    fn lambda_1_and_keep_1_are_plain() {
        for noise in [ImageNoise::Linear, ImageNoise::Geometric, ImageNoise::Plus] {
            let config = MixedImageViewsConfig::new(noise)
                .with_alpha_mix(1.0)
                .with_keep(1.0);
            let views = views(config);
            let (found, plain) = (made(&views, 3), views.plain(&image(1)));
            let distance = found.values().iter().zip(plain.values());
            // Geometric mixing leaves the normalised scale and returns to it.
            assert!(distance.clone().all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }

    #[test]
    fn mixtures_lie_between_the_two_images() {
        for noise in [
            ImageNoise::Linear,
            ImageNoise::Geometric,
            ImageNoise::Binary,
        ] {
            let views = views(
                MixedImageViewsConfig::new(noise)
                    .with_alpha_mix(0.3)
                    .with_keep(0.5),
            );
            let [own, other] = [image(1), image(2)].map(|image| raw(&views.plain(&image), &views));
            let mixed = raw(&made(&views, 5), &views);
            let mut n_moved = 0;
            for ((x, own), other) in mixed.iter().zip(&own).zip(&other) {
                let (low, high) = (own.min(*other) - 1e-5, own.max(*other) + 1e-5);
                assert!((low..=high).contains(x), "{noise:?} {x} {own} {other}");
                if noise == ImageNoise::Binary {
                    assert!((x - own).abs() < 1e-5 || (x - other).abs() < 1e-5);
                }
                n_moved += usize::from((x - own).abs() > 1e-3);
            }
            assert!(n_moved > 10, "{noise:?}");
        }
    }

    #[test]
    fn gaussian_noise_needs_no_partner() {
        for noise in [ImageNoise::Gaussian, ImageNoise::GaussianPrinted] {
            let views = views(MixedImageViewsConfig::new(noise));
            assert_eq!(views.n_partners(), 0);
            assert_ne!(made(&views, 1), made(&views, 2));
            assert_eq!(made(&views, 1), made(&views, 1));
        }
    }

    #[test]
    fn wrong_numbers_are_errors() {
        let plain = || ImageViewsConfig::new(4).init();
        let config = || MixedImageViewsConfig::new(ImageNoise::Plus);
        for (config, message) in [
            (
                config().with_alpha_mix(1.5),
                "mixing range: found α = 1.5, expected a number from 0 to 1",
            ),
            (
                config().with_keep(-0.1),
                "keep: found -0.1, expected a number from 0 to 1",
            ),
            (
                config().with_sigma(f64::NAN),
                "sigma: found NaN, expected a finite number of at least 0",
            ),
        ] {
            assert_eq!(config.try_init(plain()).unwrap_err().to_string(), message);
        }
    }
}
