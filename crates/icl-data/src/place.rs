//! Pieces of error messages: a place in the user's files, the text found there, the names expected.

use std::fmt;
use std::path::Path;

pub use icl_core::Found;

/// A file on disk, or an entry of an archive.
///
/// Prints as `PATH` or as `PATH, entry NAME`, the name cut after 100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRef {
    path: Box<Path>,
    entry: Option<Box<str>>,
}

impl FileRef {
    /// Number of characters of an entry's name that are kept: a damaged archive may have names of many thousand.
    const MAX_CHARS: usize = 100;

    /// Creates a reference to a file or folder on disk.
    pub(crate) fn on_disk(path: &Path) -> Self {
        Self {
            path: path.into(),
            entry: None,
        }
    }

    /// Creates a reference to an entry of the archive at `path`.
    pub(crate) fn in_archive(path: &Path, entry: &str) -> Self {
        let mut kept: String = entry.chars().take(Self::MAX_CHARS).collect();
        if kept.len() < entry.len() {
            kept.push('…');
        }
        Self {
            path: path.into(),
            entry: Some(kept.into()),
        }
    }

    /// Returns the path of the file on disk; for an entry, the path of its archive.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the place of a line of this file, counted from 1.
    pub(crate) fn line(&self, line: usize) -> String {
        format!("{self}, line {line}")
    }

    /// Returns the place of a cell of this table: its line, or its row in a format without lines, which `unit` names,
    /// counted from 1, and its column.
    pub(crate) fn cell(&self, unit: &str, number: usize, column: &str) -> String {
        format!("{self}, {unit} {number}, column {}", Found::new(column))
    }
}

impl fmt::Display for FileRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entry {
            None => write!(f, "{}", self.path.display()),
            // Names of entries come from the archive's author and may hold line ends.
            Some(entry) => write!(f, "{}, entry {}", self.path.display(), entry.escape_debug()),
        }
    }
}

/// Number of names that are listed.
const MAX_NAMES: usize = 20;

/// Returns names, such as those of classes or columns, as `a, b, c`, each without control characters and cut after 40.
/// At most 20 names are listed; the rest are counted.
pub(crate) fn listed(names: &[String]) -> String {
    let n_listed = names.len().min(MAX_NAMES);
    let first: Vec<String> = names[..n_listed].iter().map(|name| plain(name)).collect();
    let first = first.join(", ");
    match names.len() - n_listed {
        0 => first,
        n_more => format!("{first} and {n_more} more"),
    }
}

/// Returns the beginning of a name, without control characters.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars().take(Found::MAX_CHARS) {
        match c.is_control() {
            true => plain.extend(c.escape_default()),
            false => plain.push(c),
        }
    }
    if name.chars().nth(Found::MAX_CHARS).is_some() {
        plain.push('…');
    }
    plain
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
        let long = FileRef::in_archive(Path::new("a.zip"), &"\u{1}".repeat(30_000)).to_string();
        assert!(long.len() < 1000 && !long.contains('\u{1}'), "{long}");
        assert_eq!(Found::new("").to_string(), "nothing");
        assert_eq!(Found::new("a\tb").to_string(), "\"a\\tb\"");
        let long = Found::new(&"ä".repeat(1000)).to_string();
        assert_eq!(long.chars().count(), Found::MAX_CHARS + 3);
    }

    #[test]
    fn many_names_are_cut() {
        let of = |n: usize| {
            let names: Vec<String> = (0..n).map(|name| name.to_string()).collect();
            listed(&names)
        };
        assert_eq!(of(3), "0, 1, 2");
        assert!(of(20).ends_with(", 18, 19"));
        assert!(of(100).ends_with(", 18, 19 and 80 more"));
        let names = ["a\0\u{7f}".to_owned(), "é".repeat(40), "é".repeat(41)];
        let shown = format!("a\\u{{0}}\\u{{7f}}, {0}, {0}…", "é".repeat(40));
        assert_eq!(listed(&names), shown);
    }
}
