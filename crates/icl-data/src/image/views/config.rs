//! Configuration of image views.

use burn::config::Config;
use icl_core::Error;

/// Largest side of a view: three planes of it take 3 GiB.
const MAX_SIZE: usize = 16_384;

/// Configuration of image views: crop, grey, colour jitter, blur, flip, normalisation, in this order.
///
/// The paper lists "random resizing, 224x224-pixel cropping, random color jittering, random
/// grayscale conversion, random horizontal flip" and cites He et al. (2020, MoCo) and Wu et al.
/// (2018, instance discrimination) for them, without strengths. The defaults are those of MoCo v1,
/// which took them from Wu et al.: a crop of 0.2 to 1 of the image, grey with probability 0.2,
/// jitter always and with strength 0.4 in all four parts, a flip with probability 0.5, in this
/// order.
///
/// Chen et al. (2020, SimCLR) and MoCo v2 differ: scale `[0.08, 1]` and `[0.2, 1]`, jitter with
/// probability 0.8 and strengths (0.8, 0.8, 0.8, 0.2) and (0.4, 0.4, 0.4, 0.1), blur with
/// probability 0.5. They also apply the jitter before the conversion to grey. With these values a
/// view here differs from theirs only in that order: saturation and hue have no effect on a grey
/// view.
///
/// Every operation is that of torchvision on 8-bit images (Pillow), so that a setting has the same
/// meaning in both.
#[derive(Config, Debug, PartialEq)]
pub struct ImageViewsConfig {
    /// Side of the square view in pixels, from 1 to 16384; 224 in the paper.
    pub size: usize,
    /// Minimum and maximum share of the image's area in a crop, above 0 and at most 1.
    /// (torchvision's own default begins at 0.08.)
    #[config(default = "[0.2, 1.0]")]
    pub scale: [f64; 2],
    /// Minimum and maximum ratio of a crop's width to its height; the logarithm is drawn uniformly.
    #[config(default = "[3.0 / 4.0, 4.0 / 3.0]")]
    pub ratio: [f64; 2],
    /// Probability of a horizontal flip.
    #[config(default = "0.5")]
    pub flip: f64,
    /// Probability of the colour jitter.
    #[config(default = "1.0")]
    pub jitter: f64,
    /// Strength b of the brightness jitter; the factor is uniform in [max(0, 1 − b), 1 + b].
    #[config(default = "0.4")]
    pub brightness: f64,
    /// Strength of the contrast jitter, defined like that of the brightness.
    #[config(default = "0.4")]
    pub contrast: f64,
    /// Strength of the saturation jitter, defined like that of the brightness; without effect on a
    /// grey image.
    #[config(default = "0.4")]
    pub saturation: f64,
    /// Strength h of the hue jitter, at most 0.5; the rotation is uniform in [−h, h] of the circle.
    /// Without effect on a grey image.
    #[config(default = "0.4")]
    pub hue: f64,
    /// Probability of the conversion to grey (three equal channels).
    #[config(default = "0.2")]
    pub grey: f64,
    /// Probability of a Gaussian blur; 0 by default, because neither the paper nor MoCo v1 has one.
    #[config(default = "0.0")]
    pub blur: f64,
    /// Minimum and maximum standard deviation of the blur in pixels (Chen et al., 2020).
    #[config(default = "[0.1, 2.0]")]
    pub blur_sigma: [f64; 2],
    /// Means of red, green and blue on a scale from 0 to 1, which are subtracted; by default those of
    /// ImageNet. For a grey image, the mean of the three is subtracted (0.449).
    #[config(default = "[0.485, 0.456, 0.406]")]
    pub mean: [f32; 3],
    /// Standard deviations of red, green and blue, by which the differences are divided; by default
    /// those of ImageNet. A grey image is divided by the mean of the three (0.226).
    #[config(default = "[0.229, 0.224, 0.225]")]
    pub std: [f32; 3],
}

impl ImageViewsConfig {
    /// Checks all settings.
    pub(super) fn check(&self) -> Result<(), Error> {
        Error::unless(
            (1..=MAX_SIZE).contains(&self.size),
            "image views",
            format_args!("{} as size", self.size),
            format_args!("a side from 1 to {MAX_SIZE} pixels"),
        )?;
        interval("scale", self.scale, 1.0, "above 0 and at most 1")?;
        interval("ratio", self.ratio, f64::MAX, "above 0 and finite")?;
        for (name, found) in [
            ("flip", self.flip),
            ("jitter", self.jitter),
            ("grey", self.grey),
            ("blur", self.blur),
        ] {
            number(name, found, 1.0, "from 0 to 1")?;
        }
        for (name, found) in [
            ("brightness", self.brightness),
            ("contrast", self.contrast),
            ("saturation", self.saturation),
        ] {
            number(
                name,
                found,
                f64::from(f32::MAX),
                "of at least 0 that fits in 32 bits",
            )?;
        }
        number("hue", self.hue, 0.5, "from 0 to 0.5")?;
        interval(
            "blur_sigma",
            self.blur_sigma,
            f64::MAX,
            "above 0 and finite",
        )?;
        let share = |found: f32| (0.0..=1.0).contains(&found);
        channels("mean", self.mean, share, "from 0 to 1")?;
        // The reciprocal of a denormal number would be infinite.
        let positive = |found: f32| found.is_normal() && found > 0.0;
        channels(
            "std",
            self.std,
            positive,
            "above 0 that is neither denormal nor infinite",
        )
    }
}

