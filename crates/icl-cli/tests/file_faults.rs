//! Faults of the disk while `train`, `run` and `update` work: every operation that writes fails once, or is the last
//! one before the process is killed. Afterwards the output folder is as it was before, complete, or resumable.
//!
//! Each case is a process of its own: this program starts itself again, as the test [`child`], with a disk that has
//! one fault.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use icl_core::testing::{Fault, FaultyDisk, WAITS, choose_file_system};
use tempfile::{TempDir, tempdir};

use crate::support::toys::{NEW, OLD, Toys};
use crate::support::{MANIFEST, Ran, contents, icl, names, split, timeless, timeless_record};

/// Environment variable with the arguments of the child.
const LINE: &str = "ICL_FAULTS_LINE";
/// Environment variable with the number of the operation that has a fault, and the fault.
const FAULT: &str = "ICL_FAULTS_FAULT";
/// Environment variable with the file for the list of operations.
const LIST: &str = "ICL_FAULTS_LIST";

/// `ENOSPC`, the error of a full disk.
const FULL: i32 = 28;
/// `EIO`, the error of a broken one.
const BROKEN: i32 = 5;

/// Runs the program on a disk with a fault, and ends with its exit code.
#[test]
#[ignore = "a process that the other tests start"]
fn child() {
    // Not started by another test, but with all ignored ones.
    let Ok(line) = std::env::var(LINE) else {
        return;
    };
    let disk = FaultyDisk::new(std::env::var(FAULT).ok().map(|text| read_fault(&text)));
    let operations = disk.operations();
    choose_file_system(disk);
    let arguments = ["icl"].into_iter().chain(split(&line)).map(OsString::from);
    let code = icl_cli::main(arguments);
    if let Some(path) = std::env::var_os(LIST) {
        fs::write(path, operations.lines().join("\n")).unwrap();
    }
    let number = (0..=u8::MAX).find(|number| ExitCode::from(*number) == code);
    std::process::exit(number.unwrap().into())
}

/// A fault as the child reads it.
fn write_fault(number: usize, fault: Fault) -> String {
    match fault {
        Fault::Error(errno) => format!("{number} error {errno}"),
        Fault::HalfError(errno) => format!("{number} half-error {errno}"),
        Fault::Kill => format!("{number} kill"),
        Fault::HalfKill => format!("{number} half-kill"),
        Fault::Wait => format!("{number} wait"),
    }
}

fn read_fault(text: &str) -> (usize, Fault) {
    let words = split(text);
    let fault = match (words[1], words.get(2)) {
        ("error", Some(errno)) => Fault::Error(errno.parse().unwrap()),
        ("half-error", Some(errno)) => Fault::HalfError(errno.parse().unwrap()),
        ("kill", None) => Fault::Kill,
        ("half-kill", None) => Fault::HalfKill,
        ("wait", None) => Fault::Wait,
        _ => panic!("{text} is no fault"),
    };
    (words[0].parse().unwrap(), fault)
}

/// The child with these arguments, in the folder `at`.
fn faulty(at: &Path, line: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "file_faults::child", "--ignored", "--nocapture"])
        .env(LINE, line)
        .env("RAYON_NUM_THREADS", "1")
        .env_remove("RUST_BACKTRACE")
        .current_dir(at)
        .stdin(Stdio::null());
    command
}

/// The names and contents of files, by which results are compared: records without durations, and of a page only
/// that it is whole, since it shows some.
type Results = BTreeMap<String, String>;

fn results(folder: &Path) -> Results {
    let shown = |(name, bytes): (String, Vec<u8>)| {
        let text = match name.as_str() {
            "record.json" => format!("{:?}", timeless_record(folder)),
            "record.jsonl" => format!("{:?}", timeless(folder)),
            "report.html" => format!("whole: {}", bytes.trim_ascii_end().ends_with(b"</html>")),
            _ => format!("{:08x}", crc32fast::hash(&bytes)),
        };
        (name, text)
    };
    contents(folder).into_iter().map(shown).collect()
}

