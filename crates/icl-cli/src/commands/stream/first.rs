//! The first experience of a stream, read before anything is known of its kind.

use std::path::Path;

use crate::commands::stream::course::changed;
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::source::Source;
use crate::commands::stream::step::StepRecord;
use crate::commands::stream::watched::{Unread, together};
use crate::domain::data::Data;
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;

/// Data of the first experience, or a data set that is divided.
pub struct First {
    /// The experience; `None` for data that are divided.
    pub listed: Option<Listed>,
    /// Names of the files of a folder that are its data.
    pub files: Vec<String>,
    /// The data.
    pub data: Data,
}

impl First {
    /// Reads the first experience: that of the record `step`, if there is one, or what comes first with `fewest`
    /// samples, for which it waits if `is_patient`. `None` if nothing came. All that a manifest lists is checked to
    /// be apart from the folder of the stream.
    ///
    /// # Errors
    /// If data cannot be read, or are not apart; but what cannot be used in a folder is left out.
    pub fn read(
        source: &mut Source,
        reading: &ReadingOptions,
        out: Option<&Path>,
        step: Option<&StepRecord>,
        (fewest, is_patient): (usize, bool),
    ) -> Result<Option<Self>, Failure> {
        let of = |listed: Listed, files, data| First {
            listed: Some(listed),
            files,
            data,
        };
        let watched = match source {
            Source::Divided(name) => {
                let data = Data::read(name, reading)?;
                return Ok(Some(Self {
                    listed: None,
                    files: Vec::new(),
                    data,
                }));
            }
            Source::Manifest(_) => {
                let listed = source.listed([])?;
                listed.iter().try_for_each(|it| it.check_apart(out))?;
                let Some(first) = listed.into_iter().next() else {
                    return Ok(None);
                };
                let data = Data::read(&first.data, reading)?;
                return Ok(Some(of(first, Vec::new(), data)));
            }
            Source::Watched(watched) => watched,
        };
        if let Some(step) = step {
            let files = step.names_of_files();
            let parts: Vec<Listed> = files.iter().map(|it| watched.listed(it)).collect();
            let read = merged(&parts, reading);
            let (data, _) = read.map_err(|(at, failure)| changed(&parts[at].data, 0, failure))?;
            watched.mark_taken(&files);
            return Ok(Some(of(watched.listed(&files[0]), files, data)));
        }
        loop {
            let taken = watched.take(|parts| together(merged(parts, reading), fewest))?;
            if let Some((files, data)) = taken {
                return Ok(Some(of(watched.listed(&files[0]), files, data)));
            }
            if !is_patient || !watched.wait() {
                return Ok(None);
            }
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
