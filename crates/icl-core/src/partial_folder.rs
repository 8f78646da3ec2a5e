//! Folders in the making.

use std::fs::{self, DirEntry, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::atomic_file::{UNFINISHED, sync_folder_of};
use crate::seed::fnv_1a;

/// File that marks such a folder as ours. The process at work holds its lock.
const MARK: &str = "icl-lock";

/// End of the name of such a folder.
const ENDING: &str = ".partial";

/// Length of the longest name that is not shortened: 255 bytes, the limit of common file systems, without the rest.
const MAX_NAME_BYTES: usize = 255 - UNFINISHED.len() - ENDING.len();

/// Folder in which results are made, `.icl-NAME.partial` next to their place, so that they appear there
/// complete, by one rename.
///
/// One process at a time works in it. What a killed process has left is continued ([`take`](Self::take)) or removed
/// ([`begin`](Self::begin)). A link of this name, or a folder without the mark of ours, is an error and is not touched.
///
/// Dropped, the folder is removed with what was not published, unless it is [kept](Self::keep).
///
/// ```
/// use icl_core::PartialFolder;
///
/// let at = tempfile::tempdir()?;
/// let path = at.path().join("parts");
/// let partial = PartialFolder::begin(PartialFolder::next_to(&path))?;
/// std::fs::write(partial.results().join("old.csv"), "1,2\n")?;
/// assert!(!path.exists());
/// partial.publish(&path)?;
/// drop(partial);
/// assert_eq!(std::fs::read(path.join("old.csv"))?, b"1,2\n");
/// assert_eq!(at.path().read_dir()?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PartialFolder {
    path: PathBuf,
    is_kept: bool,
    _lock: File,
}

impl PartialFolder {
    /// Name of the folder of the results in it.
    pub const RESULTS: &str = "results";

    /// Returns the path of the folder in which the results for `path` are made. A long name is shortened and gets a
    /// checksum, since no name may have more than 255 bytes.
    pub fn next_to(path: &Path) -> PathBuf {
        let whole = path.file_name().unwrap_or_default();
        let mut name = std::ffi::OsString::from(UNFINISHED);
        match whole.len() <= MAX_NAME_BYTES {
            true => name.push(whole),
            false => name.push(shortened(whole)),
        }
        name.push(ENDING);
        path.with_file_name(name)
    }

    /// Creates the folder with this path, empty; what a killed process has left there is removed.
    ///
    /// # Errors
    /// Those of [`take`](Self::take).
    pub fn begin(path: PathBuf) -> io::Result<Self> {
        let folder = Self::lock(path)?;
        folder.clear()?;
        Ok(folder)
    }

