//! Origin of the data of an experience: a stream that continues needs them as they were.

use std::path::Path;

use anyhow::anyhow;
use serde::{Deserialize, Serialize};

use crate::process::failure::Failure;

/// Origin of the data of an experience, by which a stream that continues recognises them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Checksum: of data that were merged, those of all, joined by `+`.
    pub checksum: String,
    /// Names of the files of a folder that is watched which were merged, in the order in which they were read; none
    /// if it is the one of the experience's name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl Provenance {
    /// Returns the names of the files in a folder that is watched, of an experience of this name.
    pub fn names_of_files(&self, experience: &str) -> Vec<String> {
        match self.files.is_empty() {
            true => vec![experience.to_owned()],
            false => self.files.clone(),
        }
    }

    /// Returns the names of those of the files whose data have changed, by the checksum of the data that were found.
    pub fn changed_files(&self, experience: &str, found: &str) -> Vec<String> {
        let files = self.names_of_files(experience);
        let parts = found.split('+').zip(self.checksum.split('+'));
        let is_same: Vec<bool> = parts.map(|(a, b)| a == b).collect();
        // The first data are read as one.
        let is_other = |at: usize| is_same.len() < files.len() || !is_same[at];
        let others = files.iter().enumerate().filter(|(at, _)| is_other(*at));
        others.map(|it| it.1.clone()).collect()
    }
}

/// Returns the failure to find data of the experience `at` as they were when the stream took them.
pub fn changed(data: &str, at: usize, failure: Failure) -> Failure {
    let Failure::Input(error) = failure else {
        return failure;
    };
    let path = Path::new(data);
    // Names of experiences are no such paths.
    let found = match path.is_absolute() && !path.exists() {
        true => "found nothing, expected the data that the stream has read".to_owned(),
        false => format!("{error:#}"),
    };
    // Readers name the file, too.
    let found = found.strip_prefix(&format!("{data}: ")).unwrap_or(&found);
    Failure::Input(anyhow!(
        "experience {}, {data}: {found}; restore it as it was, and put new data under another name, or begin a new \
         stream with another --out",
        at + 1
    ))
}
