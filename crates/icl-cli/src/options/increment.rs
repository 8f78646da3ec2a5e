//! Old and new data: as two data sets, or as a split of one.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::anyhow;
use clap::{Arg, Args};
use icl_core::GrowthRatio;
use icl_data::Split;
use serde::Serialize;

use crate::options::data::{Classes, ReadingOptions};
use crate::process::failure::Failure;

/// Growth ratio of a split.
const ALPHA: f64 = 0.5;

/// The share of the data that is new.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct GrowthOption {
    /// Growth ratio α: share of the data that is new, from 0 to 1
    #[arg(long, value_name = "ALPHA")]
    pub alpha: Option<f64>,
}

/// A split of one data set.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data", mut_args(refined))]
pub struct SplitOptions {
    #[command(flatten)]
    #[serde(flatten)]
    growth: GrowthOption,
    #[command(flatten)]
    #[serde(flatten)]
    split: SplitOption,
}

/// The division of one data set.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct SplitOption {
    /// Samples that are new: drawn at random (random), the largest (size), those of the last classes (class),
    /// all but those of the classes A and B (class:A,B, whatever α is), the rows of a table with the largest
    /// values in a column, which is then no feature (column:NAME), or the last interactions of all users (time)
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<String>,
}

/// Returns a parser of texts that are those of a value.
pub fn text_of<T>() -> impl Fn(&str) -> Result<String, T::Err> + Clone + Send + Sync + 'static
where
    T: FromStr + Display + 'static,
{
    |text| Ok(text.parse::<T>()?.to_string())
}

/// Returns the growth ratio as a split takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "alpha" => option.default_value(ALPHA.to_string()),
        "split" => option
            .value_parser(text_of::<Split>())
            .default_value(Split::Random.to_string()),
        _ => option,
    }
}

impl SplitOptions {
    /// Returns the growth ratio.
    ///
    /// # Errors
    /// If it is not from 0 to 1.
    pub fn growth_ratio(&self) -> Result<GrowthRatio, Failure> {
        GrowthRatio::try_new(self.growth.alpha.unwrap_or(ALPHA)).map_err(Failure::input)
    }

    /// Returns the split.
    pub fn split(&self) -> Split {
        let text = self.split.split.as_deref().unwrap_or_default();
        text.parse().unwrap_or(Split::Random)
    }
}

/// Old and new data.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct OldNewOptions {
    /// Old data, on which the encoder was trained
    #[arg(long)]
    pub old: PathBuf,
    /// New data, which have arrived since
    #[arg(long)]
    pub new: PathBuf,
}

/// Classes of the old and of the new data.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct OldNewClassesOptions {
    /// Use only these classes of the old data, comma-separated, so that old and new data may come from one data
    /// set
    #[arg(long, value_name = "NAMES")]
    pub old_classes: Option<Classes>,
    /// Use only these classes of the new data, comma-separated
    #[arg(long, value_name = "NAMES")]
    pub new_classes: Option<Classes>,
}

impl OldNewClassesOptions {
    /// Returns the options of the readers of the old and of the new data.
    ///
    /// # Errors
    /// If classes are given twice.
    pub fn over(&self, reading: &ReadingOptions) -> Result<[ReadingOptions; 2], Failure> {
        let of = |option: &str, classes: &Option<Classes>| {
            if classes.is_some() && reading.classes.is_some() {
                return Err(Failure::input(anyhow!(
                    "{option}: found it with --classes, expected one of the two"
                )));
            }
            Ok(ReadingOptions {
                classes: classes.clone().or_else(|| reading.classes.clone()),
                ..reading.clone()
            })
        };
        Ok([
            of("old-classes", &self.old_classes)?,
            of("new-classes", &self.new_classes)?,
        ])
    }
}
