//! Configuration of the views of rows.

use burn::config::Config;
use icl_core::Error;
use icl_core::mixup::{MixingRange, MixupNote};

use super::kind::NoiseKind;

/// Configuration of the views of rows.
///
/// α and the share of kept columns are searched in {0.5, …, 0.9} and {0.1, 0.3, 0.5} in the DACL paper,
/// which chooses by experiment and does not state the choice. (Its text calls for a *high* share and its
/// set holds low ones; the default here follows the text.)
#[derive(Config, Debug, PartialEq)]
pub struct TableViewsConfig {
    /// Kind of noise.
    #[config(default = "NoiseKind::Auto")]
    pub noise: NoiseKind,
    /// Lower end α of the range of the mixing coefficient λ, from 0 to 1.
    #[config(default = "0.9")]
    pub alpha_mix: f64,
    /// Probability ρ that binary mixing keeps a column, from 0 to 1.
    #[config(default = "0.9")]
    pub keep: f64,
    /// `true` for geometric mixing as printed, with ε = 0: a value whose partner is 0 becomes 0, however
    /// near λ is to 1.
    #[config(default = "false")]
    pub exact: bool,
    /// Standard deviation σ of the noise `gaussian`, in standard deviations of the old data.
    #[config(default = "0.1")]
    pub sigma: f64,
    /// Mean m of the noise `gaussian-printed`; in {0.05, 0.1, 0.3, 0.5} in the paper.
    #[config(default = "0.1")]
    pub printed_mean: f64,
    /// Probability that the noise `marginal` exchanges a column, from 0 to 1; 0.6 in SCARF.
    #[config(default = "0.6")]
    pub corruption: f64,
}

impl TableViewsConfig {
    /// Returns a note if the settings are allowed but rarely make sense.
    pub fn note(&self) -> Option<MixupNote> {
        let is_plain = match self.noise {
            NoiseKind::Linear | NoiseKind::Geometric | NoiseKind::Auto => self.alpha_mix == 1.0,
            NoiseKind::Binary => self.keep == 1.0,
            NoiseKind::Plus => self.alpha_mix == 1.0 && self.keep == 1.0,
            NoiseKind::Gaussian => self.sigma == 0.0,
            NoiseKind::GaussianPrinted => false,
            NoiseKind::Marginal => self.corruption == 0.0,
            NoiseKind::None => true,
        };
        if is_plain {
            return Some(MixupNote::NoNoise);
        }
        let range = MixingRange::try_new(self.alpha_mix).ok()?;
        let note = range.note().filter(|note| *note != MixupNote::NoNoise);
        note.filter(|_| self.noise.has_lambda())
    }

    /// Checks all settings and returns the range of λ.
    pub(super) fn check(&self) -> Result<MixingRange, Error> {
        let share = |found: f64| (0.0..=1.0).contains(&found);
        let number = |name, found, is_accepted, expected| {
            let (found, expected) = (format!("{found} as {name}"), format!("a number {expected}"));
            Error::unless(is_accepted, "table views", found, expected)
        };
        number("keep", self.keep, share(self.keep), "from 0 to 1")?;
        let corruption = self.corruption;
        number("corruption", corruption, share(corruption), "from 0 to 1")?;
        let largest = f64::from(f32::MAX);
        let is_sigma = (0.0..=largest).contains(&self.sigma);
        number(
            "sigma",
            self.sigma,
            is_sigma,
            "of at least 0 that fits in 32 bits",
        )?;
        let mean = self.printed_mean;
        let is_mean = mean.abs() <= largest;
        number("printed_mean", mean, is_mean, "that fits in 32 bits")?;
        MixingRange::try_new(self.alpha_mix)
    }
}
