//! The outcome of a call of a program, and what it leaves in its folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Outcome of a call of the program.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program to its end.
pub fn run(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    let Output {
        status,
        stdout,
        stderr,
    } = output;
    Ran {
        code: status.code(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

/// A line of arguments as a list, as long as none holds a space.
pub fn split(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

impl Ran {
    /// Asserts that it succeeded.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Asserts that it rejected its input with one line that holds `needle`, and printed nothing
    /// else.
    #[track_caller]
    pub fn rejected(&self, needle: &str) {
        self.rejected_at_length(needle);
        let lines = self.stderr.lines().count();
        assert_eq!(lines, 1, "expected one line: {}", self.stderr);
    }

    /// The same for the messages of the parsers of flags and of TOML, which show what they found.
    #[track_caller]
    pub fn rejected_at_length(&self, needle: &str) {
        assert_eq!(self.code, Some(2), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        let errors = self
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{}", self.stderr);
        assert!(
            self.stderr.contains(needle),
            "expected {needle:?} in: {}",
            self.stderr
        );
    }
}

/// The names in a folder, hidden ones too.
pub fn names(folder: &Path) -> Vec<String> {
    contents(folder).into_keys().collect()
}

/// The list of the files that a command wrote, in their folder.
pub const MANIFEST: &str = ".icl-manifest.json";

/// The files in a folder with what they hold, but for the list of them; folders in it hold nothing.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.file_name().unwrap() != MANIFEST)
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let bytes = if path.is_dir() {
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            (name, bytes)
        })
        .collect()
}

/// The lines of a run's `record.jsonl`.
pub fn records(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("record.jsonl")).unwrap();
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The records of a run without the keys that end in `_s`, however deep they lie.
pub fn timeless(run: &Path) -> Vec<Value> {
    let mut records = records(run);
    records.iter_mut().for_each(drop_durations);
    records
}

/// Removes the keys that end in `_s`, however deep they lie.
pub fn drop_durations(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !key.ends_with("_s"));
            map.values_mut().for_each(drop_durations);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_durations),
        _ => {}
    }
}

/// The number under a path of keys, written `risk.all`.
#[track_caller]
pub fn number(value: &Value, path: &str) -> f64 {
    let found = path.split('.').fold(value, |value, key| &value[key]);
    let Some(found) = found.as_f64() else {
        panic!("{path} is {found}, no number")
    };
    found
}

/// The text under a key.
#[track_caller]
pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}
