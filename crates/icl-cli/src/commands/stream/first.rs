//! The first experience of a stream, read before anything is known of its kind.

use std::path::Path;

use icl_train::StreamState;

use crate::commands::stream::course::changed;
use crate::commands::stream::experience::ExperienceRecord;
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::source::Source;
use crate::commands::stream::watched::{Unread, together};
use crate::domain::data::Data;
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;

/// First experience of a stream, if it is read alone, the names of the files of a folder that are its data, and the data.
pub type FirstData = (Option<Listed>, Vec<String>, Data);

/// Reads the data of the first experience: that of `record`, if there is one, or what comes first with `fewest` samples, for
/// which it waits if `is_patient`; or a data set that is divided. `None` if nothing came. All that a manifest lists is checked
/// to be apart from the folder of the stream.
///
/// # Errors
/// If data cannot be read, or are not apart; but what cannot be used in a folder is left out.
pub fn read_first(
    source: &mut Source,
    reading: &ReadingOptions,
    out: Option<&Path>,
    record: Option<&ExperienceRecord>,
    (fewest, is_patient): (usize, bool),
) -> Result<Option<FirstData>, Failure> {
    let watched = match source {
        Source::Divided(name) => {
            return Ok(Some((None, Vec::new(), Data::read(name, reading)?)));
        }
        Source::Manifest(_) => {
            let listed = source.listed(&StreamState::default())?;
            listed.iter().try_for_each(|it| it.check_apart(out))?;
            let Some(first) = listed.into_iter().next() else {
                return Ok(None);
            };
            let data = Data::read(&first.data, reading)?;
            return Ok(Some((Some(first), Vec::new(), data)));
        }
        Source::Watched(watched) => watched,
    };
    if let Some(record) = record {
        let files = record.names_of_files();
        let parts: Vec<Listed> = files.iter().map(|it| watched.listed(it)).collect();
        let read = merged(&parts, reading);
        let (data, _) = read.map_err(|(at, failure)| changed(&parts[at].data, 0, failure))?;
        watched.mark_taken(&files);
        return Ok(Some((Some(watched.listed(&files[0])), files, data)));
    }
    loop {
        let taken = watched.take(|parts| together(merged(parts, reading), fewest))?;
        if let Some((files, data)) = taken {
            return Ok(Some((Some(watched.listed(&files[0])), files, data)));
        }
        if !is_patient || !watched.wait() {
            return Ok(None);
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
