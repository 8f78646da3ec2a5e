//! The budget of an update.

use std::fmt;
use std::str::FromStr;

use anyhow::anyhow;
use clap::Args;
use icl_train::Start;
use serde::{Serialize, Serializer};

use crate::process::failure::Failure;

/// Share of the predicted cost of retraining to which an update is limited unless its options say otherwise.
const DEFAULT: UpdateBudget = UpdateBudget::Share(0.1);

/// Budget of an update.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Training")]
pub struct BudgetOptions {
    #[arg(
        long,
        value_name = "BUDGET",
        help = format!(
            "Charged cost that the update does not exceed: a share of what retraining would cost as the encoder's first \
             training did (25%), a number of passes (20000), minutes of this machine (10m), or none. Without it, \
             {DEFAULT}, or none for a method that starts from scratch"
        )
    )]
    #[serde(
        serialize_with = "as_text_if_given",
        skip_serializing_if = "Option::is_none"
    )]
    pub budget: Option<UpdateBudget>,
}

impl BudgetOptions {
    /// Fills in the budget of an update that starts from an encoder or from scratch.
    pub fn fill(&mut self, start: Start) -> UpdateBudget {
        *self.budget.get_or_insert(match start {
            Start::Scratch => UpdateBudget::None,
            _ => DEFAULT,
        })
    }

    /// Returns twice the budget.
    ///
    /// # Errors
    /// If there is none.
    pub fn doubled(&self) -> Result<Self, Failure> {
        let budget = match self.budget {
            Some(UpdateBudget::Share(share)) => UpdateBudget::Share(2.0 * share),
            Some(UpdateBudget::Passes(passes)) => UpdateBudget::Passes(2.0 * passes),
            Some(UpdateBudget::Minutes(minutes)) => UpdateBudget::Minutes(2.0 * minutes),
            None | Some(UpdateBudget::None) => {
                return Err(Failure::input(anyhow!(
                    "more: found an update without a budget, expected one that reached its budget"
                )));
            }
        };
        Ok(Self {
            budget: Some(budget),
        })
    }
}

fn as_text_if_given<S: Serializer>(
    budget: &Option<UpdateBudget>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match budget {
        Some(budget) => serializer.collect_str(budget),
        None => serializer.serialize_none(),
    }
}

/// Serializes budgets as their texts.
///
/// # Errors
/// Those of the serializer.
pub fn as_texts<S: Serializer>(budgets: &[UpdateBudget], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(budgets.iter().map(UpdateBudget::to_string))
}

/// Budget as it is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UpdateBudget {
    /// No budget: the stopping rule or the last epoch ends the update.
    None,
    /// Share of the predicted cost of retraining.
    Share(f64),
    /// Charged cost in full passes.
    Passes(f64),
    /// Minutes of this machine.
    Minutes(f64),
}

impl fmt::Display for UpdateBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            // Rounded to 10 decimals: a hundred times 0.07 is 7.000000000000001.
            Self::Share(share) => write!(f, "{}%", (1e12 * share).round() / 1e10),
            Self::Passes(passes) => write!(f, "{passes}"),
            Self::Minutes(minutes) => write!(f, "{minutes}m"),
        }
    }
}

impl FromStr for UpdateBudget {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let positive = |number: &str| {
            let number: f64 = number.parse().ok()?;
            (number.is_finite() && number > 0.0).then_some(number)
        };
        let read = match (text, text.strip_suffix('%'), text.strip_suffix('m')) {
            ("none", ..) => Some(Self::None),
            (_, Some(percent), _) => positive(percent).map(|it| Self::Share(it / 100.0)),
            (.., Some(minutes)) => positive(minutes).map(Self::Minutes),
            _ => positive(text).map(Self::Passes),
        };
        read.ok_or("expected a share of retraining such as 10%, passes such as 20000, minutes such as 10m, or none")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_budget_reads_what_it_writes() {
        for (text, expected) in [
            ("none", UpdateBudget::None),
            ("25%", UpdateBudget::Share(0.25)),
            ("0.5%", UpdateBudget::Share(0.005)),
            ("7%", UpdateBudget::Share(0.07)),
            ("29%", UpdateBudget::Share(0.29)),
            ("400%", UpdateBudget::Share(4.0)),
            ("20000", UpdateBudget::Passes(2e4)),
            ("1.5m", UpdateBudget::Minutes(1.5)),
        ] {
            assert_eq!(text.parse(), Ok(expected));
            assert_eq!(expected.to_string(), text);
        }
        for text in [
            "", "%", "m", "0", "-1", "0%", "NaN", "inf", "10 %x", "10h", "1e400",
        ] {
            assert!(text.parse::<UpdateBudget>().is_err(), "{text}");
        }
    }
}