/// Everything in a folder and those below it, to the byte; empty without the folder.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(everything(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// A command, and the folder in which it begins.
struct Scenario {
    /// Folder of the data and, in it, of the cases.
    at: TempDir,
    line: String,
    /// The output folder, from the folder of a case.
    out: &'static str,
    /// Contents of the folder of a case before the command.
    before: Option<PathBuf>,
    /// Results without a fault.
    expected: Results,
    operations: Vec<String>,
}

impl Scenario {
    /// Runs the command without a fault, to know its operations and results.
    fn new(at: TempDir, line: &str, out: &'static str, before: Option<PathBuf>) -> Self {
        let mut scenario = Self {
            at,
            line: line.to_owned(),
            out,
            before,
            expected: Results::new(),
            operations: Vec::new(),
        };
        let folder = scenario.folder("whole");
        let list = scenario.at.path().join("operations");
        let output = faulty(&folder, line).env(LIST, &list).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {stderr}");
        scenario.expected = results(&folder.join(out));
        let listed = fs::read_to_string(list).unwrap();
        scenario.operations = listed.lines().map(str::to_owned).collect();
        scenario
    }

    /// Makes the folder of a case.
    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.at.path().join(name);
        fs::create_dir(&folder).unwrap();
        if let Some(before) = &self.before {
            copy(before, &folder);
        }
        folder
    }

    /// The faults of each operation.
    fn faults(&self) -> Vec<(usize, Fault)> {
        let mut faults = Vec::new();
        for (number, operation) in self.operations.iter().enumerate() {
            let errno = [FULL, BROKEN][number % 2];
            faults.extend([(number, Fault::Error(errno)), (number, Fault::Kill)]);
            if operation.starts_with("write ") {
                faults.extend([(number, Fault::HalfError(errno)), (number, Fault::HalfKill)]);
            }
        }
        faults
    }

    /// Tries every fault.
    fn withstands_faults(&self) {
        let faults = self.faults();
        let next = AtomicUsize::new(0);
        let wrong = Mutex::new(Vec::new());
        let work = || {
            while let Some(&(number, fault)) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.withstands(number, fault) {
                    let operation = &self.operations[number];
                    let fault = format!("{fault:?} at {number}, {operation}: {error:#}");
                    wrong.lock().unwrap().push(fault);
                }
            }
        };
        let n_workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| (0..n_workers).for_each(|_| drop(scope.spawn(work))));
        let wrong = wrong.into_inner().unwrap();
        assert!(
            wrong.is_empty(),
            "{}: {} of {} faults, among them\n{}",
            self.line,
            wrong.len(),
            faults.len(),
            wrong[..wrong.len().min(20)].join("\n")
        );
    }

    fn withstands(&self, number: usize, fault: Fault) -> Result<()> {
        let name = write_fault(number, fault).replace(' ', "-");
        let at = self.folder(&name);
        let before = everything(&at);
        let output = faulty(&at, &self.line)
            .env(FAULT, write_fault(number, fault))
            .output()?;
        let stderr = String::from_utf8(output.stderr)?;
        let out = at.join(self.out);
        let is_resumable = out.join(".checkpoint/config.toml").exists();
        let is_complete = !is_resumable && out.exists() && {
            let mut found = results(&out);
            found.remove(".checkpoint");
            found.retain(|name, _| !name.starts_with(".unfinished-"));
            found == self.expected
        };
        if matches!(fault, Fault::Kill | Fault::HalfKill) {
            // SIGABRT.
            ensure!(output.status.signal() == Some(6), "not killed: {stderr}");
        } else {
            match output.status.code() {
                Some(0) => ensure!(is_complete, "exit code 0 without results: {stderr}"),
                Some(1) => {
                    let errors = stderr.lines().filter(|line| line.starts_with("error: "));
                    let errors: Vec<&str> = errors.collect();
                    ensure!(errors.len() == 1, "not one error: {stderr}");
                    ensure!(errors[0].contains(self.out), "no file: {stderr}");
                    let is_as_before = everything(&at) == before;
                    let has_hint = errors[0].ends_with("continues it");
                    ensure!(
                        is_as_before && !has_hint || is_resumable && has_hint,
                        "as before {is_as_before}, resumable {is_resumable}: {stderr}"
                    );
                }
                _ => anyhow::bail!("{:?}: {stderr}", output.status),
            }
        }
        self.recovers(&at, is_resumable, is_complete)
            .with_context(|| format!("after {stderr}"))?;
        fs::remove_dir_all(&at)?;
        Ok(())
    }

    /// Checks that the next command makes the results complete.
    fn recovers(&self, at: &Path, is_resumable: bool, is_complete: bool) -> Result<()> {
        let command = split(&self.line)[0];
        let resume = format!("{command} --resume {}", self.out);
        let line = match is_resumable || is_complete {
            true => &resume,
            false => &self.line,
        };
        let Ran {
            code,
            stdout,
            stderr,
        } = icl(at, &split(line));
        ensure!(code == Some(0), "{line}: {stderr}");
        ensure!(
            stdout.starts_with("already complete") == is_complete,
            "{line}: {stdout}"
        );
        let out = at.join(self.out);
        ensure!(results(&out) == self.expected, "{:?}", results(&out));
        let manifest: serde_json::Value = serde_json::from_slice(&fs::read(out.join(MANIFEST))?)?;
        let listed = &manifest["files"];
        ensure!(*listed == serde_json::json!(names(&out)), "{listed}");
        Ok(())
    }
}

