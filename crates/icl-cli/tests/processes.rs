//! Commands of several processes that `mpirun` starts, over the loopback interface. They are skipped, with a message, if the program
//! is built without MPI or there is no `mpirun`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::stopped::epochs_of_some_seconds;
use crate::support::toys::{NEW, OLD};
use crate::support::{DAY, Ran, icl, names, split, work};
use serde_json::Value;
use tempfile::tempdir;

/// Arguments of `mpirun` with which processes talk over the loopback interface, as those of several machines do over a network.
const LOOPBACK: &str = "--allow-run-as-root --oversubscribe --bind-to none --mca btl self,tcp --mca btl_tcp_if_include lo \
     --mca btl_tcp_disable_family 6 -np";

/// Returns whether processes can be started together, and prints a note if not.
fn is_there() -> bool {
    if !cfg!(feature = "mpi") {
        eprintln!("skipped: this program is built without the feature mpi");
        return false;
    }
    let found = Command::new("mpirun").arg("--version").output();
    let is_found = found.is_ok_and(|output| output.status.success());
    if !is_found {
        eprintln!("skipped: there is no mpirun (Debian: openmpi-bin)");
    }
    is_found
}

/// The command of `size` processes of the program with these arguments.
fn mpirun(at: &Path, size: usize, line: &str) -> Command {
    let mut command = Command::new("mpirun");
    command
        .args(split(LOOPBACK))
        .arg(size.to_string())
        .arg(env!("CARGO_BIN_EXE_icl"))
        .args(split(line))
        .current_dir(at)
        .env("RAYON_NUM_THREADS", "1")
        .env(DAY[0], DAY[1])
        .stdin(Stdio::null());
    command
}

/// Runs it to its end.
fn together(at: &Path, size: usize, line: &str) -> Ran {
    let output = mpirun(at, size, line).output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Asserts that two records have the same fields, numbers but durations to 1e-5, and the same texts.
fn assert_near(found: &Value, expected: &Value, at: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            let keys = |of: &serde_json::Map<String, Value>| of.keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(found), keys(expected), "{at}");
            for (key, found) in found {
                if !(key.ends_with("_s") || ["seconds", "command"].contains(&&key[..])) {
                    assert_near(found, &expected[key], &format!("{at}.{key}"));
                }
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{at}");
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert_near(found, expected, &format!("{at}[{index}]"));
            }
        }
        (Value::Number(found), Value::Number(expected)) => {
            let [found, expected] = [found, expected].map(|number| number.as_f64().unwrap());
            let distance = (found - expected).abs();
            assert!(
                distance <= 1e-5 * expected.abs().max(1.0),
                "{at}: {found} instead of {expected}"
            );
        }
        _ => assert_eq!(found, expected, "{at}"),
    }
}

/// Two processes have two shards of a batch, as one process with chunks of half a batch has.
#[test]
fn processes_train_the_encoder_of_one() {
    if !is_there() {
        return;
    }
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    NEW.write(at.path(), "new");
    let train = "train --data old --epochs 3 --batch-size 16";
    let ran = together(at.path(), 2, &format!("{train} --devices mpi --out two"));
    let ran = ran.succeeded();
    assert_eq!(
        ran.stdout.matches("written to two").count(),
        1,
        "{}",
        ran.stdout
    );
    let few = "warning: 2 shards of 8 samples";
    assert_eq!(ran.stderr.matches(few).count(), 1, "{}", ran.stderr);
    let ran = icl(at.path(), &split(&format!("{train} --chunk 8 --out one"))).succeeded();
    assert!(ran.stderr.contains(few), "{}", ran.stderr);
    let [two, one] = ["two", "one"].map(|out| at.path().join(out));
    assert_eq!(names(&two), names(&one));
    let record = |out: &Path| {
        let mut record = json(&out.join("record.json"));
        // GradCache embeds twice, and charges it.
        for key in ["cost", "charged_passes", "sample_passes", "evaluations"] {
            record.as_object_mut().unwrap().remove(key);
        }
        record
    };
    assert_near(&record(&two), &record(&one), "record");
    assert_eq!(
        names(at.path()),
        ["new", "old", "one", "two"],
        "one output of all processes"
    );

    let update =
        "update --from two/encoder.safetensors --old old --new new --epochs 3 --batch-size 16";
    together(at.path(), 3, &format!("{update} --devices mpi --out three")).succeeded();
    icl(
        at.path(),
        &split(&format!("{update} --chunk 6 --out alone")),
    )
    .succeeded();
    let risk = |out: &str| json(&at.path().join(out).join("record.json"))["after"].clone();
    assert_near(&risk("three"), &risk("alone"), "after");
}

/// Two processes, two threads and chunks of half a batch have the same shards of graphs.
#[test]
fn processes_and_threads_train_the_same_graph_network() {
    if !is_there() {
        return;
    }
    let at = tempdir().unwrap();
    let line = "train --data MUTAG --epochs 3";
    together(
        at.path(),
        2,
        &format!("{line} --devices mpi --out processes"),
    )
    .succeeded();
    let record = |out: &str| {
        let record = json(&at.path().join(out).join("record.json"));
        ["epoch_losses", "untrained", "trained"].map(|field| record[field].clone())
    };
    for rest in [
        "--backend flex,flex --out threads",
        "--chunk 16 --out alone",
    ] {
        icl(at.path(), &split(&format!("{line} {rest}"))).succeeded();
        let out = rest.rsplit(' ').next().unwrap();
        for (found, expected) in record("processes").iter().zip(record(out)) {
            assert!(!expected.is_null());
            assert_near(found, &expected, out);
        }
    }
}