    /// Creates the folder with this path, or takes it over with what a killed process has left in it.
    ///
    /// # Errors
    /// [`ResourceBusy`](ErrorKind::ResourceBusy) if another process is at work in it,
    /// [`AlreadyExists`](ErrorKind::AlreadyExists) if something has the path that is not such a folder, or the
    /// error of the system.
    pub fn take(path: PathBuf) -> io::Result<Self> {
        let mut folder = Self::lock(path)?;
        // Kept until all is done: an error must not remove the states that a killed process has left.
        folder.is_kept = true;
        for entry in folder.path.read_dir()? {
            let entry = entry?;
            let name = entry.file_name();
            // A file that a killed process was writing.
            if name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                remove(&entry)?;
            }
        }
        folder.make_results()?;
        folder.is_kept = false;
        Ok(folder)
    }

    /// Creates the folder if there is none, and locks it.
    fn lock(path: PathBuf) -> io::Result<Self> {
        let mark = path.join(MARK);
        loop {
            match fs::create_dir(&path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => check_ours(&path)?,
            }
            let mut options = OpenOptions::new();
            let opened = options.write(true).create(true).truncate(false).open(&mark);
            let lock = match opened {
                // The process that was at work has removed the folder meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened?,
            };
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let busy = "another process is at work there";
                    return Err(io::Error::new(ErrorKind::ResourceBusy, busy));
                }
                // That process has removed the mark between the two calls.
                Ok(()) if !is_at(&lock, &mark) => continue,
                // Not every file system has locks: an error is that it has none.
                _ => (),
            }
            return Ok(Self {
                path,
                is_kept: false,
                _lock: lock,
            });
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the results in it.
    pub fn results(&self) -> PathBuf {
        self.path.join(Self::RESULTS)
    }

    /// Removes all that is in the folder.
    ///
    /// # Errors
    /// The error of the system.
    pub fn clear(&self) -> io::Result<()> {
        self.remove_contents()?;
        self.make_results()
    }

    /// Chooses whether the folder stays when it is dropped.
    pub fn keep(&mut self, is_kept: bool) {
        self.is_kept = is_kept;
    }

    /// Returns whether the folder stays when it is dropped.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Gives the results their name, by one rename.
    ///
    /// # Errors
    /// If something but an empty folder has the name, or the error of the system.
    pub fn publish(&self, path: &Path) -> io::Result<()> {
        let results = self.results();
        // Not every system can sync a folder.
        let _ = File::open(&results).and_then(|folder| folder.sync_all());
        fs::rename(&results, path)?;
        sync_folder_of(path);
        Ok(())
    }

    fn make_results(&self) -> io::Result<()> {
        let results = self.results();
        match fs::create_dir(&results) {
            // Not a link, behind which results would be written.
            Err(_) if results.symlink_metadata().is_ok_and(|it| it.is_dir()) => Ok(()),
            made => made,
        }
    }

    fn remove_contents(&self) -> io::Result<()> {
        for entry in self.path.read_dir()? {
            let entry = entry?;
            if entry.file_name() != MARK {
                remove(&entry)?;
            }
        }
        Ok(())
    }
}

impl Drop for PartialFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // The mark goes last, so that what is left after a kill is ours. An error has no reader.
            let _ = self
                .remove_contents()
                .and_then(|()| fs::remove_file(self.path.join(MARK)))
                .and_then(|()| fs::remove_dir(&self.path));
        }
    }
}

/// Removes a file, a link, or a folder with all that is in it, behind no link.
fn remove(entry: &DirEntry) -> io::Result<()> {
    match entry.file_type()?.is_dir() {
        true => fs::remove_dir_all(entry.path()),
        false => fs::remove_file(entry.path()),
    }
}

/// Checks that a folder has our mark, or nothing in it as after a kill at its creation.
fn check_ours(path: &Path) -> io::Result<()> {
    let is_marked = || {
        let mark = path.join(MARK).symlink_metadata();
        mark.is_ok_and(|it| it.is_file())
    };
    let is_ours = match path.symlink_metadata() {
        // Another process may create the mark between the first two checks.
        Ok(it) if it.is_dir() => is_marked() || is_empty(path)? || is_marked(),
        Ok(_) => false,
        // Removed meanwhile.
        Err(_) => true,
    };
    match is_ours {
        true => Ok(()),
        false => Err(io::Error::new(
            ErrorKind::AlreadyExists,
            format!(
                "found {}, which icl did not write: move it to another place",
                path.display()
            ),
        )),
    }
}

/// Whether a folder holds nothing, or is there no longer.
fn is_empty(path: &Path) -> io::Result<bool> {
    match path.read_dir() {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether an opened file still has its path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let id = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|it| (it.dev(), it.ino()));
    let opened = id(file.metadata());
    opened.is_some() && opened == id(path.symlink_metadata())
}

