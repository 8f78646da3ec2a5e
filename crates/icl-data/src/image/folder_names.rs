//! The names of folders and of what is in them.

use std::fs;
use std::path::Path;

use crate::error::DataError;
use crate::place::FileRef;

/// What a data set is called that is read from this folder: the folder's own name.
pub(super) fn folder_name(path: &Path) -> String {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    // A path such as `.` does not say the folder's name.
    let absolute = || name(&path.canonicalize().ok()?);
    name(path)
        .or_else(absolute)
        .unwrap_or_else(|| "images".into())
}

/// The names of the files in a folder, sorted.
///
/// Names that are not UTF-8 are left out: no IDX or CIFAR file has one.
pub(super) fn file_names(path: &Path) -> Result<Vec<String>, DataError> {
    let unreadable = |source| DataError::Unreadable {
        file: FileRef::on_disk(path),
        source,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if let Ok(name) = entry.file_name().into_string()
            && !entry.path().is_dir()
        {
            files.push(name);
        }
    }
    files.sort_unstable();
    Ok(files)
}
