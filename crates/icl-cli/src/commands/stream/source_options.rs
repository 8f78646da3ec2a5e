//! The options of the origin of experiences.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use clap::{ArgAction, Args};
use icl_data::StreamSplit;
use serde::{Serialize, Serializer};

use crate::process::failure::Failure;

/// Default of `--settle`, in seconds: longer than the pauses of a program that writes, and short compared with an update.
const SETTLE: f64 = 5.0;
/// Largest `--settle`, in seconds: a day.
const MAX_SETTLE: f64 = 86_400.0;

/// Origin of the experiences next to a data set: a division of it, a manifest, or a folder.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct SourceOptions {
    /// Division of --data: data:T, size:T, class:T, time:COLUMN, time:COLUMN:T, blurred:T:SHARE, imbalanced:T:RATIO or
    /// concurrent:T:N, each into T experiences
    #[arg(long)]
    #[serde(serialize_with = "as_text_if_any")]
    pub split: Option<StreamSplit>,
    /// Manifest of the experiences
    #[arg(long, value_name = "FILE.toml")]
    pub stream: Option<PathBuf>,
    /// Folder in which experiences arrive, each a file or a folder. Of several new ones, the order is that of their
    /// names. The command waits for more until it is interrupted. Files that are no data are skipped, and data that
    /// cannot be used are listed in rejected.jsonl
    #[arg(long, value_name = "DIR")]
    pub watch: Option<PathBuf>,
    #[arg(
        long,
        value_name = "SECONDS",
        help = format!("With --watch: time for which a file must not change before it is read. Without it, {SETTLE}")
    )]
    settle: Option<f64>,
    /// With --watch: read what is there now, then exit
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set
    )]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

fn as_text_if_any<S: Serializer>(
    split: &Option<StreamSplit>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    split
        .as_ref()
        .map(ToString::to_string)
        .serialize(serializer)
}

impl SourceOptions {
    /// Returns the time for which an entry of a folder must not change before it is read.
    pub fn settle(&self) -> Duration {
        Duration::from_secs_f64(self.settle.unwrap_or(SETTLE))
    }

    /// Checks that there is one source, and that the options of a folder come with one.
    ///
    /// # Errors
    /// If that is not so.
    pub fn check(&self, data: &str) -> Result<(), Failure> {
        if let Some(found) = self.settle.filter(|it| !(0.0..=MAX_SETTLE).contains(it)) {
            return Err(Failure::input(anyhow!(
                "settle: found {found}, expected seconds from 0 to {MAX_SETTLE}"
            )));
        }
        let of_folder = [("settle", self.settle.is_some()), ("once", self.once)];
        if let Some((name, _)) = of_folder.iter().find(|it| it.1 && self.watch.is_none()) {
            return Err(Failure::input(anyhow!(
                "{name}: found it without --watch, expected it with --watch only"
            )));
        }
        let named = [
            ("--data", !data.is_empty()),
            ("--stream", self.stream.is_some()),
            ("--watch", self.watch.is_some()),
        ];
        let named: Vec<&str> = named
            .iter()
            .filter(|(_, is_named)| *is_named)
            .map(|it| it.0)
            .collect();
        match (&named[..], &self.split) {
            (["--data"], Some(_)) | (["--stream" | "--watch"], None) => Ok(()),
            (["--data"], None) => Err(Failure::input(anyhow!(
                "split: found none for {data}, expected a division into experiences, such as --split data:5"
            ))),
            ([], _) => Err(Failure::input(anyhow!(
                "stream: found no experiences, expected --data with --split, --stream or --watch"
            ))),
            ([one], Some(_)) => Err(Failure::input(anyhow!(
                "split: found it with {one}, expected it with --data only"
            ))),
            (several, _) => Err(Failure::input(anyhow!(
                "stream: found {}, expected one of them",
                several.join(" and ")
            ))),
        }
    }
}
