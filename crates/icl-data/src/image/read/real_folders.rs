//! Folders that a walk has entered, by their real paths.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Real paths of the folders that a walk has entered. Links may lead to one folder in a number of ways that
/// doubles with each level.
#[derive(Debug, Default)]
pub(super) struct RealFolders(HashSet<PathBuf>);

impl RealFolders {
    /// Adds a folder and returns whether it was not entered before. One that cannot be resolved never was, so that
    /// the walk meets its error.
    pub(super) fn is_new(&mut self, folder: &Path) -> bool {
        match folder.canonicalize() {
            Ok(real) => self.0.insert(real),
            Err(_) => true,
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    use crate::image::read::listing::{Listing, holds_images};

    /// A folder of one class, from which two links in each of 30 folders lead to the next, and so 2^30 paths to
    /// the only file.
    fn doubling(file: &str) -> tempfile::TempDir {
        let at = tempfile::tempdir().unwrap();
        let folder = |level: usize| at.path().join(format!("levels/{level}"));
        for level in 0..=30 {
            fs::create_dir_all(folder(level)).unwrap();
        }
        for level in 0..30 {
            for link in ["a", "b"] {
                symlink(folder(level + 1), folder(level).join(link)).unwrap();
            }
        }
        fs::write(folder(30).join(file), b"").unwrap();
        fs::create_dir(at.path().join("data")).unwrap();
        symlink(folder(0), at.path().join("data/class")).unwrap();
        at
    }

    #[test]
    fn a_walk_enters_each_real_folder_once() {
        let at = doubling("x.png");
        let listing = Listing::read(&at.path().join("data")).unwrap();
        let files: Vec<&Path> = listing.files.iter().map(|file| &*file.relative).collect();
        let expected = Path::new("class").join("a/".repeat(30)).join("x.png");
        assert_eq!(files, [expected]);
        assert!(!holds_images(&at.path().join("data")));
    }

    #[test]
    fn two_classes_may_be_links_to_one_folder() {
        let at = tempfile::tempdir().unwrap();
        fs::create_dir_all(at.path().join("images")).unwrap();
        fs::write(at.path().join("images/x.png"), b"").unwrap();
        fs::create_dir(at.path().join("data")).unwrap();
        for class in ["a", "b"] {
            symlink(at.path().join("images"), at.path().join("data").join(class)).unwrap();
        }
        let listing = Listing::read(&at.path().join("data")).unwrap();
        assert_eq!(listing.files.len(), 2);
    }
}
