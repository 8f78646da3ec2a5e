//! Where in a user's files something was found, and what it was.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file on disk, or an entry of an archive.
///
/// Printed as `PATH` or as `PATH, entry NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRef {
    path: PathBuf,
    entry: Option<Box<str>>,
}

impl FileRef {
    /// A file or folder on disk.
    pub(crate) fn on_disk(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            entry: None,
        }
    }

    /// An entry of the archive at `path`.
    pub(crate) fn in_archive(path: &Path, entry: &str) -> Self {
        Self {
            path: path.to_path_buf(),
            entry: Some(entry.into()),
        }
    }

    /// The file on disk, which is the archive itself for an entry of one.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the archive's entry, as the archive spells it.
    pub fn entry(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    /// A line of this file, counted from 1.
    pub(crate) fn line(&self, line: usize) -> Place {
        Place {
            file: self.clone(),
            line,
        }
    }
}

impl fmt::Display for FileRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            None => write!(f, "{}", self.path.display()),
            // Debug escapes what an archive's author may have put into a name, such as line ends.
            Some(entry) => write!(
                f,
                "{}, entry {}",
                self.path.display(),
                entry.escape_default()
            ),
        }
    }
}

/// A line of a file. Printed as `FILE, line N`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileRef,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

/// A piece of text that stood where something else was expected.
///
/// It is cut after [`Found::MAX_CHARS`] characters, since a damaged file may be one long line, and
/// printed between quotes with its control characters escaped; empty text is printed as `nothing`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found(Box<str>);

impl Found {
    /// The number of characters that are kept.
    pub const MAX_CHARS: usize = 40;

    /// The beginning of `text`.
    pub fn new(text: &str) -> Self {
        let mut kept: String = text.chars().take(Self::MAX_CHARS).collect();
        if kept.len() < text.len() {
            kept.push('…');
        }
        Self(kept.into())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("nothing")
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_pieces_print_as_documented() {
        let file = FileRef::in_archive(Path::new("a.zip"), "A/A_A.txt");
        assert_eq!(file.line(3).to_string(), "a.zip, entry A/A_A.txt, line 3");
        assert_eq!(
            FileRef::on_disk(Path::new("b/B_A.txt")).line(1).to_string(),
            "b/B_A.txt, line 1"
        );
        assert_eq!(Found::new("").to_string(), "nothing");
        assert_eq!(Found::new("a\tb").to_string(), "\"a\\tb\"");
        let long = Found::new(&"ä".repeat(1000)).to_string();
        assert_eq!(long.chars().count(), Found::MAX_CHARS + 3);
    }
}
