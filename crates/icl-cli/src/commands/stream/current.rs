//! The encoder to serve: `current.json`, and the link `current` to its folder.

use std::path::Path;

use icl_models::StoredEncoder;
use serde::Serialize;

use crate::files::whole;
use crate::process::failure::Failure;

/// File that names the encoder to serve.
pub const CURRENT: &str = "current.json";
/// Version of the file.
const SCHEMA: u32 = 1;
/// Link to the folder of the encoder.
#[cfg(unix)]
const LINK: &str = "current";

/// The encoder to serve.
#[derive(Serialize)]
struct Current<'a> {
    schema: u32,
    /// Path of its file, from the folder of the stream.
    encoder: &'a Path,
    digest: &'a str,
    /// Number of experiences that the stream has gone through.
    n_experiences: usize,
}

/// Names the encoder in this file as the one to serve in the folder of its stream, which has gone through
/// `n_experiences`. Experiences that wait have no encoder of their own.
///
/// # Errors
/// If the encoder cannot be read, or a file cannot be written.
pub fn serve(folder: &Path, encoder: &Path, n_experiences: usize) -> Result<(), Failure> {
    let stored = StoredEncoder::open(encoder).map_err(Failure::input)?;
    let inside = encoder.strip_prefix(folder).unwrap_or(encoder);
    let current = Current {
        schema: SCHEMA,
        encoder: inside,
        digest: stored.digest(),
        n_experiences,
    };
    let mut json = serde_json::to_vec(&current).map_err(|error| Failure::Other(error.into()))?;
    json.push(b'\n');
    whole::write(&folder.join(CURRENT), &json)?;
    #[cfg(unix)]
    link(folder, inside)?;
    Ok(())
}

/// Lets the link lead to the folder of the encoder. Readers find the one before or this one, and never none.
#[cfg(unix)]
fn link(folder: &Path, encoder: &Path) -> Result<(), Failure> {
    let to = encoder.parent().unwrap_or(Path::new(""));
    let (link, next) = (folder.join(LINK), folder.join(".current.next"));
    if std::fs::read_link(&link).is_ok_and(|found| found == to) {
        return Ok(());
    }
    whole::remove_if_there(&next)
        .and_then(|()| std::os::unix::fs::symlink(to, &next))
        .and_then(|()| std::fs::rename(&next, &link))
        .map_err(|error| Failure::file(&link, "cannot be written", error))
}