#[test]
fn comparisons_and_streams_run_in_processes() {
    if !is_there() {
        return;
    }
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    for line in [
        "run --data old --method warm,icl --epochs 2 --protocol none",
        "stream --data old --split data:3 --epochs 2 --control retraining --keep reservoir:10",
    ] {
        let out = format!("{}-two", split(line)[0]);
        let ran = together(at.path(), 2, &format!("{line} --devices mpi --out {out}"));
        let ran = ran.succeeded();
        assert_eq!(
            ran.stdout.matches("written to").count(),
            1,
            "{}",
            ran.stdout
        );
    }
    let matrix = json(&at.path().join("stream-two/matrix.json"));
    assert!(matrix["risk"][2][2].as_f64().unwrap() > 0.0);
}

#[test]
fn what_processes_cannot_do_is_one_error() {
    if !is_there() {
        return;
    }
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    NEW.write(at.path(), "new");
    icl(at.path(), &split("train --data old --epochs 1 --out first")).succeeded();
    let update = "update --from first/encoder.safetensors --old old --new new --devices mpi --out refused --method";
    for (line, expected) in [
        (
            format!("{update} icl-published-wo-lrl"),
            "found batches in 2 shards with meta-optimization",
        ),
        (
            format!("{update} warm-lrl"),
            "found batches in 2 shards with a learned rate",
        ),
        (
            "train --data missing --devices mpi --out refused".to_owned(),
            "missing",
        ),
        (
            "stream --watch old --devices mpi --out refused".to_owned(),
            "watch",
        ),
    ] {
        let ran = together(at.path(), 2, &line);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        let errors = ran
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "));
        let errors: Vec<&str> = errors.collect();
        assert_eq!(errors.len(), 1, "{}", ran.stderr);
        assert!(errors[0].contains(expected), "{}", ran.stderr);
        assert!(!at.path().join("refused").exists());
    }
}

/// Returns the identifiers of the children of a process.
fn children(parent: &Child) -> Vec<String> {
    let found = Command::new("ps")
        .args(["-o", "pid=", "--ppid", &parent.id().to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

/// MPI ends the others when one is killed, and the work continues from its checkpoint with identical results.
#[test]
fn a_process_that_is_killed_ends_all_and_the_work_goes_on() {
    if !is_there() {
        return;
    }
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    let line = |n_epochs: usize, out: &str| {
        format!("train --data old --epochs {n_epochs} --stop never --devices mpi --out {out}")
    };
    let n_epochs = epochs_of_some_seconds(&at.path().join("whole"), |n_epochs| {
        together(at.path(), 2, &line(n_epochs, "whole"))
    });
    let mut child = mpirun(at.path(), 2, &line(n_epochs, "killed"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let checkpoint = work(&at.path().join("killed")).join("training.checkpoint");
    let start = Instant::now();
    while !checkpoint.exists() && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(20));
    }
    let last = children(&child).pop().unwrap();
    let killed = Command::new("kill")
        .args(["-KILL", &last])
        .status()
        .unwrap();
    assert!(killed.success());
    assert!(!child.wait().unwrap().success());
    assert!(
        !at.path().join("killed/record.json").exists(),
        "killed too late"
    );
    let alone = icl(at.path(), &split("train --resume killed"));
    alone.rejected_in_last_line("shards of a batch is 2, expected 1");
    together(at.path(), 2, "train --resume killed").succeeded();
    let [whole, killed] =
        ["whole", "killed"].map(|out| json(&at.path().join(out).join("record.json")));
    assert_near(&killed, &whole, "record");
}

/// A program without MPI says so.
#[test]
fn one_process_needs_no_group() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    let line = "train --data old --epochs 1 --devices mpi --out out";
    if cfg!(feature = "mpi") {
        // Without mpirun it is a group of one.
        return;
    }
    icl(at.path(), &split(line)).rejected(
        "devices: found mpi, expected one: this program was built without the feature mpi",
    );
    assert_eq!(names(at.path()), ["old"]);
}

/// Returns the peak of the resident memory of a run, in KiB, as the system last said it.
#[cfg(target_os = "linux")]
fn peak(at: &Path, line: &str) -> u64 {
    let mut child = crate::support::command(at, &split(line))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = number.unwrap_or(peak);
        sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success(), "{line}");
    peak
}

/// A whole batch of 1024 takes 1.9 times the memory of a batch of 64.
#[cfg(target_os = "linux")]
#[test]
fn a_batch_in_chunks_takes_the_memory_of_a_chunk() {
    let at = tempdir().unwrap();
    let train = "train --data digits --encoder resnet18 --epochs 1 --stop never";
    let line = format!("{train} --limit 200 --batch-size 64 --out small");
    let small = peak(at.path(), &line);
    let line = format!("{train} --limit 1100 --batch-size 1024 --chunk 64 --out large");
    let large = peak(at.path(), &line);
    assert!(
        small > 0 && large as f64 <= 1.3 * small as f64,
        "{large} KiB, {small} KiB for a chunk"
    );
}
