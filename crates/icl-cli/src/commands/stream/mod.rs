//! `icl stream`: updates an encoder as increments arrive, one after the other.

mod course;
mod dry_run;
mod folder;
mod gathered;
mod judge;
mod lane;
mod manifest;
mod measured;
mod options;
mod source;
mod step;
mod summary;

use std::path::Path;

use anyhow::anyhow;

use crate::backend::on_backend;
use crate::commands::stream::course::{Course, is_more};
use crate::commands::stream::dry_run::DryRun;
use crate::commands::stream::folder::StreamFolder;
use crate::commands::stream::gathered::{Arrived, Gathered, Held, divide};
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::options::Resolved;
use crate::commands::stream::source::Source;
use crate::domain::data::Data;
use crate::domain::dispatch::{
    OnNewEncoder, OnStoredEncoder, with_new_encoder_of, with_stored_encoder,
};
use crate::domain::encoder_file::EncoderFile;
use crate::domain::{Domain, tell_unlabelled};
use crate::process::failure::Failure;
use crate::process::interrupt;

pub use options::StreamOptions;

/// Goes through a stream, and writes a folder for each experience and a page.
///
/// # Errors
/// If an option, the encoder or data cannot be used, a training fails, or the stream is interrupted.
pub fn stream(options: StreamOptions) -> Result<(), Failure> {
    interrupt::watch()?;
    let resumed = options.resume.folder().map(StreamFolder::resume);
    let resumed = resumed.transpose()?;
    let resolved = options.resolve()?;
    let source = Source::of(&resolved.options.data.data, &resolved.options.source);
    if resolved.options.course.dry_run && dry_run::of_embeddings(&resolved, &source)? {
        return Ok(());
    }
    let Some((name, listed)) = first(&source, resolved.folder())? else {
        return Ok(());
    };
    let data = Data::read(&name, &resolved.options.data.reading)?;
    let work = Work {
        resolved: &resolved,
        source: &source,
        listed,
        resumed,
    };
    let outliers = resolved.options.data.reading.outliers;
    match &resolved.options.from.from {
        Some(path) => with_stored_encoder(path, [data], outliers, work),
        None if resolved.options.course.dry_run => Err(Failure::input(anyhow!(
            "from: found no encoder, expected one with --dry-run, which trains none"
        ))),
        None => {
            let options = &resolved.options;
            with_new_encoder_of(data, outliers, &options.encoder, &options.noise, work)
        }
    }
}

/// Returns the name of the data of the first experience, and what is listed of it; `None` if the command was interrupted before
/// any came. All that are listed are checked to be apart from the folder of the stream.
fn first(source: &Source, out: Option<&Path>) -> Result<Option<(String, Option<Listed>)>, Failure> {
    if let Source::Divided(data) = source {
        return Ok(Some((data.clone(), None)));
    }
    loop {
        let listed = source.listed(&[])?;
        listed.iter().try_for_each(|it| it.check_apart(out))?;
        if let Some(first) = listed.into_iter().next() {
            return Ok(Some((first.data.clone(), Some(first))));
        }
        if !is_more(source) {
            return Ok(None);
        }
    }
}

/// Stream whose first data have been read.
struct Work<'a> {
    resolved: &'a Resolved,
    source: &'a Source,
    /// First experience; `None` for data that are divided.
    listed: Option<Listed>,
    resumed: Option<StreamFolder>,
}

impl Work<'_> {
    fn run<D: Domain>(
        self,
        domain: &D,
        data: Held<'_, D::Data>,
        from: Option<&EncoderFile<D>>,
    ) -> Result<(), Failure> {
        let Self {
            resolved,
            source,
            listed,
            resumed,
        } = self;
        tell_unlabelled::<D>(&data);
        let (options, seed) = (&resolved.options, resolved.training.seed);
        let (experiences, held_out) = match (listed, options.source.split()) {
            (None, Some(split)) => (divide::<D>(&data, &split, seed)?, None),
            (None, None) => unreachable!("data are divided by a split"),
            (Some(first), _) => (vec![Arrived::first::<D>(&first, &data)], first.held_out),
        };
        let mut gathered = Gathered::new(Held::Borrowed(domain), data, experiences);
        if let Some(held_out) = held_out {
            gathered.hold_out_of_first(&held_out, &options.data.reading)?;
        }
        let course = Course {
            resolved,
            source,
            from,
            gathered,
            resumed,
        };
        let backend = &resolved.training.backend;
        match options.course.dry_run {
            true => on_backend(backend, DryRun(course)),
            false => on_backend(backend, course),
        }
    }
}

impl OnNewEncoder for Work<'_> {
    type Output = ();

    fn run<D: Domain>(self, domain: &D, data: &D::Data) -> Result<(), Failure> {
        Work::run(self, domain, Held::Borrowed(data), None)
    }
}

impl OnStoredEncoder<1> for Work<'_> {
    type Output = ();

    fn run<D: Domain>(self, encoder: &EncoderFile<D>, [data]: [D::Data; 1]) -> Result<(), Failure> {
        encoder.check_data(&data)?;
        Work::run(self, &encoder.domain, Held::Owned(data), Some(encoder))
    }
}
