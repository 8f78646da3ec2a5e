//! Files that are complete or absent.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// Beginning of the names of unfinished files.
pub(crate) const UNFINISHED: &str = ".icl-";

/// File that is written under a temporary name next to its path and takes its own name when it is
/// complete, so that no reader and no crash meets half of it.
///
/// Dropped before [`replace`](Self::replace) or [`create_new`](Self::create_new) has given it its name, it is
/// removed.
///
/// ```
/// use std::io::Write;
///
/// use icl_core::AtomicFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers.txt");
/// let mut file = AtomicFile::begin(&path)?;
/// for number in 0..3 {
///     writeln!(file, "{number}")?;
/// }
/// assert!(!path.exists());
/// file.replace()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "0\n1\n2\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl AtomicFile {
    /// Creates the file under its temporary name, in the folder of `path`.
    ///
    /// # Errors
    /// The error of the system.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let mut names = Builder::new();
        let names = names.prefix(UNFINISHED).suffix(".partial");
        Ok(Self {
            // Opened here because tempfile's own files can be read by their owner alone.
            file: names.make_in(folder_of(path), |path| File::create_new(path))?,
            path: path.to_owned(),
        })
    }

    /// Gives the file its name and replaces the file that had the name before.
    ///
    /// # Errors
    /// The error of the system; the earlier file still exists then.
    pub fn replace(self) -> io::Result<()> {
        // A rename can reach the disk before the contents; a loss of power between the two would leave an empty file.
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path)?;
        sync_folder_of(&self.path);
        Ok(())
    }

    /// Gives the file its name unless a file has the name already.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if a file has the name, or the error of the
    /// system.
    pub fn create_new(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(&self.path)?;
        sync_folder_of(&self.path);
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// Writes a file of these bytes as an [`AtomicFile`] that replaces an earlier file.
///
/// # Errors
/// The error of the system; the earlier file still exists then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::begin(path)?;
    file.write_all(bytes)?;
    file.replace()
}

/// Returns the folder that a file or folder is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Waits until the disk has the new name, too, so that it survives a loss of power; not every system can
/// sync a folder.
pub(crate) fn sync_folder_of(path: &Path) {
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_or_left_alone() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        let create = |bytes: &[u8]| {
            let mut file = AtomicFile::begin(&path).unwrap();
            file.write_all(bytes).unwrap();
            file.create_new()
        };
        create(b"first").unwrap();
        let error = create(b"second").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        write_atomically(&path, b"third").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"third");
        // Nothing else is left, whatever happened.
        drop(AtomicFile::begin(&path).unwrap());
        assert!(write_atomically(&at.path().join("none/a"), b"").is_err());
        assert_eq!(at.path().read_dir().unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let at = tempfile::tempdir().unwrap();
        let [path, theirs] = ["a", "theirs"].map(|name| at.path().join(name));
        std::fs::write(&theirs, "theirs").unwrap();
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        write_atomically(&path, b"ours").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"ours");
        assert_eq!(std::fs::read(&theirs).unwrap(), b"theirs");
    }

    #[cfg(unix)]
    #[test]
    fn its_permissions_are_those_of_other_files() {
        use std::os::unix::fs::PermissionsExt;

        let at = tempfile::tempdir().unwrap();
        let [ours, theirs] = ["ours", "theirs"].map(|name| at.path().join(name));
        write_atomically(&ours, b"").unwrap();
        std::fs::write(&theirs, b"").unwrap();
        let [ours, theirs] =
            [ours, theirs].map(|path| path.metadata().unwrap().permissions().mode());
        assert_eq!(ours, theirs);
    }
}
