//! The uniform sample that stands for the old data of an update.

use std::path::PathBuf;

use anyhow::anyhow;
use icl_core::Increment;

use crate::domain::data::kept::{DATA, Kept};
use crate::domain::data::sources;
use crate::options::data::ReadingOptions;
use crate::options::output::text;
use crate::process::failure::Failure;

/// Sample that stands for the old data.
#[derive(Debug)]
pub struct OldSample {
    /// Number of old samples, N.
    pub n_old: usize,
    /// Folder of a sample that `icl keep` wrote, with its numbers.
    kept: Option<(PathBuf, Kept)>,
}

impl OldSample {
    /// Returns the sources of `--old-sample`, and the number of samples for which they stand by `--old-count` or `icl
    /// keep`; `None` without the option.
    ///
    /// # Errors
    /// If the number is missing, or is not that of the kept sample.
    pub fn of(
        samples: &[PathBuf],
        count: Option<usize>,
    ) -> Result<Option<(Vec<String>, Self)>, Failure> {
        let kept = match samples {
            [] => return Ok(None),
            [folder] => Kept::read(folder)?.map(|kept| (folder.clone(), kept)),
            several => {
                for folder in several {
                    if Kept::read(folder)?.is_some() {
                        return Err(Failure::input(anyhow!(
                            "old-sample: found {} among several, expected one sample that icl keep wrote, or data sets",
                            folder.display()
                        )));
                    }
                }
                None
            }
        };
        let sources = match &kept {
            None => sources("old-sample", samples)?,
            Some((folder, _)) => vec![text("old-sample", &folder.join(DATA))?.to_owned()],
        };
        let n_seen = kept.as_ref().map(|(_, kept)| kept.n_seen);
        let n_old = match (count, n_seen) {
            (Some(found), Some(expected)) if found != expected => {
                return Err(Failure::input(anyhow!(
                    "old-count: found {found}, expected {expected}, the number of samples that icl keep has seen, \
                     or no such option"
                )));
            }
            (Some(n), _) | (None, Some(n)) => n,
            (None, None) => {
                return Err(Failure::input(anyhow!(
                    "old-count: found none, expected the number of old samples for which {} stands",
                    sources.join(", ")
                )));
            }
        };
        Ok(Some((sources, Self { n_old, kept })))
    }

    /// Returns the options with which the sample is read.
    pub fn reading(&self, given: ReadingOptions) -> ReadingOptions {
        match &self.kept {
            None => given,
            Some((_, kept)) => kept.reading(&given),
        }
    }

    /// Lets the old samples of an increment stand for all.
    ///
    /// # Errors
    /// If there are more of them than they stand for, or other numbers than `icl keep` wrote.
    pub fn weigh(&self, increment: Increment) -> Result<Increment, Failure> {
        let n = increment.old().len();
        if let Some((folder, kept)) = &self.kept {
            kept.check("old-sample", folder, n)?;
        }
        if self.n_old < n {
            return Err(Failure::input(anyhow!(
                "old-count: found {}, expected at least {n}, the number of samples of --old-sample",
                self.n_old
            )));
        }
        increment
            .with_old_weight(self.n_old as f64 / n as f64)
            .map_err(Failure::input)
    }
}
