//! Files that are complete or absent.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Beginning of the names of unfinished files.
const UNFINISHED: &str = ".unfinished-";

/// File that is written under a temporary name beside its path and takes its own name when it is
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
    unfinished: PathBuf,
    file: File,
}

impl AtomicFile {
    /// Creates the file under its temporary name, in the folder of `path`.
    ///
    /// # Errors
    /// The error of the file system.
    pub fn begin(path: &Path) -> io::Result<Self> {
        static N_BEGUN: AtomicU64 = AtomicU64::new(0);
        let mut name = std::ffi::OsString::from(format!(
            "{UNFINISHED}{}-{}-",
            std::process::id(),
            N_BEGUN.fetch_add(1, Ordering::Relaxed)
        ));
        name.push(path.file_name().unwrap_or_default());
        let unfinished = path.with_file_name(name);
        Ok(Self {
            path: path.to_owned(),
            file: File::create(&unfinished)?,
            unfinished,
        })
    }

    /// Returns the path of the unfinished file. Its name ends with that of the finished one.
    pub fn unfinished(&self) -> &Path {
        &self.unfinished
    }

    /// Gives the file its name and replaces the file that had the name before.
    ///
    /// # Errors
    /// The error of the file system; the earlier file still exists then.
    pub fn replace(self) -> io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.unfinished, &self.path)?;
        sync_folder(&self.path);
        Ok(())
    }

    /// Gives the file its name unless a file has the name already.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if a file has the name, or the error of the file
    /// system.
    pub fn create_new(self) -> io::Result<()> {
        self.file.sync_all()?;
        match std::fs::hard_link(&self.unfinished, &self.path) {
            Ok(()) => (),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has hard links.
            Err(_) if self.path.symlink_metadata().is_ok() => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Err(_) => std::fs::rename(&self.unfinished, &self.path)?,
        }
        sync_folder(&self.path);
        Ok(())
    }

    /// Whether a file of this name is an unfinished one, which a crash has left.
    pub fn is_unfinished(name: &str) -> bool {
        name.starts_with(UNFINISHED)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After a rename there is no such file.
        let _ = std::fs::remove_file(&self.unfinished);
    }
}

/// Writes a file of these bytes as an [`AtomicFile`] that replaces an earlier file.
///
/// # Errors
/// The error of the file system; the earlier file still exists then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::begin(path)?;
    file.write_all(bytes)?;
    file.replace()
}

/// Waits until the disk has the new name, too, so that it survives a loss of power; not every system can
/// sync a folder.
fn sync_folder(path: &Path) {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
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

    #[test]
    fn an_unfinished_file_is_told_by_its_name() {
        let at = tempfile::tempdir().unwrap();
        let file = AtomicFile::begin(&at.path().join("a.zip")).unwrap();
        let name = file.unfinished().file_name().unwrap().to_str().unwrap();
        assert!(AtomicFile::is_unfinished(name) && name.ends_with("-a.zip"));
        assert!(!AtomicFile::is_unfinished("a.zip"));
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
