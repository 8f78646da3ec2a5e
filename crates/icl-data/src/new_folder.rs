//! Folders that are whole or absent.

use std::io::{self, ErrorKind};
use std::path::Path;

use icl_core::PartialFolder;

use crate::error::{DataError, DataErrorKind};
use crate::place::FileRef;

/// Creates the folder `path`, filled by `fill`, which gets the path of a folder that takes this name when
/// it is complete. After an error nothing is left, and what a kill leaves is replaced the next time.
///
/// # Errors
/// [`DataError`] if the path exists already or cannot be written; the errors of `fill`.
pub(crate) fn create_folder(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), DataError>,
) -> Result<(), DataError> {
    if path.symlink_metadata().is_ok() {
        return Err(unwritable(path)(ErrorKind::AlreadyExists.into()));
    }
    let partial = PartialFolder::begin(PartialFolder::next_to(path)).map_err(unwritable(path))?;
    fill(&partial.results())?;
    partial.publish(path).map_err(unwritable(path))
}

/// Returns the error of a file or folder that cannot be written.
pub(crate) fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> DataError {
    let file = FileRef::on_disk(path);
    |source| {
        DataError::new(
            file,
            "a file or folder that cannot be written",
            "a new one in a writable folder",
        )
        .with_source(source)
        .with_kind(DataErrorKind::Unwritable)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_whole_or_absent() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("new");
        let write = |folder: &Path| fs::write(folder.join("a"), "1").map_err(unwritable(folder));
        let failing = |folder: &Path| {
            write(folder)?;
            Err(unwritable(folder)(ErrorKind::StorageFull.into()))
        };
        assert!(create_folder(&path, failing).is_err());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        create_folder(&path, write).unwrap();
        assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "1");
        let error = create_folder(&path, write).unwrap_err().to_string();
        assert_eq!(
            error.replace(&path.display().to_string(), "P"),
            "P: found a file or folder that cannot be written, expected a new one in a writable folder"
        );
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