/// Few small graphs.
fn data() -> TempDir {
    let at = tempdir().unwrap();
    Toys { n: 20, ..OLD }.write(at.path(), "OLD");
    Toys { n: 12, ..NEW }.write(at.path(), "NEW");
    at
}

const TRAIN: &str =
    "train --data ../OLD --epochs 2 --stop never --width 4 --batch-size 8 --out out";

#[test]
fn training_withstands_faults_of_the_disk() {
    Scenario::new(data(), TRAIN, "out", None).withstands_faults();
}

#[test]
fn training_over_earlier_results_withstands_faults_of_the_disk() {
    let at = data();
    let earlier = at.path().join("earlier");
    fs::create_dir(&earlier).unwrap();
    icl(&earlier, &split(&format!("{TRAIN} --seed 1"))).succeeded();
    let line = format!("{TRAIN} --force");
    Scenario::new(at, &line, "out", Some(earlier)).withstands_faults();
}

/// The state of the training run is replaced by later ones, and results are published over it.
#[test]
fn training_that_is_resumed_withstands_faults_of_the_disk() {
    let at = data();
    let interrupted = at.path().join("interrupted");
    fs::create_dir(&interrupted).unwrap();
    // It waits before it trains, until it has heard of the interruption; then it stops after a step.
    let mut child = faulty(&interrupted, TRAIN)
        .env(FAULT, write_fault(8, Fault::Wait))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    lines.find(|line| line == WAITS).unwrap();
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    lines.find(|line| line.starts_with("finishing")).unwrap();
    drop(child.stdin.take());
    let last = lines.last().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{last}");
    assert!(last.contains("stopped after step 1;"), "{last}");
    Scenario::new(at, "train --resume out", "out", Some(interrupted)).withstands_faults();
}

/// Also the folder above the output folder is created.
#[test]
fn a_comparison_withstands_faults_of_the_disk() {
    let line = "run --data ../OLD --seed 0 --epochs 1 --stop never --width 4 --batch-size 8 --method warm \
                --protocol knn --out new/out";
    Scenario::new(data(), line, "new/out", None).withstands_faults();
}

#[test]
fn an_update_withstands_faults_of_the_disk() {
    let at = data();
    let first = at.path().join("first");
    fs::create_dir(&first).unwrap();
    icl(&first, &split(TRAIN)).succeeded();
    let line = "update --from ../first/out/encoder.safetensors --old ../OLD --new ../NEW --epochs 2 --stop never \
                --batch-size 8 --out out";
    Scenario::new(at, line, "out", None).withstands_faults();
}
