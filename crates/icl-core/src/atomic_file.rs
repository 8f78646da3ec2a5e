//! Files that are complete or absent.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::file_system::file_system;

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
        loop {
            let mut name = std::ffi::OsString::from(format!(
                "{UNFINISHED}{}-{}-",
                std::process::id(),
                N_BEGUN.fetch_add(1, Ordering::Relaxed)
            ));
            name.push(path.file_name().unwrap_or_default());
            let unfinished = path.with_file_name(name);
            // Nothing that has the name already is opened or followed, such as a link that somebody has put there.
            match file_system().create_new(&unfinished) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                file => {
                    let file = file?;
                    // Tells the file from one that a crash has left. Not every file system has locks.
                    let _ = file.try_lock();
                    return Ok(Self {
                        path: path.to_owned(),
                        unfinished,
                        file,
                    });
                }
            }
        }
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
        file_system().sync(&self.file)?;
        file_system().rename(&self.unfinished, &self.path)?;
        sync_folder(&self.path);
        Ok(())
    }

    /// Gives the file its name unless a file has the name already.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if a file has the name, or the error of the file
    /// system.
    pub fn create_new(self) -> io::Result<()> {
        file_system().sync(&self.file)?;
        match file_system().hard_link(&self.unfinished, &self.path) {
            Ok(()) => (),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has hard links.
            Err(_) if self.path.symlink_metadata().is_ok() => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Err(_) => file_system().rename(&self.unfinished, &self.path)?,
        }
        sync_folder(&self.path);
        Ok(())
    }

    /// Whether a file of this name is an unfinished one, which a crash has left.
    pub fn is_unfinished(name: &str) -> bool {
        finished_name(name).is_some()
    }

    /// Removes the unfinished files in a folder that crashes have left, if `is_ours` accepts the names that they were
    /// to have. Those that a process is writing stay.
    ///
    /// # Errors
    /// If the folder cannot be read, or a file cannot be removed.
    pub fn remove_unfinished(folder: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<()> {
        for entry in folder.read_dir()? {
            let entry = entry?;
            let name = entry.file_name();
            let is_ours = name.to_str().and_then(finished_name).is_some_and(&is_ours);
            if is_ours
                && entry.file_type()?.is_file()
                && File::open(entry.path())?.try_lock().is_ok()
            {
                file_system().remove_file(&entry.path())?;
            }
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        file_system().write(&mut self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After a rename there is no such file.
        let _ = file_system().remove_file(&self.unfinished);
    }
}

/// Returns the name that an unfinished file was to have, by its temporary one.
fn finished_name(name: &str) -> Option<&str> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = name.strip_prefix(UNFINISHED)?.splitn(3, '-');
    let (process, number, name) = (parts.next()?, parts.next()?, parts.next()?);
    (is_number(process) && is_number(number) && !name.is_empty()).then_some(name)
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
    let _ = file_system().sync_folder(folder.unwrap_or(Path::new(".")));
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
        for other in [
            "a.zip",
            ".unfinished-",
            ".unfinished-1-a.zip",
            ".unfinished-1-2-",
        ] {
            assert!(!AtomicFile::is_unfinished(other), "{other}");
        }
    }

    #[test]
    fn files_that_a_crash_has_left_are_removed() {
        let at = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(at.path().join(name), "").unwrap();
        let left = ".unfinished-1-0-a";
        let others = [".unfinished-1-0-b", ".unfinished-a", "a"];
        write(left);
        others.iter().for_each(|name| write(name));
        let at_work = AtomicFile::begin(&at.path().join("a")).unwrap();
        AtomicFile::remove_unfinished(at.path(), |name| name == "a").unwrap();
        assert!(!at.path().join(left).exists());
        assert!(at_work.unfinished().exists());
        assert!(others.iter().all(|name| at.path().join(name).exists()));
        assert!(AtomicFile::remove_unfinished(&at.path().join("none"), |_| true).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_with_a_temporary_name_is_not_followed() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        let first = AtomicFile::begin(&path).unwrap();
        let name = first.unfinished().file_name().unwrap().to_str().unwrap();
        let number: u64 = name.split('-').nth(2).unwrap().parse().unwrap();
        // Names of the next files are known; other tests may take some of them.
        for next in number + 1..number + 20 {
            let planted = format!("{UNFINISHED}{}-{next}-a", std::process::id());
            std::os::unix::fs::symlink("theirs", at.path().join(planted)).unwrap();
        }
        write_atomically(&path, b"ours").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"ours");
        assert!(!at.path().join("theirs").exists());
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
