//! The loss: its temperature and the number of its negatives.

use std::str::FromStr;

use anyhow::anyhow;
use clap::{Arg, Args};
use icl_core::Error;
use icl_train::{NegativesForm, NegativesSchedule, StopRule, TrainingSettings};
use serde::{Serialize, Serializer};

use crate::options::bounds;
use crate::options::choice;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Number of negatives: a given one, or the one that an AUC advises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Negatives {
    /// This number.
    Number(f64),
    /// Number that the encoder's own AUC advises.
    Auto,
}

/// Word for [`Negatives::Auto`].
const AUTO: &str = "auto";

impl FromStr for Negatives {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            AUTO => Ok(Self::Auto),
            number => bounds::number_in(bounds::NEGATIVES)(number)
                .map(Self::Number)
                .map_err(|error| Error::message(format!("{error}, or auto")).with_source(error)),
        }
    }
}

impl Serialize for Negatives {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Auto => serializer.serialize_str(AUTO),
        }
    }
}

/// The loss of training steps.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Loss")]
pub struct LossOptions {
    /// Temperature τ
    #[arg(
        long,
        value_name = "TAU",
        value_parser = bounds::number_in(bounds::TEMPERATURE),
        default_value = TrainingSettings::default().temperature.to_string()
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Number of negatives K in the formulas. It makes K + 1 candidates; a batch may hold more or fewer. With auto, the
    /// number for training that the encoder's own AUC advises before an update, and the default for the exact risk
    #[arg(
        long,
        visible_alias = "k",
        alias = "K",
        value_name = "K|auto",
        default_value = TrainingSettings::default().negatives.to_string()
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negatives: Option<Negatives>,
    /// Course of K over the training: the peak in all steps (fixed), from 1 to it (up), from it to 1 (down), quickly up and
    /// slowly down (ans), or what is best at each evaluation (stagewise)
    #[arg(
        long,
        value_name = "COURSE",
        value_parser = choice::any::<NegativesSchedule>(),
        default_value = choice::name(&NegativesSchedule::default())
    )]
    pub negatives_schedule: NegativesSchedule,
    /// Peak K of the course. Without it, that of --negatives
    #[arg(
        long,
        value_name = "K",
        value_parser = bounds::number_in(bounds::NEGATIVES)
    )]
    pub negatives_peak: Option<f64>,
    /// Form of K in the loss: a factor of the mean over all noise samples of the batch (weighted), or the number of noise
    /// samples that each anchor draws from it (drawn)
    #[arg(
        long,
        value_name = "FORM",
        value_parser = choice::any::<NegativesForm>(),
        default_value = choice::name(&NegativesForm::default())
    )]
    pub negatives_form: NegativesForm,
}

/// Options of the loss that an encoder's file gives to a training of that encoder.
const OF_ENCODER: [&str; 2] = ["temperature", "negatives"];

/// Returns an option of the loss as a command takes it that trains the encoder in a file: without a default of its own.
pub fn inherited(option: Arg) -> Arg {
    if !OF_ENCODER.contains(&option.get_id().as_str()) {
        return option;
    }
    let help = option
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let default = option.get_default_values()[0]
        .to_string_lossy()
        .into_owned();
    option.default_value(None).help(format!(
        "{help}. Without it, that of the encoder's training, or {default} where its file does not say"
    ))
}

impl LossOptions {
    /// Returns the temperature.
    pub fn temperature(&self) -> f64 {
        let default = TrainingSettings::default().temperature;
        self.temperature.unwrap_or(default)
    }

    /// Returns the number of negatives.
    pub fn negatives(&self) -> Negatives {
        let default = TrainingSettings::default().negatives;
        self.negatives.unwrap_or(Negatives::Number(default))
    }

    /// Fills in the temperature and the number of negatives of an encoder's training, unless they were given. Reports
    /// what it fills in, and warns of a difference.
    pub fn inherit(&mut self, [temperature, negatives]: [Option<f64>; 2]) {
        if let Some(before) = temperature {
            match self.temperature {
                Some(found) if found != before => tell_different("temperature", found, before),
                Some(_) => {}
                None => tell_inherited("temperature", before, self.temperature()),
            }
        }
        if let Some(before) = negatives {
            match (self.negatives, self.negatives()) {
                (Some(Negatives::Number(found)), _) if found != before => {
                    tell_different("negatives", found, before);
                }
                (None, Negatives::Number(default)) => tell_inherited("negatives", before, default),
                _ => {}
            }
        }
        self.temperature = self
            .temperature
            .or(temperature)
            .or(Some(self.temperature()));
        let negatives = negatives.map(Negatives::Number);
        self.negatives = self.negatives.or(negatives).or(Some(self.negatives()));
    }

    /// Checks that at most one option sets the peak. `can_advise` says whether the command has an encoder that can
    /// advise it.
    ///
    /// # Errors
    /// If two options set it, or no encoder can advise it.
    pub fn check(&self, can_advise: bool) -> Result<(), Failure> {
        match (self.negatives(), self.negatives_peak) {
            (Negatives::Auto, Some(peak)) => Err(Failure::input(anyhow!(
                "negatives-peak: found {peak} with --negatives auto, which finds the peak, expected one of them"
            ))),
            (Negatives::Auto, None) if !can_advise => Err(Failure::input(anyhow!(
                "negatives: found auto, expected a number: only icl update and icl run have an earlier encoder whose \
                 AUC advises one"
            ))),
            _ => Ok(()),
        }
    }

    /// Reports over which steps a course extends that depends on the number of steps.
    pub fn report_course(&self, epochs: usize, stop: StopRule) {
        use NegativesSchedule::{Ans, Down, Fixed, Stagewise, Up};
        let is_open = match self.negatives_schedule {
            Up | Down | Ans => stop != StopRule::Never,
            Fixed | Stagewise => false,
        };
        if is_open {
            tell(format_args!(
                "note: negatives-schedule: the course of {} extends over --epochs {epochs}; the rule {} may end the \
                 training before its end",
                choice::name(&self.negatives_schedule),
                choice::name(&stop)
            ));
        }
    }
}

/// Warns of a loss that is not that of the encoder's training.
fn tell_different(option: &str, found: f64, before: f64) {
    tell(format_args!(
        "warning: {option}: found {found}, and the encoder was trained with {before}: its risk before and after this \
         training is that of another loss"
    ));
}

/// Reports a value of the encoder's training where it is not the default.
fn tell_inherited(option: &str, before: f64, default: f64) {
    if before != default {
        tell(format_args!(
            "note: {option} {before}, as in the encoder's training"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_auto() {
        assert_eq!("16".parse(), Ok(Negatives::Number(16.0)));
        assert_eq!("auto".parse(), Ok(Negatives::Auto));
        let error = "many".parse::<Negatives>().unwrap_err().to_string();
        assert_eq!(error, "expected a number from 1e-9 to 1e9, or auto");
    }
}
