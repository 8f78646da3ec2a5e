//! The samples of a stream so far, as one data set.

use std::ops::Deref;

use anyhow::anyhow;
use icl_core::{Samples, Seed};
use icl_data::{Found, Outliers, Split, StreamKey, StreamSplit};
use icl_train::Arriving;

use crate::commands::stream::manifest::Listed;
use crate::commands::stream::watched::Unread;
use crate::domain::Domain;
use crate::domain::data::{Data, DataSet};
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Experience whose samples have been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// Name.
    pub name: String,
    /// Moment of its arrival, as the manifest has it.
    pub arrived: Option<String>,
    /// Samples, as numbers in the gathered data.
    pub samples: Vec<usize>,
    /// Other samples on which it is measured.
    pub held_out: Option<Vec<usize>>,
    /// Number of values of its data that were clipped.
    pub n_clipped: usize,
    /// Checksum of its data, by which they are recognised: of data that were merged, those of all, joined by `+`.
    pub checksum: String,
    /// Names of the files that were merged into it, if there are several.
    pub files: Vec<String>,
}

impl Arrived {
    /// Returns the first experience, which has all samples of the data.
    pub fn first<D: Domain>(listed: &Listed, files: Vec<String>, data: &D::Data) -> Self {
        Self {
            name: listed.name.clone(),
            arrived: listed.arrived.clone(),
            samples: (0..data.n_samples()).collect(),
            held_out: None,
            n_clipped: data.n_clipped(),
            checksum: data.checksum(),
            files,
        }
    }

    /// Returns the names of its files in a folder that is watched.
    pub fn names_of_files(&self) -> Vec<String> {
        match self.files.is_empty() {
            true => vec![self.name.clone()],
            false => self.files.clone(),
        }
    }

    /// Returns the experience as a stream takes it.
    pub fn arriving(&self) -> Arriving<'_> {
        Arriving {
            name: &self.name,
            samples: self.samples.clone(),
            held_out: self.held_out.clone(),
        }
    }
}

/// Value of the caller, or one that has taken its place.
pub enum Held<'a, T> {
    Borrowed(&'a T),
    Owned(T),
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }
}

/// Data of all experiences that have been read, with everything that is estimated from data estimated from the first.
pub struct Gathered<'a, D: Domain> {
    /// Configuration of views and encoder, grown to the data.
    pub domain: Held<'a, D>,
    /// The data.
    pub data: Held<'a, D::Data>,
    /// The experiences.
    pub experiences: Vec<Arrived>,
}

/// Returns the experiences of one data set that is divided.
///
/// # Errors
/// If the data do not have what the division needs, or it gives no such experiences.
pub fn divide<D: Domain>(
    data: &D::Data,
    split: &StreamSplit,
    seed: u64,
) -> Result<Vec<Arrived>, Failure> {
    let keys = data.stream_keys(&split.key())?;
    let parts = split
        .experiences(&keys, Seed::new(seed).child("data"))
        .map_err(|error| {
            Failure::input(anyhow!("data set {}: {error}", Found::new(data.name())))
        })?;
    let checksum = data.checksum();
    let experience = |(at, samples): (usize, Vec<usize>)| Arrived {
        name: (at + 1).to_string(),
        arrived: None,
        samples,
        held_out: None,
        // Values are clipped when the whole is divided.
        n_clipped: 0,
        checksum: checksum.clone(),
        files: Vec::new(),
    };
    Ok(parts.into_iter().enumerate().map(experience).collect())
}

/// Returns the split of two parts whose statistics are estimated as in this division.
pub fn like(split: Option<&StreamSplit>) -> Split {
    match split.map(StreamSplit::key) {
        Some(StreamKey::Column(name)) => Split::Column(name),
        _ => Split::Random,
    }
}

