//! Colour jitter: four changes of colour in a random order.

use icl_core::Rng;
use rand::RngExt;

use super::ImageViewsConfig;
use super::parameters::uniform;

/// One of the four changes of colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JitterStep {
    /// Every value times a factor: away from black.
    Brightness,
    /// Away from the mean lightness of the view.
    Contrast,
    /// Away from the grey of the same lightness.
    Saturation,
    /// A turn of the circle of colours.
    Hue,
}

impl JitterStep {
    /// All of them, in torchvision's numbering.
    pub const ALL: [Self; 4] = [
        Self::Brightness,
        Self::Contrast,
        Self::Saturation,
        Self::Hue,
    ];
}

/// The factors of a colour jitter and the order of its steps.
///
/// A factor of 1, or a turn of 0, leaves the view as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Jitter {
    /// Which step comes first, second, third and last.
    pub order: [JitterStep; 4],
    /// The factor of the brightness, at least 0; 0 is black.
    pub brightness: f64,
    /// The factor of the contrast, at least 0; 0 is an even grey.
    pub contrast: f64,
    /// The factor of the saturation, at least 0; 0 is a grey view.
    pub saturation: f64,
    /// The turn of the hue in circles, from −0.5 to 0.5.
    pub hue: f64,
}

impl Jitter {
    /// Draws the order, uniform among all 24, then the factors as their fields stand.
    pub(super) fn draw(config: &ImageViewsConfig, rng: &mut Rng) -> Self {
        let mut order = JitterStep::ALL;
        // Fisher and Yates (1938), as Durstenfeld (1964) has it.
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

    /// Panics unless all factors are within their intervals.
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
            "the turn of the hue must be a number from -0.5 to 0.5, found {}",
            self.hue
        );
    }
}
