//! Files that are read without trust in their kind and size.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::Error;

/// Size of the largest buffer that is allocated only because a file states this size.
const MAX_TRUSTED_BYTES: u64 = 64 << 20;

/// Regular file of at most so many bytes, opened to be read. One that is refused is an [`io::Error`] that holds an
/// [`Error`].
///
/// A pipe, a device or a folder is not opened, since opening a pipe waits until another process writes
/// into it and a device may never end. The size is checked when the file is opened and again while it is
/// read, because a file may grow, and the size that some file systems state is not the true one.
///
/// ```
/// use icl_core::InputFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("numbers.txt");
/// std::fs::write(&path, "1 2 3")?;
/// assert_eq!(InputFile::open(&path, 10)?.text()?, "1 2 3");
/// let error = InputFile::open(&path, 4).unwrap_err();
/// assert_eq!(error.to_string(), "more than 4 bytes, the limit for such a file");
/// assert!(InputFile::open(folder.path(), 10).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct InputFile {
    file: File,
    n_bytes: u64,
    limit: u64,
}

/// Creates the error of a file that is not read, though the system could. Prints without the path, as what was found.
fn refused(kind: ErrorKind, found: impl fmt::Display) -> io::Error {
    io::Error::new(kind, Error::message(found))
}

fn not_regular() -> io::Error {
    refused(ErrorKind::InvalidInput, "a folder, pipe or device")
}

fn too_large(limit: u64) -> io::Error {
    let found = format!("more than {limit} bytes, the limit for such a file");
    refused(ErrorKind::FileTooLarge, found)
}

impl InputFile {
    /// Opens a file of a format whose largest files that are read have `limit` bytes.
    ///
    /// # Errors
    /// Of the system if there is no such file or it cannot be opened, [`ErrorKind::InvalidInput`] if it is no regular
    /// file, nor a link to one, and [`ErrorKind::FileTooLarge`] if it has more than `limit` bytes.
    pub fn open(path: &Path, limit: u64) -> io::Result<Self> {
        // Before it is opened, because that waits at a pipe.
        if !std::fs::metadata(path)?.is_file() {
            return Err(not_regular());
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(not_regular());
        }
        let n_bytes = metadata.len();
        if n_bytes > limit {
            return Err(too_large(limit));
        }
        Ok(Self {
            file,
            n_bytes,
            limit,
        })
    }

    /// Returns all bytes.
    ///
    /// # Errors
    /// Of the system if they cannot be read, [`ErrorKind::FileTooLarge`] if there are more than the limit.
    pub fn bytes(self) -> io::Result<Vec<u8>> {
        let limit = self.limit;
        let mut bytes = Vec::with_capacity(self.n_bytes.min(MAX_TRUSTED_BYTES) as usize);
        // One byte beyond the limit shows that the file has grown past it since it was opened.
        let n_read = self
            .file
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)?;
        match n_read as u64 > limit {
            true => Err(too_large(limit)),
            false => Ok(bytes),
        }
    }

    /// Returns all bytes as text.
    ///
    /// # Errors
    /// Those of [`bytes`](Self::bytes), and [`ErrorKind::InvalidData`] if the bytes are not UTF-8.
    pub fn text(self) -> io::Result<String> {
        String::from_utf8(self.bytes()?).map_err(|error| {
            let byte = error.utf8_error().valid_up_to();
            refused(ErrorKind::InvalidData, format!("byte {byte} is not UTF-8"))
        })
    }

    /// Returns the opened file, for readers that do not keep all its bytes.
    pub fn into_file(self) -> File {
        self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_at_most_the_limit_is_read() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        std::fs::write(&path, b"123\xff").unwrap();
        assert_eq!(
            InputFile::open(&path, 4).unwrap().bytes().unwrap(),
            b"123\xff"
        );
        assert_eq!(
            InputFile::open(&path, u64::MAX)
                .unwrap()
                .bytes()
                .unwrap()
                .len(),
            4
        );
        let error = InputFile::open(&path, 4).unwrap().text().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(error.to_string(), "byte 3 is not UTF-8");
        let error = InputFile::open(&path, 3).unwrap_err();
        assert_eq!(error.to_string(), too_large(3).to_string());
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_file_that_grows_after_it_was_opened_is_not_read_beyond_the_limit() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        std::fs::write(&path, b"1").unwrap();
        let opened = InputFile::open(&path, 3).unwrap();
        std::fs::write(&path, b"12345").unwrap();
        let error = opened.bytes().unwrap_err();
        assert_eq!(error.to_string(), too_large(3).to_string());
    }

    #[test]
    fn a_path_without_a_file_is_an_error() {
        let at = tempfile::tempdir().unwrap();
        let error = InputFile::open(at.path(), 10).unwrap_err();
        assert_eq!(error.to_string(), not_regular().to_string());
        let error = InputFile::open(&at.path().join("none"), 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn neither_a_device_nor_a_pipe_is_opened() {
        let at = tempfile::tempdir().unwrap();
        let pipe = at.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [Path::new("/dev/zero"), &pipe] {
            let error = InputFile::open(path, u64::MAX).unwrap_err();
            assert_eq!(error.to_string(), not_regular().to_string());
        }
    }
}
