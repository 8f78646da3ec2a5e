//! The operations by which results come into being on a disk.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Operations that change a disk.
///
/// Everything that writes results goes through [`file_system`], so that tests can let each operation fail, or end the
/// process after it. Reading is not among them.
///
/// ```
/// use std::fs::File;
///
/// use icl_core::file_system;
///
/// let folder = tempfile::tempdir()?;
/// let [a, b] = ["a", "b"].map(|name| folder.path().join("new").join(name));
/// file_system().create_folders(&folder.path().join("new"))?;
/// let mut file: File = file_system().create_new(&a)?;
/// assert_eq!(file_system().write(&mut file, b"1")?, 1);
/// file_system().rename(&a, &b)?;
/// assert_eq!(std::fs::read(b)?, b"1");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// All methods return the error of the system.
pub trait FileSystem: Debug + Send + Sync {
    /// Creates a file, or empties the one that has the name.
    fn create(&self, path: &Path) -> io::Result<File>;

    /// Creates a file unless something has the name already.
    fn create_new(&self, path: &Path) -> io::Result<File>;

    /// Writes some of the bytes, at least one if there are any, and returns their number.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize>;

    /// Waits until the disk has the contents of a file.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Waits until the disk has the names in a folder. Not every system can.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Gives a file or folder another name, and replaces a file that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name unless something has it already. Not every file system can.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder in one that exists.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder and those above it, as far as they do not exist.
    fn create_folders(&self, path: &Path) -> io::Result<()> {
        if path.as_os_str().is_empty() || path.is_dir() {
            return Ok(());
        }
        if let Some(above) = path.parent() {
            self.create_folders(above)?;
        }
        self.create_folder(path)
    }

    /// Removes a folder with all that is in it.
    fn remove_folders(&self, path: &Path) -> io::Result<()> {
        for entry in path.read_dir()? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => self.remove_folders(&entry.path())?,
                false => self.remove_file(&entry.path())?,
            }
        }
        self.remove_folder(path)
    }

    /// Removes a file if it exists.
    fn remove_if_there(&self, path: &Path) -> io::Result<()> {
        match self.remove_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }
}

/// [`FileSystem`] of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk;

impl FileSystem for Disk {
    fn create(&self, path: &Path) -> io::Result<File> {
        File::create(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<File> {
        File::create_new(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }

    fn create_folders(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    // Another process cannot lead it out of the folder by a link that it puts there meanwhile.
    fn remove_folders(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir_all(path)
    }
}

/// The choice of a test.
#[cfg(any(test, feature = "testing"))]
static CHOSEN: std::sync::OnceLock<Box<dyn FileSystem>> = std::sync::OnceLock::new();

/// Returns the file system of this process: the [`Disk`], unless a test has chosen another.
pub fn file_system() -> &'static dyn FileSystem {
    #[cfg(any(test, feature = "testing"))]
    if let Some(chosen) = CHOSEN.get() {
        return chosen.as_ref();
    }
    &Disk
}

/// Chooses the file system of this process from now on.
///
/// # Panics
/// If it has been chosen before.
#[cfg(any(test, feature = "testing"))]
pub fn choose_file_system(file_system: impl FileSystem + 'static) {
    let chosen = CHOSEN.set(Box::new(file_system));
    chosen.expect("the file system of a process is chosen once");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The disk with the provided methods.
    #[derive(Debug)]
    struct Provided;

    impl FileSystem for Provided {
        fn create(&self, path: &Path) -> io::Result<File> {
            Disk.create(path)
        }

        fn create_new(&self, path: &Path) -> io::Result<File> {
            Disk.create_new(path)
        }

        fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
            Disk.write(file, bytes)
        }

        fn sync(&self, file: &File) -> io::Result<()> {
            Disk.sync(file)
        }

        fn sync_folder(&self, path: &Path) -> io::Result<()> {
            Disk.sync_folder(path)
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            Disk.rename(from, to)
        }

        fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
            Disk.hard_link(from, to)
        }

        fn remove_file(&self, path: &Path) -> io::Result<()> {
            Disk.remove_file(path)
        }

        fn create_folder(&self, path: &Path) -> io::Result<()> {
            Disk.create_folder(path)
        }

        fn remove_folder(&self, path: &Path) -> io::Result<()> {
            Disk.remove_folder(path)
        }
    }

    #[test]
    fn folders_are_created_and_removed_one_by_one_as_at_once() {
        for files in [&Disk as &dyn FileSystem, &Provided] {
            let at = tempfile::tempdir().unwrap();
            let [above, below] = ["a", "a/b/c"].map(|name| at.path().join(name));
            files.create_folders(&below).unwrap();
            files.create_folders(&below).unwrap();
            files.create_folders(Path::new("")).unwrap();
            for name in ["x", "b/x", "b/c/x"] {
                files.create(&above.join(name)).unwrap();
            }
            assert!(files.create_folders(&above.join("x/y")).is_err());
            let error = files.remove_folder(&above).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DirectoryNotEmpty, "{files:?}");
            files.remove_folders(&above).unwrap();
            let error = files.remove_folders(&above).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{files:?}");
            assert_eq!(at.path().read_dir().unwrap().count(), 0);
        }
    }

    #[test]
    fn a_file_that_is_not_there_needs_no_removal() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        Disk.create(&path).unwrap();
        Disk.remove_if_there(&path).unwrap();
        Disk.remove_if_there(&path).unwrap();
        assert!(Disk.remove_if_there(at.path()).is_err());
    }
}
