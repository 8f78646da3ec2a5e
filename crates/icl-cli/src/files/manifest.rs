//! The list of the files that a command wrote into its folder: only these may another command replace or remove.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::anyhow;
use icl_core::InputFile;
use serde::{Deserialize, Serialize};

use crate::files::whole;
use crate::process::failure::Failure;

/// Name of the list, in the folder of the files.
pub const MANIFEST: &str = ".icl-manifest.json";
/// Size of the largest list that is read, in bytes: 16 MiB.
const MAX_BYTES: u64 = 16 << 20;
/// Version of the list.
const SCHEMA: u32 = 1;

/// Names of the files that a command wrote into a folder; empty for a folder without a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    schema: u32,
    files: BTreeSet<String>,
}

impl Manifest {
    /// Lists these names.
    pub fn new(files: BTreeSet<String>) -> Self {
        Self {
            schema: SCHEMA,
            files,
        }
    }

    /// Reads the list of a folder.
    ///
    /// # Errors
    /// If there is a list that cannot be read, is of another version, or names anything but files of the folder.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(MANIFEST);
        let wrong = |found: String| {
            Failure::input(anyhow!(
                "{}: found {found}, expected the list of the files that a command of icl wrote",
                path.display()
            ))
        };
        let read = InputFile::open(&path, MAX_BYTES).and_then(InputFile::bytes);
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self::new(BTreeSet::new()));
            }
            Err(error) => return Err(wrong(format!("no readable file ({error})"))),
        };
        let list: Self =
            serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if list.schema != SCHEMA {
            return Err(wrong(format!("schema {} instead of {SCHEMA}", list.schema)));
        }
        let is_plain = |name: &&String| Path::new(name).file_name() == Some(OsStr::new(name));
        match list.files.iter().find(|name| !is_plain(name)) {
            Some(name) => Err(wrong(format!("the name {name:?}"))),
            None => Ok(list),
        }
    }

    /// Writes the list into a folder in which nobody reads it yet.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        whole::write(&folder.join(MANIFEST), &self.bytes()?)
    }

    /// Returns the file of the list.
    ///
    /// # Errors
    /// Never for names.
    pub fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let mut json = serde_json::to_vec(self).map_err(|error| Failure::Other(error.into()))?;
        json.push(b'\n');
        Ok(json)
    }

    /// Returns the names.
    pub fn files(&self) -> &BTreeSet<String> {
        &self.files
    }

    /// Returns a list of the names of both.
    pub fn with(&self, other: &Self) -> Self {
        Self::new(self.files.union(&other.files).cloned().collect())
    }

    /// Whether all files of the list are there, and there is one at least.
    pub fn is_complete(&self, folder: &Path) -> bool {
        !self.files.is_empty() && self.files.iter().all(|name| folder.join(name).is_file())
    }

    /// Checks that a command which writes files whose names `is_result` accepts would replace none but those of
    /// the list.
    ///
    /// # Errors
    /// At the first other file, or folder, of such a name.
    pub fn check(&self, folder: &Path, is_result: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let unreadable = |error| Failure::file(folder, "cannot be read", error);
        let mut others = BTreeSet::new();
        for entry in folder.read_dir().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_ours = self.files.contains(&name) && !entry.path().is_dir();
            if is_result(&name) && !is_ours {
                others.insert(name);
            }
        }
        match others.first() {
            None => Ok(()),
            Some(name) => Err(foreign(folder, name)),
        }
    }
}

/// Returns the failure that a file or folder of a result's name is not ours.
pub fn foreign(folder: &Path, name: &str) -> Failure {
    Failure::input(anyhow!(
        "out: found {name} in {}, which no command of icl wrote there, expected no such file; move it elsewhere",
        folder.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    use tempfile::tempdir;

    fn list(names: &[&str]) -> Manifest {
        Manifest::new(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn a_list_comes_back() {
        let at = tempdir().unwrap();
        assert_eq!(Manifest::read(at.path()).unwrap(), list(&[]));
        let ours = list(&["a", "b.json"]);
        ours.write(at.path()).unwrap();
        assert_eq!(Manifest::read(at.path()).unwrap(), ours);
        assert!(!ours.is_complete(at.path()) && !list(&[]).is_complete(at.path()));
        std::fs::write(at.path().join("a"), "").unwrap();
        assert!(list(&["a"]).is_complete(at.path()));
    }

    #[test]
    fn lists_that_no_command_wrote() {
        let at = tempdir().unwrap();
        let path = at.path().join(MANIFEST);
        for text in [
            "",
            "[]",
            "{\"schema\":1}",
            "{\"schema\":2,\"files\":[]}",
            "{\"schema\":1,\"files\":[\"../a\"]}",
            "{\"schema\":1,\"files\":[\"/etc/passwd\"]}",
            "{\"schema\":1,\"files\":[\"..\"]}",
            "{\"schema\":1,\"files\":[\"\"]}",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Manifest::read(at.path()).unwrap_err();
            assert!(matches!(error, Failure::Input(_)), "{text}: {error}");
            assert!(error.to_string().contains(MANIFEST), "{error}");
        }
    }

    #[test]
    fn files_of_others_are_named() {
        let at = tempdir().unwrap();
        let write = |name: &str| std::fs::write(at.path().join(name), "").unwrap();
        let check = |ours: &[&str]| list(ours).check(at.path(), |name| name.ends_with(".json"));
        write("notes.txt");
        write("a.json");
        assert!(check(&["a.json"]).is_ok());
        let error = check(&[]).unwrap_err().to_string();
        assert!(error.starts_with("out: found a.json in "), "{error}");
        // A folder is no file that a command wrote.
        std::fs::create_dir(at.path().join("b.json")).unwrap();
        let error = check(&["a.json", "b.json"]).unwrap_err().to_string();
        assert!(error.starts_with("out: found b.json in "), "{error}");
    }
}
