//! A file system that fails once, for tests of what faults leave behind.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::file_system::{Disk, FileSystem};

/// Line on standard error of a process that waits, see [`Fault::Wait`].
pub const WAITS: &str = "waits for the end of standard input";

/// Fault of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The error of the system with this number instead of the operation.
    Error(i32),
    /// Half of the bytes of a write, then this error at the next one.
    HalfError(i32),
    /// The operation, then the end of the process, without any destructor.
    Kill,
    /// Half of the bytes of a write, then the end of the process.
    HalfKill,
    /// None, but a line on standard error, and the operation when standard input has ended.
    Wait,
}

/// [`Disk`] whose operations are listed, and one of which has a [`Fault`].
#[derive(Debug)]
pub struct FaultyDisk {
    /// Number of the operation with the fault, counted from 0, if there is one.
    fault: Option<(usize, Fault)>,
    operations: Operations,
}

/// The operations of a [`FaultyDisk`] so far, in words.
#[derive(Debug, Clone, Default)]
pub struct Operations(Arc<Mutex<Vec<String>>>);

impl Operations {
    /// Returns a line for each operation: its verb and the names of its files.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.clone()
    }

    /// Adds an operation and returns its number.
    fn push(&self, line: String) -> usize {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line);
        lines.len() - 1
    }
}

impl FaultyDisk {
    /// Creates a disk whose operation of this number, counted from 0, has a fault; `None` for one without faults.
    pub fn new(fault: Option<(usize, Fault)>) -> Self {
        Self {
            fault,
            operations: Operations::default(),
        }
    }

    /// Returns the list of its operations, which grows with them.
    pub fn operations(&self) -> Operations {
        self.operations.clone()
    }

    /// Lists an operation and returns its fault.
    fn fault(&self, line: fmt::Arguments<'_>) -> Option<Fault> {
        let number = self.operations.push(line.to_string());
        let (at, fault) = self.fault?;
        match fault {
            fault if number == at => Some(fault),
            // A write that was cut short is continued by the next one.
            Fault::HalfError(errno) if number == at + 1 => Some(Fault::Error(errno)),
            _ => None,
        }
    }

    /// Does an operation that has no halves.
    fn whole<T>(
        &self,
        line: fmt::Arguments<'_>,
        operation: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        match self.fault(line) {
            None => operation(),
            Some(Fault::Error(errno) | Fault::HalfError(errno)) => {
                Err(io::Error::from_raw_os_error(errno))
            }
            Some(Fault::Wait) => {
                wait();
                operation()
            }
            Some(Fault::Kill | Fault::HalfKill) => {
                let _ = operation();
                std::process::abort()
            }
        }
    }
}

impl FileSystem for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.whole(format_args!("create {}", path.display()), || {
            Disk.create(path)
        })
    }

    fn create_new(&self, path: &Path) -> io::Result<File> {
        self.whole(format_args!("create {}", path.display()), || {
            Disk.create_new(path)
        })
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        let half = &bytes[..bytes.len().div_ceil(2)];
        match self.fault(format_args!("write {} bytes", bytes.len())) {
            None => Disk.write(file, bytes),
            Some(Fault::Error(errno)) => Err(io::Error::from_raw_os_error(errno)),
            Some(Fault::Wait) => {
                wait();
                Disk.write(file, bytes)
            }
            Some(Fault::HalfError(_)) => Disk.write(file, half),
            Some(fault) => {
                let kept = if fault == Fault::Kill { bytes } else { half };
                let _ = Disk.write(file, kept);
                std::process::abort()
            }
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.whole(format_args!("sync"), || Disk.sync(file))
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.whole(format_args!("sync {}", path.display()), || {
            Disk.sync_folder(path)
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.whole(
            format_args!("rename {} to {}", from.display(), to.display()),
            || Disk.rename(from, to),
        )
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.whole(
            format_args!("link {} as {}", from.display(), to.display()),
            || Disk.hard_link(from, to),
        )
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.whole(format_args!("remove {}", path.display()), || {
            Disk.remove_file(path)
        })
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.whole(format_args!("create folder {}", path.display()), || {
            Disk.create_folder(path)
        })
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.whole(format_args!("remove folder {}", path.display()), || {
            Disk.remove_folder(path)
        })
    }
}

/// Tells that it waits, and does so until standard input ends.
fn wait() {
    eprintln!("{WAITS}");
    let _ = io::stdin().read_to_end(&mut Vec::new());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_operation_fails_once() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        let full = |error: io::Error| error.raw_os_error() == Some(28);
        let disk = FaultyDisk::new(Some((1, Fault::Error(28))));
        let mut file = disk.create_new(&path).unwrap();
        assert!(full(disk.write(&mut file, b"12345").unwrap_err()));
        assert_eq!(disk.write(&mut file, b"12345").unwrap(), 5);
        disk.remove_file(&path).unwrap();
        let lines = disk.operations().lines();
        let verbs: Vec<_> = lines
            .iter()
            .map(|line| line.split(' ').next().unwrap())
            .collect();
        assert_eq!(verbs, ["create", "write", "write", "remove"]);
    }

    #[test]
    fn half_of_a_write_is_done_before_it_fails() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        let full = |error: io::Error| error.raw_os_error() == Some(28);
        let disk = FaultyDisk::new(Some((1, Fault::HalfError(28))));
        let mut file = disk.create_new(&path).unwrap();
        assert_eq!(disk.write(&mut file, b"12345").unwrap(), 3);
        assert!(full(disk.write(&mut file, b"45").unwrap_err()));
        disk.sync(&file).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"123");
    }
}
