//! Runs the program as a user would, and reads what it leaves.

#[path = "../../../../crates/icl-cli/tests/support/digits.rs"]
pub mod digits;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Outcome of a call of the program.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The program with these arguments, in the folder `at`.
pub fn command<S: AsRef<OsStr>>(at: &Path, arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icl-lab"));
    command
        .args(arguments)
        .current_dir(at)
        .stdin(Stdio::null())
        .env_remove("RUST_BACKTRACE");
    command
}

/// Runs it to its end.
pub fn lab<S: AsRef<OsStr>>(at: &Path, arguments: &[S]) -> Ran {
    let Output {
        status,
        stdout,
        stderr,
    } = command(at, arguments).output().unwrap();
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

    /// Asserts that it rejected its input with one line that holds `needle`, and printed nothing else.
    #[track_caller]
    pub fn rejected(&self, needle: &str) {
        self.rejected_at_length(needle);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
    }

    /// The same for the messages of the parser of flags, which show what they found.
    #[track_caller]
    pub fn rejected_at_length(&self, needle: &str) {
        assert_eq!(self.code, Some(2), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
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

/// The files in a folder with what they hold, but for the list of them; folders in it hold nothing.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        let bytes = fs::read(entry.path()).unwrap_or_default();
        (name, bytes)
    });
    files
        .filter(|(name, _)| name != ".icl-manifest.json")
        .collect()
}

/// The lines of a run's `record.jsonl`.
pub fn records(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("record.jsonl")).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The records of a run without the keys that end in `_s`, however deep they lie.
pub fn timeless(run: &Path) -> Vec<Value> {
    let mut records = records(run);
    records.iter_mut().for_each(drop_durations);
    records
}

fn drop_durations(value: &mut Value) {
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
    found
        .as_f64()
        .unwrap_or_else(|| panic!("{path} is {found}, no number"))
}

/// The text under a key.
#[track_caller]
pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}
