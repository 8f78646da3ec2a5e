//! The samples of a stream so far, as one data set.

use std::ops::Deref;

use anyhow::anyhow;
use icl_core::{Samples, Seed};
use icl_data::{Found, Outliers, Split, StreamKey, StreamSplit};
use icl_train::Arriving;

use crate::commands::stream::manifest::Listed;
use crate::domain::Domain;
use crate::domain::data::Data;
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
    /// Checksum of its data, by which they are recognised.
    pub checksum: String,
}

impl Arrived {
    /// Returns the first experience, which has all samples of the data.
    pub fn first<D: Domain>(listed: &Listed, data: &D::Data) -> Self {
        Self {
            name: listed.name.clone(),
            arrived: listed.arrived.clone(),
            samples: (0..data.n_samples()).collect(),
            held_out: None,
            n_clipped: D::n_clipped(data),
            checksum: D::checksum(data),
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
    let keys = D::stream_keys(data, &split.key())?;
    let parts = split
        .experiences(&keys, Seed::new(seed).child("data"))
        .map_err(|error| {
            Failure::input(anyhow!("data set {}: {error}", Found::new(D::name(data))))
        })?;
    let checksum = D::checksum(data);
    let experience = |(at, samples): (usize, Vec<usize>)| Arrived {
        name: (at + 1).to_string(),
        arrived: None,
        samples,
        held_out: None,
        // Values are clipped when the whole is divided.
        n_clipped: 0,
        checksum: checksum.clone(),
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

impl<'a, D: Domain> Gathered<'a, D> {
    /// Begins with the data of some experiences.
    pub fn new(domain: Held<'a, D>, data: Held<'a, D::Data>, experiences: Vec<Arrived>) -> Self {
        Self {
            domain,
            data,
            experiences,
        }
    }

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

    /// Returns the number of the samples.
    pub fn n_samples(&self) -> usize {
        self.data.n_samples()
    }

    /// Adds data on which the first experience is measured.
    ///
    /// # Errors
    /// As those of [`read`](Self::read).
    pub fn hold_out_of_first(
        &mut self,
        data: &str,
        reading: &ReadingOptions,
    ) -> Result<(), Failure> {
        let (samples, ..) = self.add(data, reading)?;
        self.experiences[0].held_out = Some(samples);
        Ok(())
    }

    /// Reads the next experience, whose samples follow those before.
    ///
    /// # Errors
    /// If its data cannot be read, are of another kind, or do not fit those before.
    pub fn read(&mut self, listed: &Listed, reading: &ReadingOptions) -> Result<(), Failure> {
        let (samples, n_clipped, checksum) = self.add(&listed.data, reading)?;
        let held_out = match &listed.held_out {
            None => None,
            Some(data) => Some(self.add(data, reading)?.0),
        };
        if let Some(grown) = self.domain.grown(&self.data) {
            self.domain = Held::Owned(grown);
        }
        self.experiences.push(Arrived {
            name: listed.name.clone(),
            arrived: listed.arrived.clone(),
            samples,
            held_out,
            n_clipped,
            checksum,
        });
        Ok(())
    }

    /// Adds a data set; the numbers of its samples, the number of its values that were clipped, and its checksum.
    fn add(
        &mut self,
        data: &str,
        reading: &ReadingOptions,
    ) -> Result<(Vec<usize>, usize, String), Failure> {
        // Columns that options name may be in other experiences alone.
        let reading = ReadingOptions {
            allows_absent: true,
            ..reading.clone()
        };
        let new = taken(&*self.domain, data, &reading)?;
        if D::has_labels(&self.data) && !D::has_labels(&new) {
            tell(format_args!(
                "note: {data}: it has no labels; without them accuracies are measured no longer"
            ));
        }
        let (n_clipped, checksum) = (D::n_clipped(&new), D::checksum(&new));
        let n_before = self.n_samples();
        let (joined, increment) = D::join(&self.data, &new)?;
        if !increment.old().iter().copied().eq(0..n_before) {
            return Err(Failure::input(anyhow!(
                "{data}: found samples that come before those of earlier experiences, expected later ones"
            )));
        }
        self.data = Held::Owned(joined);
        Ok((increment.new_data().to_vec(), n_clipped, checksum))
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
    domain.taken(read, reading.outliers)?.ok_or_else(|| {
        Failure::input(anyhow!(
            "{data}: found {kind}, expected {}, as the first experience has them",
            D::SAMPLES
        ))
    })
}