/// Checks that a setting is from 0 to `most`.
pub(super) fn number(
    name: &'static str,
    found: f64,
    most: f64,
    expected: &'static str,
) -> Result<(), Error> {
    Error::unless(
        (0.0..=most).contains(&found),
        "image views",
        format_args!("{found} as {name}"),
        format_args!("a number {expected}"),
    )
}

fn interval(
    name: &'static str,
    found: [f64; 2],
    most: f64,
    expected: &'static str,
) -> Result<(), Error> {
    let [low, high] = found;
    Error::unless(
        0.0 < low && low <= high && high <= most,
        "image views",
        format_args!("{low} to {high} as {name}"),
        format_args!("two ascending numbers {expected}"),
    )
}

fn channels(
    name: &'static str,
    values: [f32; 3],
    accepted: impl Fn(f32) -> bool,
    expected: &'static str,
) -> Result<(), Error> {
    match values
        .into_iter()
        .enumerate()
        .find(|&(_, found)| !accepted(found))
    {
        None => Ok(()),
        Some((channel, found)) => Err(Error::new(
            "image views",
            format!("{found} as {name} of channel {channel}"),
            format!("a number {expected}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Setter<T> = fn(ImageViewsConfig, T) -> ImageViewsConfig;

    fn config() -> ImageViewsConfig {
        ImageViewsConfig::new(224)
    }

    fn message(config: ImageViewsConfig) -> String {
        config.try_init().unwrap_err().to_string()
    }

    #[test]
    fn sizes_outside_their_interval_are_errors() {
        for size in [0, 16_385, usize::MAX] {
            assert_eq!(
                message(ImageViewsConfig::new(size)),
                format!(
                    "image views: found {size} as size, expected a side from 1 to 16384 pixels"
                )
            );
        }
    }

    #[test]
    fn numbers_outside_their_interval_are_errors() {
        let share = "from 0 to 1";
        let strength = "of at least 0 that fits in 32 bits";
        let fields: [(&str, Setter<f64>, f64, &str); 8] = [
            ("flip", ImageViewsConfig::with_flip, 1.01, share),
            ("jitter", ImageViewsConfig::with_jitter, 1.01, share),
            ("grey", ImageViewsConfig::with_grey, 1.01, share),
            ("blur", ImageViewsConfig::with_blur, 1.01, share),
            (
                "brightness",
                ImageViewsConfig::with_brightness,
                1e39,
                strength,
            ),
            ("contrast", ImageViewsConfig::with_contrast, 1e39, strength),
            (
                "saturation",
                ImageViewsConfig::with_saturation,
                1e39,
                strength,
            ),
            ("hue", ImageViewsConfig::with_hue, 0.51, "from 0 to 0.5"),
        ];
        for (name, set, beyond, expected) in fields {
            for found in [-0.1, beyond, f64::INFINITY, f64::NAN] {
                assert_eq!(
                    message(set(config(), found)),
                    format!("image views: found {found} as {name}, expected a number {expected}")
                );
            }
        }
    }

    #[test]
    fn intervals_outside_theirs_are_errors() {
        let fields: [(&str, Setter<[f64; 2]>, f64, &str); 3] = [
            (
                "scale",
                ImageViewsConfig::with_scale,
                1.01,
                "above 0 and at most 1",
            ),
            (
                "ratio",
                ImageViewsConfig::with_ratio,
                f64::INFINITY,
                "above 0 and finite",
            ),
            (
                "blur_sigma",
                ImageViewsConfig::with_blur_sigma,
                f64::INFINITY,
                "above 0 and finite",
            ),
        ];
        for (name, set, beyond, expected) in fields {
            for found in [
                [0.0, 0.5],
                [-0.1, 0.5],
                [0.6, 0.5],
                [0.5, beyond],
                [f64::NAN, 0.5],
                [0.5, f64::NAN],
            ] {
                let [low, high] = found;
                assert_eq!(
                    message(set(config(), found)),
                    format!(
                        "image views: found {low} to {high} as {name}, \
                         expected two ascending numbers {expected}"
                    )
                );
            }
        }
    }

    #[test]
    fn channels_outside_their_interval_are_errors() {
        for found in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
            assert_eq!(
                message(config().with_mean([0.5, found, 0.5])),
                format!(
                    "image views: found {found} as mean of channel 1, \
                     expected a number from 0 to 1"
                )
            );
        }
        for found in [0.0, -0.2, 1e-40, f32::NAN, f32::INFINITY] {
            assert_eq!(
                message(config().with_std([0.5, 0.5, found])),
                format!(
                    "image views: found {found} as std of channel 2, \
                     expected a number above 0 that is neither denormal nor infinite"
                )
            );
        }
    }

    #[test]
    fn the_ends_of_the_intervals_are_accepted() {
        config().init();
        ImageViewsConfig::new(1)
            .with_scale([1.0, 1.0])
            .with_ratio([1.0, 1.0])
            .with_flip(1.0)
            .with_jitter(0.0)
            .with_brightness(0.0)
            .with_contrast(5.0)
            .with_saturation(1.0)
            .with_hue(0.5)
            .with_grey(1.0)
            .with_blur(1.0)
            .with_blur_sigma([1.0, 1.0])
            .with_mean([0.0; 3])
            .with_std([1.0; 3])
            .init();
    }

    #[test]
    #[should_panic = "image views: found 0 as size, expected a side from 1 to 16384 pixels"]
    fn init_panics_with_the_same_words() {
        ImageViewsConfig::new(0).init();
    }
}
