//! The views of a new encoder: augmentations, or mixup noise.

use anyhow::anyhow;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::options::{bounds, choice};
use crate::process::failure::Failure;

/// Views of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Mixup by the kind of each column for tables, augmentations for graphs and images.
    #[default]
    Auto,
    /// Augmentations of graphs or images.
    Augment,
    /// Linear mixup.
    Linear,
    /// Geometric mixup, shifted so that zeros of the partner do not erase values.
    Geometric,
    /// Geometric mixup as the DACL paper prints it.
    GeometricExact,
    /// Binary mixup.
    Binary,
    /// Linear, geometric or binary mixup, drawn for each pair.
    Plus,
    /// Gaussian noise on standardised columns.
    Gaussian,
    /// Gaussian noise as the DACL paper prints it.
    GaussianPrinted,
    /// Some columns of the second view from other rows, as in SCARF.
    Marginal,
    /// Augmentations and linear mixup, a positive pair of each.
    AugmentLinear,
    /// Augmentations and DACL+, a positive pair of each.
    AugmentPlus,
    /// Linear mixup of the encoder's output.
    Hidden,
    /// Gaussian noise on the encoder's output.
    HiddenGaussian,
    /// No noise: both views are the sample.
    None,
}

/// The views of a new encoder.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Views")]
pub struct NoiseOptions {
    /// Views: augment (graphs, images); linear, geometric, binary, plus, gaussian or gaussian-printed (tables, images);
    /// geometric-exact or marginal (tables); augment-linear or augment-plus (images); hidden or hidden-gaussian
    /// (graphs); none (tables); or auto. Mixup of samples is linear, geometric or binary; plus draws one of these
    /// three, and geometric-exact is without the shift of zeros. augment-linear and augment-plus have two positive
    /// pairs; hidden and hidden-gaussian are on the encoder's output. With auto, it is by the kind of each column
    /// (tables), else augment
    #[arg(
        long,
        value_name = "NOISE",
        value_parser = choice::any::<Noise>(),
        hide_possible_values = true,
        default_value = choice::name(&Noise::default())
    )]
    pub noise: Noise,
    #[arg(
        long,
        value_name = "ALPHA",
        help = format!(
            "Lower end of the range of λ, the share of the sample itself in a mixture, from 0 to 1. Without it, \
             {ALPHA_MIX}"
        )
    )]
    pub alpha_mix: Option<f64>,
    #[arg(
        long,
        value_name = "P",
        help = format!("Probability that binary mixup keeps a column (binary, plus). Without it, {KEEP}")
    )]
    pub keep_columns: Option<f64>,
    #[arg(
        long,
        value_name = "SIGMA",
        value_parser = bounds::number_in(bounds::SIGMA),
        help = format!(
            "Standard deviation of Gaussian noise (gaussian, hidden-gaussian), or its mean (gaussian-printed). \
             Without it, {SIGMA}"
        )
    )]
    pub sigma: Option<f64>,
}

/// Default of α.
const ALPHA_MIX: f64 = 0.9;
/// Default of the probability to keep a column.
const KEEP: f64 = 0.9;
/// Default of σ.
const SIGMA: f64 = 0.1;

impl NoiseOptions {
    /// Returns the noise that is chosen, the first of `possible` without a choice, and checks that it takes
    /// the options that are given. `samples` names the data.
    ///
    /// # Errors
    /// If the noise is not possible, or an option is for another noise.
    pub fn kind(&self, possible: &[Noise], samples: &str) -> Result<Noise, Failure> {
        use Noise::{
            AugmentLinear, AugmentPlus, Auto, Binary, Gaussian, GaussianPrinted, Geometric,
            GeometricExact, Hidden, HiddenGaussian, Linear, Plus,
        };
        let kind = match self.noise {
            Auto => possible[0],
            kind => kind,
        };
        if !possible.contains(&kind) {
            let expected: Vec<&str> = possible.iter().map(choice::name).collect();
            return Err(Failure::input(anyhow!(
                "noise: found {} for {samples}, expected {}",
                choice::name(&kind),
                expected.join(", ")
            )));
        }
        let with_lambda = [
            Auto,
            Linear,
            Geometric,
            GeometricExact,
            Plus,
            AugmentLinear,
            AugmentPlus,
            Hidden,
        ];
        for (option, is_given, takers) in [
            ("alpha-mix", self.alpha_mix.is_some(), &with_lambda[..]),
            (
                "keep-columns",
                self.keep_columns.is_some(),
                &[Binary, Plus, AugmentPlus],
            ),
            (
                "sigma",
                self.sigma.is_some(),
                &[Gaussian, GaussianPrinted, HiddenGaussian],
            ),
        ] {
            if is_given && !takers.contains(&kind) {
                let expected: Vec<&str> = takers.iter().map(choice::name).collect();
                return Err(Failure::input(anyhow!(
                    "{option}: found it with the noise {}, expected it with {} only",
                    choice::name(&kind),
                    expected.join(", ")
                )));
            }
        }
        Ok(kind)
    }

    /// Returns α, the lower end of the range of λ.
    pub fn alpha_mix(&self) -> f64 {
        self.alpha_mix.unwrap_or(ALPHA_MIX)
    }

    /// Returns the probability to keep a column.
    pub fn keep(&self) -> f64 {
        self.keep_columns.unwrap_or(KEEP)
    }

    /// Returns σ.
    pub fn sigma(&self) -> f64 {
        self.sigma.unwrap_or(SIGMA)
    }
}