impl<D: Domain> Gathered<'_, D> {
    /// Estimates what is estimated from data from the samples `first` alone. An encoder that was trained elsewhere keeps what was
    /// estimated for it, but for features that rest on statistics of the data.
    ///
    /// # Errors
    /// If these samples do not suffice.
    pub fn estimate(
        &mut self,
        first: &[usize],
        is_new: bool,
        split: &Split,
        outliers: Outliers,
    ) -> Result<(), Failure> {
        let estimated = match is_new {
            true => self.domain.refitted(&self.data, split, first)?,
            false => self.domain.standardized(&self.data, first, outliers)?,
        };
        if let Some((domain, data)) = estimated {
            self.domain = Held::Owned(domain);
            self.data = Held::Owned(data);
        }
        Ok(())
    }

    /// Adds data on which the first experience is measured.
    ///
    /// # Errors
    /// If they cannot be read, are of another kind, or do not fit those before.
    pub fn hold_out_of_first(
        &mut self,
        data: &str,
        reading: &ReadingOptions,
    ) -> Result<(), Failure> {
        let mut added = Added::<D>::default();
        let samples = self.add(&mut added, data, reading)?;
        self.data = Held::Owned(added.data.expect("data were added"));
        self.experiences[0].held_out = Some(samples);
        Ok(())
    }

    /// Reads the next experience, whose samples follow those before: that of a manifest, or entries of a folder that
    /// are merged. Nothing changes until it is [added](Self::push). Also returns the number of samples of each part.
    ///
    /// # Errors
    /// If data cannot be read, are of another kind, or do not fit those before; with their place among the parts.
    pub fn read(
        &self,
        parts: &[Listed],
        reading: &ReadingOptions,
    ) -> Result<(Next<D>, Vec<usize>), Unread> {
        let mut added = Added::default();
        let mut numbers = Vec::new();
        let mut samples = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let of_part = self.add(&mut added, &part.data, reading);
            let of_part = of_part.map_err(|failure| (at, failure))?;
            numbers.push(of_part.len());
            samples.extend(of_part);
        }
        let (first, checksum) = (&parts[0], added.checksums.join("+"));
        let n_clipped = added.n_clipped;
        let held_out = match &first.held_out {
            None => None,
            Some(data) => {
                let held_out = self.add(&mut added, data, reading);
                Some(held_out.map_err(|failure| (0, failure))?)
            }
        };
        let names = parts.iter().map(|it| it.name.clone());
        let next = Next {
            data: added.data.expect("an experience has data"),
            arrived: Arrived {
                name: first.name.clone(),
                arrived: first.arrived.clone(),
                samples,
                held_out,
                n_clipped,
                checksum,
                files: names.filter(|_| parts.len() > 1).collect(),
            },
        };
        Ok((next, numbers))
    }

    /// Adds the next experience.
    pub fn push(&mut self, next: Next<D>) {
        self.data = Held::Owned(next.data);
        if let Some(grown) = self.domain.grown(&self.data) {
            self.domain = Held::Owned(grown);
        }
        self.experiences.push(next.arrived);
    }

    /// Reads a data set, and appends it to what is there and what was added before; the numbers of its samples.
    fn add(
        &self,
        added: &mut Added<D>,
        data: &str,
        reading: &ReadingOptions,
    ) -> Result<Vec<usize>, Failure> {
        // Columns that options name may be in other experiences alone.
        let reading = ReadingOptions {
            allows_absent: true,
            ..reading.clone()
        };
        let new = taken(&*self.domain, data, &reading)?;
        added.n_clipped += new.n_clipped();
        added.checksums.push(new.checksum());
        let before = added.data.as_ref().unwrap_or(&self.data);
        if before.has_labels() && !new.has_labels() {
            tell(format_args!(
                "note: {data}: it has no labels; without them accuracies are measured no longer"
            ));
        }
        let n_before = before.n_samples();
        let (joined, [old, new]) = before.append(&new)?;
        if !old.into_iter().eq(0..n_before) {
            return Err(Failure::input(anyhow!(
                "{data}: found samples that come before those of earlier experiences, expected later ones"
            )));
        }
        added.data = Some(joined);
        Ok(new)
    }
}

/// Experience that has been read, with the data of all up to it.
pub struct Next<D: Domain> {
    data: D::Data,
    arrived: Arrived,
}

/// Data of all experiences with what was appended to them.
struct Added<D: Domain> {
    data: Option<D::Data>,
    n_clipped: usize,
    checksums: Vec<String>,
}

impl<D: Domain> Default for Added<D> {
    fn default() -> Self {
        Self {
            data: None,
            n_clipped: 0,
            checksums: Vec::new(),
        }
    }
}

/// Reads a data set as the encoder takes it.
///
/// # Errors
/// If it cannot be read, or is of another kind.
pub fn taken<D: Domain>(
    domain: &D,
    data: &str,
    reading: &ReadingOptions,
) -> Result<D::Data, Failure> {
    let read = Data::read(data, reading)?;
    let kind = read.kind();
    domain.prepared(read, reading.outliers)?.ok_or_else(|| {
        Failure::input(anyhow!(
            "{data}: found {kind}, expected {}, as the first experience has them",
            <D::Data as DataSet>::SAMPLES
        ))
    })
}
