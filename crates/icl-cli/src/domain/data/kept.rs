//! A uniform sample that is kept of data, and stands for all of them.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::anyhow;
use icl_core::InputFile;
use icl_data::Header;
use icl_report::MadeBy;
use serde::{Deserialize, Serialize};

use crate::options::bounds;
use crate::options::classes::Classes;
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;

/// Name of the file of the numbers in the folder of a kept sample.
pub const KEPT: &str = "kept.json";
/// Name of the folder of the samples in it.
pub const DATA: &str = "data";
/// Name of the data set of the samples, however many days they are of.
pub const NAME: &str = "kept";
/// Version of the file's schema.
const SCHEMA: u32 = 1;
/// Size of the largest file that is read, in bytes: 16 MiB.
const MAX_BYTES: u64 = 16 << 20;

/// Numbers of a kept sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Version of the schema, 1.
    schema: u32,
    /// Command and version that wrote it.
    #[serde(flatten)]
    made_by: MadeBy,
    /// Largest number of samples to keep.
    pub size: usize,
    /// Number of samples that are kept.
    pub n_kept: usize,
    /// Number of samples that have come, for which the kept ones stand.
    pub n_seen: usize,
    /// Sources of the samples that have come, in their order.
    pub sources: Vec<Counted>,
    /// Kind of the first line of the table of the kept samples; `null` for other data.
    pub header: Option<Header>,
}

/// Data that have come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Names or paths.
    pub sources: Vec<String>,
    /// Number of samples.
    pub n_samples: usize,
}

impl Kept {
    /// Describes `n_kept` samples of all that have come from the sources.
    pub fn new(
        made_by: MadeBy,
        size: usize,
        n_kept: usize,
        sources: Vec<Counted>,
        header: Option<Header>,
    ) -> Self {
        Self {
            schema: SCHEMA,
            made_by,
            size,
            n_kept,
            n_seen: sources.iter().map(|it| it.n_samples).sum(),
            sources,
            header,
        }
    }

    /// Returns the options with which the kept samples are read, where data are read with `given`: a column that was
    /// excluded is absent, and a file of pairs of texts has these two columns alone.
    pub fn reading(&self, given: &ReadingOptions) -> ReadingOptions {
        let texts = given.texts.as_ref();
        ReadingOptions {
            header: self.header.unwrap_or(given.header),
            texts: texts.map(|_| Classes(["1", "2"].map(str::to_owned).to_vec())),
            allows_absent: true,
            ..given.clone()
        }
    }

    /// Reads the numbers of the kept sample in a folder; `None` where no `icl keep` wrote one.
    ///
    /// # Errors
    /// If the file cannot be read or is not valid.
    pub fn read(folder: &Path) -> Result<Option<Self>, Failure> {
        let path = folder.join(KEPT);
        let wrong = |found: String| {
            Failure::input(anyhow!(
                "{}: found {found}, expected the numbers of a sample that `icl keep` wrote",
                path.display()
            ))
        };
        let text = match InputFile::open(&path, MAX_BYTES).and_then(InputFile::text) {
            Ok(text) => text,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(wrong(format!("no readable file ({error})"))),
        };
        let kept: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        // The file may be damaged: its numbers must not overflow.
        let n_seen = kept.sources.iter();
        let n_seen = n_seen.fold(0_usize, |sum, it| sum.saturating_add(it.n_samples));
        let are_possible = kept.n_seen == n_seen
            && n_seen <= bounds::REPRESENTED
            && kept.n_kept >= 2
            && kept.n_kept == kept.size.min(n_seen);
        match kept.schema == SCHEMA && are_possible {
            true => Ok(Some(kept)),
            false => Err(wrong(format!(
                "schema {}, {} samples of {} (in the sources {n_seen}, at most {}) and a size of {}",
                kept.schema,
                kept.n_kept,
                kept.n_seen,
                bounds::REPRESENTED,
                kept.size
            ))),
        }
    }

    /// Checks that as many samples were read as are kept.
    ///
    /// # Errors
    /// If other numbers of them were. `option` named the folder.
    pub fn check(&self, option: &str, folder: &Path, n_read: usize) -> Result<(), Failure> {
        match n_read == self.n_kept {
            true => Ok(()),
            false => Err(Failure::input(anyhow!(
                "{option}: found {n_read} samples in {}, expected {}, as {} says; options that leave samples out \
                 do not fit a sample that stands for all",
                folder.join(DATA).display(),
                self.n_kept,
                folder.join(KEPT).display()
            ))),
        }
    }
}
