//! `icl stream`: updates an encoder as increments arrive, one after the other.

mod arrived;
mod course;
mod current;
mod dry_run;
mod embedder;
mod entries;
mod experience;
mod folder;
mod gathered;
mod manifest;
mod measured;
mod options;
mod provenance;
mod rollback;
mod saved;
mod source;
mod source_options;
mod stamp;
mod strategy;
mod summary;
mod update;
mod watched;

use std::cell::Cell;
use std::slice;

use anyhow::anyhow;
use icl_data::DataError;
use icl_models::DataOrigin;

use crate::backend::on_backend;
use crate::commands::stream::course::Course;
use crate::commands::stream::dry_run::DryRun;
use crate::commands::stream::experience::ExperienceRecord;
use crate::commands::stream::folder::StreamFolder;
use crate::commands::stream::gathered::Gathered;
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::options::Resolved;
use crate::commands::stream::rollback::rollback;
use crate::commands::stream::source::{Source, read_first};
use crate::commands::stream::strategy::StrategyRun;
use crate::domain::Domain;
use crate::domain::data::tell_unlabelled;
use crate::domain::encoder_choice::{
    OnNewEncoder, OnStoredEncoder, with_new_encoder_of, with_stored_encoder,
};
use crate::domain::encoder_file::EncoderFile;
use crate::domain::task_labels::TaskFile;
use crate::process::failure::Failure;
use crate::process::interrupt;

pub use folder::MATRIX;
pub use options::StreamOptions;

/// Runs a stream, and writes a folder for each experience and a page. Returns the exit code.
///
/// # Errors
/// If an option, the encoder or data cannot be used, a training fails, or the stream is interrupted.
pub fn stream(mut options: StreamOptions) -> Result<u8, Failure> {
    if let (Some(last), Some(out)) = (options.rollback, &options.out) {
        return rollback(out, last).map(|()| 0);
    }
    interrupt::watch()?;
    let resumed = options.execution.resumed().map(StreamFolder::resume);
    let mut resumed = resumed.transpose()?;
    let records = resumed.as_ref().map(ExperienceRecord::all);
    let records = records.transpose()?.unwrap_or_default();
    let reading = slice::from_mut(&mut options.data.reading);
    let labels = TaskFile::open(options.task.task.as_deref(), reading)?;
    let resolved = options.resolve()?;
    let options = &resolved.options;
    let mut source = Source::of(&resolved);
    if options.course.dry_run && dry_run::of_embeddings(&resolved, &source)? {
        return Ok(0);
    }
    if let (Source::Watched(watched), Some(folder)) = (&mut source, &resumed)
        && let Some(at_work) = folder.at_work().filter(|it| it.at == records.len())
    {
        watched.resume_with(at_work.provenance.files);
    }
    let reading = &options.data.reading;
    let is_begun = Cell::new(resumed.is_some());
    let mut refused = None;
    loop {
        let is_patient = refused.is_none();
        let first = read_first(&mut source, &resolved, records.first(), is_patient)?;
        let Some((parts, data)) = first else {
            return match refused {
                _ if interrupt::requested() => Err(Failure::Interrupted(anyhow!(
                    "the stream was interrupted before any experience"
                ))),
                Some(failure) => Err(failure),
                None => Ok(0),
            };
        };
        let entries: Vec<String> = parts.iter().map(|it| it.name.clone()).collect();
        let work = Work {
            resolved: &resolved,
            labels: labels.as_ref(),
            source: &mut source,
            parts,
            resumed: resumed.take(),
            records: records.clone(),
            is_begun: &is_begun,
        };
        let done = match &options.from {
            Some(path) => with_stored_encoder(path, [data], reading.outliers, work),
            None if options.course.dry_run => {
                return Err(Failure::input(anyhow!(
                    "from: found no encoder, expected one with --dry-run, which trains none"
                )));
            }
            None => with_new_encoder_of(
                data,
                reading.outliers,
                &options.encoder,
                &options.noise,
                work,
            ),
        };
        match (done, &mut source) {
            (Err(failure @ Failure::Input(_)), Source::Watched(watched)) if !is_begun.get() => {
                // Any other error may be one of the options: it is reported if no other data can be used either.
                let is_of_data = failure.causes().any(|it| it.is::<DataError>());
                for name in &entries {
                    match is_of_data {
                        true => watched.refuse(name, &failure),
                        false => watched.set_aside(name, &failure),
                    }
                }
                if !is_of_data {
                    refused = refused.or(Some(failure));
                }
            }
            (done, _) => return done,
        }
    }
}

/// Stream whose first data have been read.
struct Work<'a> {
    resolved: &'a Resolved,
    /// File of labels, if there is one.
    labels: Option<&'a TaskFile>,
    source: &'a mut Source,
    /// Parts of the first experience; none for data that are divided.
    parts: Vec<Listed>,
    resumed: Option<StreamFolder>,
    /// Facts about the experiences that the folder holds.
    records: Vec<ExperienceRecord>,
    /// Whether the first experience has proved usable.
    is_begun: &'a Cell<bool>,
}

impl Work<'_> {
    fn run<D: Domain>(
        self,
        domain: &D,
        data: D::Data,
        from: Option<&EncoderFile<D>>,
    ) -> Result<u8, Failure> {
        let resolved = self.resolved;
        if self.labels.is_none() {
            tell_unlabelled(&data);
        }
        let gathered = Gathered::begin(domain, data, &self.parts, resolved)?;
        if let (Some(from), [first, ..], []) = (from, &gathered.experiences[..], &self.records[..])
        {
            let contents = first.contents.iter().copied();
            let first = DataOrigin::new("all", &first.name, contents);
            from.tell_other_data("the first experience", &first)?;
        }
        let course = Course {
            resolved,
            labels: self.labels,
            source: self.source,
            from,
            gathered,
            resumed: self.resumed,
            records: self.records,
            runs: StrategyRun::all(resolved),
            is_begun: self.is_begun,
        };
        let backend = &resolved.training.backend;
        match resolved.options.course.dry_run {
            true => on_backend(backend, DryRun(course)).map(|()| 0),
            false => on_backend(backend, course),
        }
    }
}

impl OnNewEncoder for Work<'_> {
    type Output = u8;

    fn run<D: Domain>(self, domain: &D, data: D::Data) -> Result<u8, Failure> {
        Work::run(self, domain, data, None)
    }
}

impl OnStoredEncoder<1> for Work<'_> {
    type Output = u8;

    fn run<D: Domain>(self, encoder: &EncoderFile<D>, [data]: [D::Data; 1]) -> Result<u8, Failure> {
        encoder.check_data(&data)?;
        let mut hold_out = self.resolved.options.course.measured.clone();
        hold_out.inherit(encoder.hold_out());
        Work::run(self, &encoder.domain, data, Some(encoder))
    }
}