/// Elsewhere a file that is open is not removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Returns the beginning of a name, and its sum by FNV-1a: the same in every process, as one may continue the work of
/// another.
fn shortened(name: &std::ffi::OsStr) -> String {
    let sum = fnv_1a(name.as_encoded_bytes());
    let text = name.to_string_lossy();
    // A hyphen and 16 digits follow.
    let n_bytes = text.floor_char_boundary(MAX_NAME_BYTES - 17);
    format!("{}-{sum:016x}", &text[..n_bytes])
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = PartialFolder::RESULTS;

    fn begin(path: &Path) -> io::Result<PartialFolder> {
        PartialFolder::begin(PartialFolder::next_to(path))
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn every_name_that_a_folder_can_have_has_a_place_next_to_it() {
        let at = tempfile::tempdir().unwrap();
        let mut places = std::collections::HashSet::new();
        for letter in ["x", "é", "語"] {
            for n in [6, 200, 240, 243, 246, 255] {
                let name = letter.repeat(n);
                let path = at.path().join(&name[..name.floor_char_boundary(n)]);
                let place = PartialFolder::next_to(&path);
                let partial = PartialFolder::begin(place.clone()).unwrap();
                partial.publish(&path).unwrap();
                assert!(places.insert(place), "{letter} {n}");
            }
        }
    }

    #[test]
    fn results_appear_whole_or_not_at_all() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        drop(begin(&path).unwrap());
        assert!(names(at.path()).is_empty());
        let partial = begin(&path).unwrap();
        fs::write(partial.results().join("x"), "1").unwrap();
        assert_eq!(names(at.path()), [".icl-a.partial"]);
        partial.publish(&path).unwrap();
        drop(partial);
        assert_eq!(
            (names(at.path()), names(&path)),
            (vec!["a".to_owned()], vec!["x".to_owned()])
        );
        // A folder with files is not replaced.
        assert!(begin(&path).unwrap().publish(&path).is_err());
        assert_eq!(names(at.path()), ["a"]);
        assert_eq!(names(&path), ["x"]);
    }

    #[test]
    fn what_a_killed_process_left_is_taken_over() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        let place = PartialFolder::next_to(&path);
        for left in [&[][..], &[MARK], &[MARK, "state", ".icl-x.partial"]] {
            fs::create_dir(&place).unwrap();
            for name in left {
                fs::write(place.join(name), "").unwrap();
            }
            let mut taken = PartialFolder::take(place.clone()).unwrap();
            let has_state = left.contains(&"state");
            assert_eq!(place.join("state").exists(), has_state);
            assert!(!place.join(".icl-x.partial").exists());
            taken.keep(true);
            drop(taken);
            begin(&path).unwrap();
            assert!(names(at.path()).is_empty());
        }
    }

    #[test]
    fn one_process_works_in_it() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        let first = begin(&path).unwrap();
        let error = begin(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        drop(first);
        drop(begin(&path).unwrap());
        // Of many at once each has it alone.
        let n_inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(partial) = begin(&path) else {
                            continue;
                        };
                        use std::sync::atomic::Ordering::SeqCst;
                        assert_eq!(n_inside.fetch_add(1, SeqCst), 0);
                        fs::write(partial.results().join("x"), "").unwrap();
                        n_inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert!(names(at.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_ours_is_not_touched() {
        use std::os::unix::fs::symlink;

        let at = tempfile::tempdir().unwrap();
        let [path, theirs] = ["a", "theirs"].map(|name| at.path().join(name));
        let place = PartialFolder::next_to(&path);
        let refused = || {
            let error = begin(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
            assert!(error.to_string().contains("which icl did not write"));
            assert_eq!(fs::read(theirs.join("notes")).unwrap(), b"theirs");
        };
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("notes"), "theirs").unwrap();
        fs::write(theirs.join(MARK), "").unwrap();
        symlink(&theirs, &place).unwrap();
        refused();
        fs::remove_file(&place).unwrap();
        fs::write(&place, "").unwrap();
        refused();
        fs::remove_file(&place).unwrap();
        fs::create_dir(&place).unwrap();
        symlink(theirs.join("notes"), place.join(MARK)).unwrap();
        refused();
        fs::remove_file(place.join(MARK)).unwrap();
        fs::write(place.join("notes"), "").unwrap();
        refused();
        // In ours, links are not followed.
        fs::write(place.join(MARK), "").unwrap();
        symlink(&theirs, place.join(RESULTS)).unwrap();
        assert!(PartialFolder::take(place.clone()).is_err());
        assert_eq!(names(&place), [MARK, "notes", RESULTS]);
        drop(begin(&path).unwrap());
        assert_eq!(names(at.path()), ["theirs"]);
        assert_eq!(names(&theirs), [MARK, "notes"]);
    }
}
