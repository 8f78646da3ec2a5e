//! Origin of an encoder: its training, and those of the encoders before it.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use icl_core::Error;
use serde::{Deserialize, Serialize};

/// Version of Burn that this crate is built with.
pub const BURN_VERSION: &str = "0.21.0";

/// Training of an encoder: when, by which command, on which data and at what cost.
///
/// [`StoredEncoder::origin`](crate::StoredEncoder::origin) reads it from the file of an encoder. A training by other
/// programs writes whatever it knows; `command` is free text.
///
/// ```
/// use icl_models::{BURN_VERSION, DataOrigin, Origin, SamplesDigest};
///
/// let yesterday = DataOrigin::new("old", "orders.csv", [3, 8, 5]);
/// let today = DataOrigin::new("new", "orders-27.csv", [1]);
/// let origin = Origin {
///     version: "my-trainer 1.0".to_owned(),
///     burn: BURN_VERSION.to_owned(),
///     date: "2026-11-27".to_owned(),
///     command: "my-trainer --daily".to_owned(),
///     seed: 0,
///     passes: 960.0,
///     data: vec![yesterday, today],
/// };
/// // Of all four samples, in whichever order they are read.
/// assert_eq!(origin.samples(), (4, SamplesDigest::of([8, 1, 3, 5])));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Program that trained the encoder, with its version.
    pub version: String,
    /// Version of Burn.
    pub burn: String,
    /// Day of the training (UTC), as `2026-11-27`. The day alone: the same training on one day gives the same file.
    pub date: String,
    /// Command, with all options that differ from their defaults, except those of its output.
    pub command: String,
    /// Root seed.
    pub seed: u64,
    /// Charged cost of the training, in full passes of a view through the encoder.
    pub passes: f64,
    /// Data of the training, held-out samples included.
    pub data: Vec<DataOrigin>,
}

impl Origin {
    /// Returns the number of samples that the training represents. A part that is a uniform sample counts as all the
    /// samples from which it was drawn.
    pub fn n_represented(&self) -> usize {
        let parts = self.data.iter();
        parts
            .map(|part| part.stands_for.unwrap_or(part.n_samples))
            .sum()
    }

    /// Returns the number of samples of all data of the training together, and their digest.
    pub fn samples(&self) -> (usize, SamplesDigest) {
        let parts = self.data.iter();
        parts.fold((0, SamplesDigest::default()), |(n, digest), part| {
            (n + part.n_samples, digest.with(part.digest))
        })
    }
}

/// Part of the data of a training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataOrigin {
    /// Role in the training: `all`, or `old` and `new`.
    pub part: String,
    /// Name of the data set, or its path.
    pub name: String,
    /// Number of samples.
    pub n_samples: usize,
    /// Digest of the samples.
    pub digest: SamplesDigest,
    /// Number of samples from which these were drawn uniformly, if they represent them; else `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<usize>,
    /// Paths or names from which they can be read again; empty in the record of a [parent](Parent).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

impl DataOrigin {
    /// Describes data of a name in a role, by the hashes of the contents of their samples.
    pub fn new(part: &str, name: &str, contents: impl IntoIterator<Item = u64>) -> Self {
        let mut n_samples = 0;
        let digest = SamplesDigest::of(contents.into_iter().inspect(|_| n_samples += 1));
        Self {
            part: part.to_owned(),
            name: name.to_owned(),
            n_samples,
            digest,
            stands_for: None,
            sources: Vec::new(),
        }
    }

    /// Adds the paths or names from which the samples can be read again.
    #[must_use]
    pub fn with_sources(mut self, sources: Vec<String>) -> Self {
        self.sources = sources;
        self
    }
}

/// Digest of samples: the sum of the hashes of their contents, modulo 2⁶⁴. Samples in any order, and in any number of
/// files, have the same digest. Prints and reads as 16 hexadecimal digits.
///
/// The program `icl` takes the hash of a sample from `ContentHash` of `icl-data`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SamplesDigest(u64);

impl SamplesDigest {
    /// Returns the digest of samples with these hashes.
    pub fn of(contents: impl IntoIterator<Item = u64>) -> Self {
        Self(contents.into_iter().fold(0, u64::wrapping_add))
    }

    /// Returns the digest of these samples and others together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl Display for SamplesDigest {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<SamplesDigest> for String {
    fn from(digest: SamplesDigest) -> Self {
        digest.to_string()
    }
}

impl FromStr for SamplesDigest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let is_hexadecimal = text.len() == 16 && text.bytes().all(|it| it.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16)
            .ok()
            .filter(|_| is_hexadecimal);
        number.map(Self).ok_or_else(|| {
            Error::message(format!("found {text:?}, expected 16 hexadecimal digits"))
        })
    }
}

impl TryFrom<String> for SamplesDigest {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

/// Earlier encoder that a later one replaced. As a rule the later one was trained from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parent {
    /// [Digest](crate::StoredEncoder::digest) of its file.
    pub digest: String,
    /// Its training; `None` if its file does not hold it.
    pub origin: Option<Origin>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_burn_is_that_of_the_lock_file() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        let Ok(lock) = std::fs::read_to_string(lock) else {
            println!("skipped: there is no Cargo.lock next to the workspace");
            return;
        };
        let expected = format!("name = \"burn\"\nversion = \"{BURN_VERSION}\"");
        assert!(lock.contains(&expected), "{expected}");
    }

    #[test]
    fn a_digest_is_that_of_the_samples_in_any_order() {
        let [a, b] = [u64::MAX - 3, 12];
        let digest = SamplesDigest::of([a, b]);
        assert_eq!(digest.to_string(), "0000000000000008");
        assert_eq!(digest, SamplesDigest::of([b]).with(SamplesDigest::of([a])));
        assert_eq!(digest.to_string().parse::<SamplesDigest>().unwrap(), digest);
        for wrong in ["", "8", "000000000000000g", "+000000000000008"] {
            assert!(wrong.parse::<SamplesDigest>().is_err(), "{wrong}");
        }
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(json, "\"0000000000000008\"");
        assert_eq!(
            serde_json::from_str::<SamplesDigest>(&json).unwrap(),
            digest
        );
    }
}
