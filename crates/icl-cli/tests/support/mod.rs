//! Runs the program as a user would, and reads what it leaves.

pub mod digits;
mod outcome;
pub mod shop;
pub mod stopped;
pub mod toys;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use outcome::run;
pub use outcome::{
    MANIFEST, Ran, contents, drop_durations, names, number, records, split, text, timeless,
};

/// The registry, in its order.
pub const METHODS: [&str; 20] = [
    "inference",
    "retraining",
    "warm",
    "warm-sub",
    "fine-tuning",
    "replay",
    "distillation",
    "icl-published",
    "icl-published-wo-lrl",
    "icl-published-wo-m",
    "icl-published-wo-m-lrl",
    "icl-corrected",
    "icl-corrected-wo-lrl",
    "icl-corrected-wo-m",
    "icl-corrected-wo-m-lrl",
    "icl",
    "warm-cosine",
    "warm-hypergradient",
    "warm-lrl-published",
    "warm-lrl",
];

/// The backend that the program takes by itself: the first that it was built with.
pub fn default_backend() -> &'static str {
    let all = [
        ("flex", cfg!(feature = "flex")),
        ("tch", cfg!(feature = "tch")),
        ("wgpu", cfg!(feature = "wgpu")),
        ("vulkan", cfg!(feature = "vulkan")),
        ("cuda", cfg!(feature = "cuda")),
    ];
    let first = all.into_iter().find(|(_, is_built_in)| *is_built_in);
    first.unwrap().0
}

/// The day on which all encoders are trained: those that are compared may be made around midnight.
pub const DAY: [&str; 2] = ["SOURCE_DATE_EPOCH", "1764201600"];

/// The program with these arguments, in the folder `at`.
pub fn command<S: AsRef<OsStr>>(at: &Path, arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icl"));
    command
        .args(arguments)
        .current_dir(at)
        .stdin(Stdio::null())
        .env(DAY[0], DAY[1])
        .env_remove("RUST_BACKTRACE");
    command
}

/// Runs it to its end.
pub fn icl<S: AsRef<OsStr>>(at: &Path, arguments: &[S]) -> Ran {
    run(command(at, arguments))
}

impl Ran {
    /// Asserts that it rejected its input in the last line, after it had reported its work.
    #[track_caller]
    pub fn rejected_in_last_line(&self, needle: &str) {
        assert_eq!(self.code, Some(2), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        let last = self.stderr.lines().last().unwrap();
        assert!(last.starts_with("error: "), "{last}");
        assert!(last.contains(needle), "expected {needle:?} in: {last}");
    }
}

/// Renames the digest in the file of an encoder, as which nothing is compared then: files of earlier versions have
/// none.
pub fn without_digest(encoder: &Path) {
    let mut bytes = fs::read(encoder).unwrap();
    let key = b"\"digest\":\"";
    let place = bytes.windows(key.len()).position(|it| it == key).unwrap();
    bytes[place + 1] = b'x';
    fs::write(encoder, bytes).unwrap();
}

/// The numbers of a file of embeddings, without what is known of the rows.
pub fn embedded(csv: &str) -> Vec<Vec<f64>> {
    let mut lines = csv.lines();
    let mut names = lines.next().unwrap().split(',');
    let n_facts = names.position(|name| name == "e0").unwrap();
    let row = |line: &str| {
        let values = line.split(',').skip(n_facts);
        values.map(|value| value.parse().unwrap()).collect()
    };
    lines.map(row).collect()
}

/// The folder of the work for an output folder that is not complete.
pub fn work(out: &Path) -> PathBuf {
    let inside = out.join(".icl-work");
    let name = out.file_name().unwrap().to_str().unwrap();
    match inside.exists() {
        true => inside,
        false => out.with_file_name(format!(".icl-{name}.partial")),
    }
}

/// Everything in a folder and those below it, to the byte: links by where they lead.
pub fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            let to = fs::read_link(&path).unwrap();
            found.insert(path, to.into_os_string().into_encoded_bytes());
        } else if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(everything(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    found
}

/// Everything in a folder that was not there before.
pub fn made_since(at: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut made = everything(at);
    made.retain(|path, _| !before.contains_key(path));
    made
}

/// Removes files and folders, as far as they are there.
pub fn remove_all(at: &Path, outputs: &[&str]) {
    for out in outputs.iter().map(|out| at.join(out)) {
        let _ = fs::remove_dir_all(&out).or_else(|_| fs::remove_file(&out));
    }
}

/// The `record.json` of a folder.
pub fn record(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("record.json")).unwrap();
    assert!(text.ends_with("}\n"));
    serde_json::from_str(&text).unwrap()
}

/// The same without the keys that end in `_s`, however deep they lie.
pub fn timeless_record(folder: &Path) -> Value {
    let mut record = record(folder);
    drop_durations(&mut record);
    record
}

/// The names in the first column of the tables of a part of the book's page about records.
pub fn documented(table: &str) -> BTreeSet<String> {
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let columns = rows.map(|row| row.split(" | ").next().unwrap());
    columns
        .flat_map(|column| column.split(", "))
        .map(|name| name.trim_matches(['`', ' ']).to_owned())
        .collect()
}

/// The part of the book's page about records that follows a heading.
pub fn of_book(heading: &str) -> String {
    let book = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/book/src/records.md"
    );
    let book = fs::read_to_string(book).unwrap();
    let (_, rest) = book.split_once(&format!("\n{heading}\n")).unwrap();
    let end = rest.find("\n#").unwrap_or(rest.len());
    rest[..end].to_owned()
}

/// The rows of the book's table of trainings that hold for a command: `train`, `update` or `run`.
pub fn rows_of(command: &str) -> String {
    let table = of_book("## Trainings");
    let holds = |line: &&str| {
        let mut commands = line.split(" | ").nth(1).unwrap_or_default().split(", ");
        line.starts_with("| `") && commands.any(|it| it == "all" || it == command)
    };
    let rows: Vec<&str> = table.lines().filter(holds).collect();
    rows.join("\n")
}

/// The keys of an object.
pub fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap().keys().cloned().collect()
}

/// Asserts that the fields of a command's record, those of its object `inner` and of its evaluations are those of the
/// table in the book.
#[track_caller]
pub fn assert_documented(record: &Value, command: &str, inner: &str) {
    let fields = rows_of(command);
    assert_eq!(keys(record), documented(&fields));
    for (key, of) in [
        (inner, &record[inner]),
        ("evaluations", &record["evaluations"][0]),
    ] {
        let mut rows = fields.lines();
        let row = rows.find(|line| line.starts_with(&format!("| `{key}`")));
        for field in keys(of) {
            let is_there = row.unwrap().contains(&format!("`{field}`"));
            assert!(is_there, "{key}.{field}");
        }
    }
}
