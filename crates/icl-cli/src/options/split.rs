//! Old and new data as a split of one data set.

use std::fmt::Display;

use clap::Args;
use icl_core::GrowthRatio;
use icl_data::Split;
use serde::{Serialize, Serializer};

use crate::process::failure::Failure;

/// Growth ratio of a split.
pub const ALPHA: f64 = 0.5;

/// A split of one data set.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct SplitOptions {
    #[arg(
        long,
        value_name = "ALPHA",
        help = format!(
            "Growth ratio α: share of the data that is new, from 0 to 1. Without it, {ALPHA}"
        )
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    /// Samples that are new: drawn at random (random), the largest (size), those of the last classes (class),
    /// all but those of the classes A and B (class:A,B), the rows of a table with the largest
    /// values in a column, which is then no feature (column:NAME), or the last interactions of all users (time)
    #[arg(long, value_name = "SPLIT", default_value_t = Split::Random)]
    #[serde(serialize_with = "as_text")]
    pub split: Split,
}

/// Serializes a value as its text.
///
/// # Errors
/// Those of the serializer.
pub fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

impl SplitOptions {
    /// Returns the growth ratio.
    ///
    /// # Errors
    /// If it is not from 0 to 1.
    pub fn growth_ratio(&self) -> Result<GrowthRatio, Failure> {
        GrowthRatio::try_new(self.alpha.unwrap_or(ALPHA)).map_err(Failure::input)
    }

    /// Fills in the growth ratio, for a split that it determines.
    pub fn fill(&mut self) {
        self.alpha.get_or_insert(ALPHA);
    }

    /// Returns whether the growth ratio has been given.
    pub fn has_growth_ratio(&self) -> bool {
        self.alpha.is_some()
    }
}
