//! Colour jitter: four changes of colour in a random order.

use icl_core::Rng;
use rand::RngExt;

use super::chance::uniform;
use super::config::ImageViewsConfig;

/// One of the four changes of colour in a jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JitterStep {
    /// Scaling of every value, away from black.
    Brightness,
    /// Scaling of the differences from the mean lightness of the view.
    Contrast,
    /// Scaling of the differences from the grey of the same lightness.
    Saturation,
    /// Rotation of the colour circle.
    Hue,
}

impl JitterStep {
    /// All steps, in torchvision's numbering.
    pub const ALL: [Self; 4] = [
        Self::Brightness,
        Self::Contrast,
        Self::Saturation,
        Self::Hue,
    ];
}

/// Factors of a colour jitter and the order of its steps.
///
/// A factor of 1 and a rotation of 0 leave the view unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct Jitter {
    /// Steps in the order in which they are applied.
    pub order: [JitterStep; 4],
    /// Factor of the brightness, at least 0; 0 gives black.
    pub brightness: f64,
    /// Factor of the contrast, at least 0; 0 gives a uniform grey.
    pub contrast: f64,
    /// Factor of the saturation, at least 0; 0 gives a grey view.
    pub saturation: f64,
    /// Rotation of the hue in full circles, from −0.5 to 0.5.
    pub hue: f64,
}

impl Jitter {
    /// Draws the order, uniform among all 24, then the factors in the order of their fields.
    pub(super) fn draw(config: &ImageViewsConfig, rng: &mut Rng) -> Self {
        let mut order = JitterStep::ALL;
        // Fisher and Yates (1938), in the form of Durstenfeld (1964).
        for last in (1..order.len()).rev() {
            order.swap(last, rng.random_range(0..=last as u32) as usize);
        }
        let around_one = |strength: f64| [(1.0 - strength).max(0.0), 1.0 + strength];
        Self {
            order,
            brightness: uniform(around_one(config.brightness), rng),
            contrast: uniform(around_one(config.contrast), rng),
            saturation: uniform(around_one(config.saturation), rng),
            hue: uniform([-config.hue, config.hue], rng),
        }
    }

    /// Panics unless all factors lie within their intervals.
    pub(super) fn check(&self) {
        for (name, factor) in [
            ("brightness", self.brightness),
            ("contrast", self.contrast),
            ("saturation", self.saturation),
        ] {
            assert!(
                (0.0..=f64::from(f32::MAX)).contains(&factor),
                "the factor of the {name} must be a number of at least 0 that fits in 32 bits, \
                 found {factor}"
            );
        }
        assert!(
            self.hue.abs() <= 0.5,
            "the rotation of the hue must be a number from -0.5 to 0.5, found {}",
            self.hue
        );
    }
}
