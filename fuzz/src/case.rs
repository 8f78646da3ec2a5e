//! Inputs that are made from valid ones.

use std::cell::OnceCell;

use anyhow::Result;
use arbitrary::{Arbitrary, Unstructured};

use crate::edit::Edit;
use crate::format::{Format, formats};
use crate::parts::Part;
use crate::trial::Trial;

/// A valid input and what is changed in it.
#[derive(Debug, Clone, PartialEq, Eq, Arbitrary)]
pub struct Case {
    /// Number of the valid input, modulo their number.
    pub valid: u8,
    /// Edits of parts, each with the number of its part, before they are packed.
    pub of_parts: Vec<(u8, Edit)>,
    /// Edits of files, each with the number of its file.
    pub of_files: Vec<(u8, Edit)>,
    /// Numbers of files that are missing.
    pub missing: Vec<u8>,
}

impl Case {
    /// Makes a case of random bytes.
    ///
    /// # Errors
    /// If there are too few of them.
    pub fn of(bytes: &[u8]) -> arbitrary::Result<Self> {
        let mut case = Self::arbitrary(&mut Unstructured::new(bytes))?;
        // A missing file ends the reading early, so that only an eighth of the cases miss one.
        if !case.valid.is_multiple_of(8) {
            case.missing.clear();
        }
        Ok(case)
    }

    /// Returns the files of the input.
    ///
    /// # Errors
    /// If the edited parts cannot be packed.
    pub fn files(&self, format: &Format) -> Result<Vec<Part>> {
        let n = format.valid.len();
        let valid = &format.valid[usize::from(self.valid) % n];
        let mut parts = valid.parts.clone();
        edit(&mut parts, &self.of_parts, format.words);
        let mut files = (valid.pack)(&parts)?;
        edit(&mut files, &self.of_files, format.words);
        for missing in &self.missing {
            if files.len() > 1 {
                files.remove(usize::from(*missing) % files.len());
            }
        }
        Ok(files)
    }

    /// Returns the cases with one edit less.
    pub fn simpler(&self) -> Vec<Self> {
        let mut simpler = Vec::new();
        for at in 0..self.of_parts.len() {
            let mut case = self.clone();
            case.of_parts.remove(at);
            simpler.push(case);
        }
        for at in 0..self.of_files.len() {
            let mut case = self.clone();
            case.of_files.remove(at);
            simpler.push(case);
        }
        for at in 0..self.missing.len() {
            let mut case = self.clone();
            case.missing.remove(at);
            simpler.push(case);
        }
        simpler
    }
}

fn edit(parts: &mut [Part], edits: &[(u8, Edit)], words: &[&str]) {
    let n = parts.len();
    for (part, edit) in edits {
        if n > 0 {
            edit.apply(&mut parts[usize::from(*part) % n].bytes, words);
        }
    }
}

/// Reads the input of a case of a format, for cargo-fuzz.
///
/// # Panics
/// If there is no such format, its valid inputs cannot be made, or its reader breaks the promise.
pub fn check(name: &str, case: &Case) {
    thread_local! {
        static FORMAT: OnceCell<Format> = const { OnceCell::new() };
    }
    let make = || {
        let all = formats();
        let (_, make) = all
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("no format {name}"));
        make().unwrap_or_else(|error| panic!("the valid inputs cannot be made: {error:#}"))
    };
    FORMAT.with(|format| {
        let format = format.get_or_init(make);
        // Parts that cannot be packed are no input.
        let Ok(files) = case.files(format) else {
            return;
        };
        match Trial::new(format).and_then(|trial| trial.run(&files)) {
            Ok(reading) => assert_eq!(reading.breach, None),
            Err(error) => panic!("the input cannot be written: {error:#}"),
        }
    });
}
