//! The experiences of a stream, in the order in which they arrive, or after a restart arrived.

use std::path::PathBuf;

use anyhow::anyhow;
use icl_core::Increment;
use icl_train::StreamState;

use crate::commands::stream::experience::ExperienceRecord;
use crate::commands::stream::manifest;
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::options::Resolved;
use crate::commands::stream::provenance::changed;
use crate::commands::stream::watched::{Unread, Watched, together};
use crate::domain::data::Data;
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;

/// Origin of experiences that are read one by one.
#[derive(Debug)]
pub enum Source {
    /// One data set, which is divided.
    Divided(String),
    /// Manifest.
    Manifest(PathBuf),
    /// Folder in which they arrive.
    Watched(Box<Watched>),
}

impl Source {
    /// Returns the source that the options name.
    pub fn of(resolved: &Resolved) -> Self {
        let (options, data) = (&resolved.options.source, &resolved.options.data.name);
        match (&options.stream, &options.watch) {
            (Some(path), _) => Self::Manifest(path.clone()),
            (_, Some(folder)) => Self::Watched(Box::new(Watched::new(
                folder.clone(),
                options.settle(),
                options.once || resolved.options.course.dry_run,
                resolved.folder(),
            ))),
            _ => Self::Divided(data.to_owned()),
        }
    }

    /// Returns all experiences that a manifest names now; none for another source.
    ///
    /// # Errors
    /// If the manifest cannot be read, or does not begin with what the stream has gone through.
    pub fn listed(&self, state: &StreamState) -> Result<Vec<Listed>, Failure> {
        let Self::Manifest(path) = self else {
            return Ok(Vec::new());
        };
        let listed = manifest::read(path)?;
        let names: Vec<&str> = listed.iter().map(|it| &it.name[..]).collect();
        match state.next_of(&names) {
            Ok(_) => Ok(listed),
            Err(error) => Err(Failure::input(anyhow!("{}: {error}", path.display()))),
        }
    }

    /// Reads experience number `n` with `read`, which also returns the number of samples of each of its files. After
    /// a restart, experiences that have a record are read again from the same files. Returns the files, too; `None`
    /// if the experience has not arrived yet.
    ///
    /// # Errors
    /// If data cannot be read; but what cannot be used in a folder is left out.
    pub fn next<T>(
        &mut self,
        resolved: &Resolved,
        (n, record): (usize, Option<&ExperienceRecord>),
        state: &StreamState,
        mut read: impl FnMut(&[Listed]) -> Result<(T, Vec<usize>), Unread>,
    ) -> Result<Option<(Vec<Listed>, T)>, Failure> {
        let watched = match self {
            Self::Divided(_) => return Ok(None),
            Self::Manifest(_) => {
                let Some(next) = self.listed(state)?.into_iter().nth(n) else {
                    return Ok(None);
                };
                next.check_apart(resolved.folder())?;
                let parts = vec![next];
                let (value, _) = read(&parts).map_err(|(_, failure)| failure)?;
                return Ok(Some((parts, value)));
            }
            Self::Watched(watched) => watched,
        };
        let Some(record) = record else {
            let hold_out = resolved.options.course.measured.share();
            let fewest = Increment::fewest_to_hold_out(hold_out);
            return watched.take(|parts| together(read(parts), fewest));
        };
        let files = record.names_of_files();
        let parts: Vec<Listed> = files.iter().map(|it| watched.listed(it)).collect();
        let read = read(&parts).map_err(|(at, failure)| changed(&parts[at].data, n, failure));
        watched.mark_taken(&files);
        let (value, _) = read?;
        Ok(Some((parts, value)))
    }

    /// Waits for more experiences in a watched folder. Returns whether to look again.
    pub fn wait(&mut self) -> bool {
        match self {
            Self::Watched(watched) => watched.wait(),
            Self::Divided(_) | Self::Manifest(_) => false,
        }
    }

    /// Whether experiences may arrive while the command runs.
    pub fn is_watched(&self) -> bool {
        matches!(self, Self::Watched(_))
    }

    /// Returns the name for a record.
    pub fn name(&self) -> String {
        let path = match self {
            Self::Divided(data) => return data.clone(),
            Self::Manifest(path) => path,
            Self::Watched(watched) => watched.folder(),
        };
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// Reads the first experience of a stream, before anything is known of its kind, or the data that are divided, which
/// have no parts: that of the record, if there is one, or what comes first, for which it waits if `is_patient`.
/// `None` if nothing came.
///
/// # Errors
/// If data cannot be read, or something that a manifest lists is not apart from the folder of the stream.
pub fn read_first(
    source: &mut Source,
    resolved: &Resolved,
    record: Option<&ExperienceRecord>,
    is_patient: bool,
) -> Result<Option<(Vec<Listed>, Data)>, Failure> {
    let reading = &resolved.options.data.reading;
    if let Source::Divided(name) = source {
        return Ok(Some((Vec::new(), Data::read(name, reading)?)));
    }
    let state = StreamState::default();
    for listed in source.listed(&state)? {
        listed.check_apart(resolved.folder())?;
    }
    loop {
        let next = source.next(resolved, (0, record), &state, |it| merged(it, reading))?;
        if next.is_some() || !is_patient || !source.wait() {
            return Ok(next);
        }
    }
}

/// Reads data and appends them to the first; the number of samples of each, too.
fn merged(parts: &[Listed], reading: &ReadingOptions) -> Result<(Data, Vec<usize>), Unread> {
    let mut numbers = Vec::with_capacity(parts.len());
    let mut merged: Option<Data> = None;
    for (at, part) in parts.iter().enumerate() {
        let data = Data::read(&part.data, reading);
        let joined = data.and_then(|data| {
            numbers.push(data.n_samples());
            match merged.take() {
                None => Ok(data),
                Some(before) => before.append(data),
            }
        });
        merged = Some(joined.map_err(|failure| (at, failure))?);
    }
    Ok((merged.expect("an experience has data"), numbers))
}
