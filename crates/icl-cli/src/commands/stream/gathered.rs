//! The samples of a stream so far, as one data set.

use std::ops::Deref;

use anyhow::anyhow;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Samples, Seed};
use icl_data::{Found, Outliers, Split, StreamKey, StreamSplit};
use icl_train::{Stream, TrainingSettings, UpdateRule};

use crate::commands::stream::arrived::Arrived;
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::options::Resolved;
use crate::commands::stream::provenance::Provenance;
use crate::commands::stream::watched::Unread;
use crate::domain::Collated;
use crate::domain::Domain;
use crate::domain::data::{Data, DataSet};
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Value that the caller owns, or one that has replaced it.
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

/// Data of all experiences that have been read, by the statistics of the first one.
pub struct Gathered<'a, D: Domain> {
    /// Configuration of views and encoder, grown to the data.
    pub domain: Held<'a, D>,
    /// The data.
    pub data: D::Data,
    /// The experiences.
    pub experiences: Vec<Arrived>,
    /// Share of each that is held out.
    share: f64,
}

/// Returns the experiences of one data set that is divided.
///
/// # Errors
/// If the data do not have what the division needs, or it gives no such experiences.
fn divide<D: Domain>(
    data: &D::Data,
    split: &StreamSplit,
    (seed, share): (u64, f64),
) -> Result<Vec<Arrived>, Failure> {
    let keys = data.stream_keys(&split.key())?;
    let parts = split
        .experiences(&keys, Seed::new(seed).child("data"))
        .map_err(|error| {
            Failure::input(anyhow!("data set {}: {error}", Found::new(data.name())))
        })?;
    let checksum = data.checksum();
    let contents = data.contents()?;
    let experience = |(at, samples): (usize, Vec<usize>)| {
        let mut arrived = Arrived {
            name: (at + 1).to_string(),
            contents: samples.iter().map(|&sample| contents[sample]).collect(),
            samples,
            provenance: Provenance {
                checksum: checksum.clone(),
                files: Vec::new(),
            },
            // Values are clipped when the whole is divided.
            ..Arrived::default()
        };
        arrived.divide(share);
        arrived
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
    /// Begins with the data of the first experience, which consists of `parts`, or without parts with those of a data
    /// set that is divided into all experiences.
    ///
    /// # Errors
    /// If the data cannot be divided, or those on which the first experience is measured cannot be read or do not fit.
    pub fn begin(
        domain: &'a D,
        data: D::Data,
        parts: &[Listed],
        resolved: &Resolved,
    ) -> Result<Self, Failure> {
        let options = &resolved.options;
        let share = options.course.measured.share();
        let experiences = match (&options.source.split, parts) {
            (Some(split), []) => divide::<D>(&data, split, (resolved.training.seed, share))?,
            _ => {
                let mut first = Arrived::of(parts);
                first.samples = (0..data.n_samples()).collect();
                first.n_clipped = data.n_clipped();
                first.provenance.checksum = data.checksum();
                first.contents = data.contents()?;
                if parts.first().is_none_or(|it| it.held_out.is_none()) {
                    first.divide(share);
                }
                vec![first]
            }
        };
        let mut gathered = Self {
            domain: Held::Borrowed(domain),
            data,
            experiences,
            share,
        };
        if let Some(held_out) = parts.first().and_then(|it| it.held_out.as_ref()) {
            let (data, held_out) =
                gathered.append(&gathered.data, held_out, &options.data.reading)?;
            gathered.data = data;
            gathered.experiences[0].held_out = Some(held_out.samples);
        }
        Ok(gathered)
    }

    /// Returns the stream over these data that the options describe, of a strategy without a budget that keeps all.
    pub fn stream<B: AutodiffBackend>(
        &self,
        resolved: &Resolved,
    ) -> Stream<'_, B, D::Data, &D::Views, Collated<D::Collate>, UpdateRule> {
        let measured = &resolved.options.course.measured;
        let settings = resolved.training.settings.clone();
        Stream::new(&self.data, self.domain.views(), self.domain.collate())
            .settings(TrainingSettings {
                evaluation_samples: measured.evaluation_samples.max(settings.evaluation_samples),
                ..settings
            })
            .update_rule(resolved.options.pretraining.training.step.optimizer)
            .hold_out(measured.share())
            .evaluation_samples(measured.evaluation_samples)
            .seed(resolved.training.seed)
    }

    /// Estimates the statistics of the data from the samples `first` alone. An encoder that was trained elsewhere keeps
    /// those in its file; only what the file lacks is estimated.
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
            self.data = data;
            // The range of the values is that of the training samples now.
            if let [first] = &mut self.experiences[..] {
                first.n_clipped = self.data.n_clipped();
            }
        }
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
        let mut joined: Option<D::Data> = None;
        let mut append = |at: usize, name: &str| {
            let appended = self.append(joined.as_ref().unwrap_or(&self.data), name, reading);
            let (data, new) = appended.map_err(|failure| (at, failure))?;
            joined = Some(data);
            Ok::<Arrived, Unread>(new)
        };
        let mut arrived = Arrived::of(parts);
        let mut numbers = Vec::new();
        let mut checksums = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let new = append(at, &part.data)?;
            numbers.push(new.samples.len());
            arrived.samples.extend(new.samples);
            arrived.contents.extend(new.contents);
            arrived.n_clipped += new.n_clipped;
            checksums.push(new.provenance.checksum);
        }
        if let Some(data) = &parts[0].held_out {
            arrived.held_out = Some(append(0, data)?.samples);
        }
        arrived.divide(self.share);
        arrived.provenance.checksum = checksums.join("+");
        let data = joined.expect("an experience has data");
        Ok(((data, arrived), numbers))
    }

    /// Adds the next experience.
    pub fn push(&mut self, (data, arrived): Next<D>) {
        self.data = data;
        if let Some(grown) = self.domain.grown(&self.data) {
            self.domain = Held::Owned(grown);
        }
        self.experiences.push(arrived);
    }

    /// Reads a data set, and appends it to those before. Returns all, and what is known of the new ones, which have
    /// no name yet.
    fn append(
        &self,
        before: &D::Data,
        data: &str,
        reading: &ReadingOptions,
    ) -> Result<Next<D>, Failure> {
        // Columns that options name may be in other experiences alone.
        let reading = ReadingOptions {
            allows_absent: true,
            ..reading.clone()
        };
        let read = Data::read(data, &reading)?;
        let kind = read.kind();
        let new = self.domain.prepared(read, reading.outliers)?;
        let new = new.ok_or_else(|| {
            Failure::input(anyhow!(
                "{data}: found {kind}, expected {}, as the first experience has them",
                <D::Data as DataSet>::SAMPLES
            ))
        })?;
        if before.has_labels() && !new.has_labels() {
            tell(format_args!(
                "note: {data}: it has no labels; without them accuracies are measured no longer"
            ));
        }
        let (joined, [old, samples]) = before.append(&new)?;
        if !old.into_iter().eq(0..before.n_samples()) {
            return Err(Failure::input(anyhow!(
                "{data}: found samples that come before those of earlier experiences, expected later ones"
            )));
        }
        let arrived = Arrived {
            contents: new.contents_in(&joined, &samples)?,
            samples,
            n_clipped: new.n_clipped(),
            provenance: Provenance {
                checksum: new.checksum(),
                files: Vec::new(),
            },
            ..Arrived::default()
        };
        Ok((joined, arrived))
    }
}

/// Data of all experiences up to one that has been read, and this one.
pub type Next<D> = (<D as Domain>::Data, Arrived);
