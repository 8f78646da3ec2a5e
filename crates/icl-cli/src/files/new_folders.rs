//! Folders that are created for the output of a command.

use std::path::{Path, PathBuf};

/// Folders that were created, the deepest first. When it is dropped, those that are still empty are removed.
#[derive(Default)]
pub struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Creates a folder and those that it is in, as far as they are missing.
    ///
    /// # Errors
    /// The error of the system; none is left then.
    pub fn create(folder: &Path) -> std::io::Result<Self> {
        let missing = folder.ancestors().take_while(|folder| !folder.exists());
        // Removes the ones that are created even if a later one cannot be.
        let created = Self(missing.map(Path::to_path_buf).collect());
        std::fs::create_dir_all(folder)?;
        Ok(created)
    }

    /// Creates a folder in the deepest one.
    ///
    /// # Errors
    /// If something has its name, or the error of the system.
    pub fn create_in(&mut self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir(folder)?;
        self.0.insert(0, folder.to_owned());
        Ok(())
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.0 {
            // Removing one that is not empty fails, as it should.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_were_created_for_nothing_are_removed() {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("a/b/c");
        let mut created = NewFolders::create(&folder).unwrap();
        created.create_in(&folder.join("d")).unwrap();
        assert!(created.create_in(&folder.join("d")).is_err());
        assert!(folder.join("d").is_dir());
        drop(created);
        assert_eq!(std::fs::read_dir(at.path()).unwrap().count(), 0);
        // One that was there before stays, and so does one that is not empty.
        std::fs::create_dir(at.path().join("a")).unwrap();
        let created = NewFolders::create(&folder).unwrap();
        std::fs::write(at.path().join("a/b/kept"), "").unwrap();
        drop(created);
        assert!(at.path().join("a/b/kept").exists() && !folder.exists());
        std::fs::write(at.path().join("file"), "").unwrap();
        assert!(NewFolders::create(&at.path().join("file/a")).is_err());
    }
}
