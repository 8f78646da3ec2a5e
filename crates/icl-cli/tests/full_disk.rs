//! Disks that are full and limits on the size of files: one error that names the file, and nothing half-written.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::{TempDir, tempdir};

use crate::support::toys::{NEW, OLD};
use crate::support::{
    DAY, contents, everything, icl, made_since, names, remove_all, split, timeless_record, work,
};

/// Runs the program in `at` from a shell, after some words of the shell.
fn in_shell(at: &Path, words: &str, line: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_icl");
    Command::new("sh")
        .args(["-c", &format!("{words} exec {program} {line}")])
        .current_dir(at)
        .env(DAY[0], DAY[1])
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Asserts that a command has ended with one error of the machine, and returns it.
#[track_caller]
fn failed(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{:?}: {stderr}",
        output.status
    );
    let errors: Vec<&str> = stderr
        .lines()
        .filter(|it| it.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 1, "{stderr}");
    errors[0].to_owned()
}

fn data() -> TempDir {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    NEW.write(at.path(), "new");
    icl(
        at.path(),
        &split("train --data old --epochs 1 --stop never --out first"),
    )
    .succeeded();
    at
}

/// Limits in blocks of 512 bytes: each of the files that a command writes is the first that is too large for one of them.
const LIMITS: [usize; 12] = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48];

/// Limits the size of files that a command writes which does not continue: all of its outputs are there, or none.
fn withstands_limits(at: &Path, line: &str, outputs: &[&str]) {
    let before = everything(at);
    let made = || made_since(at, &before);
    icl(at, &split(line)).succeeded();
    let expected = made();
    let remove = || remove_all(at, outputs);
    remove();
    let mut n_failed = 0;
    for limit in LIMITS {
        let output = in_shell(at, &format!("ulimit -f {limit};"), line);
        if output.status.success() {
            assert!(made() == expected, "{line}");
            remove();
            continue;
        }
        n_failed += 1;
        let error = failed(&output);
        assert!(error.contains("File too large"), "{error}");
        assert!(everything(at) == before, "{line} {limit}");
    }
    assert!(n_failed > 0, "{line} writes little");
    icl(at, &split(line)).succeeded();
    assert!(made() == expected, "{line}");
    remove();
}

#[test]
fn files_that_are_too_large_are_an_error() {
    let at = data();
    let at = at.path();
    withstands_limits(at, "split --data old --out parts", &["parts"]);
    withstands_limits(at, "split --data digits --out parts", &["parts"]);
    let embed = "embed --from first/encoder.safetensors --data old --views 2 --out";
    withstands_limits(
        at,
        &format!("{embed} a.npy"),
        &[
            "a.npy",
            "a.labels.npy",
            "a.rows.json",
            "a.positives.npy",
            "a.positives.rows.json",
        ],
    );
    withstands_limits(at, &format!("{embed} a.csv"), &["a.csv", "a.positives.csv"]);
    icl(at, &split(&format!("{embed} a.npy"))).succeeded();
    let align = "align --from a.npy --to a.positives.npy --form affine --out m.safetensors";
    withstands_limits(at, align, &["m.safetensors"]);
    withstands_limits(at, "negatives --train-auc 0.9 --out page", &["page"]);
}

/// Work that continues is as it was, or reaches the same results.
#[test]
fn work_with_files_that_are_too_large_goes_on() {
    let at = data();
    let at = at.path();
    let mut kept = 0;
    for line in [
        "train --data old --epochs 2 --stop never --tensorboard",
        "update --from first/encoder.safetensors --old old --new new --epochs 2 --stop never",
        "run --data old --method warm --seed 0 --epochs 2 --stop never --protocol none",
    ] {
        let command = split(line)[0];
        icl(at, &split(&format!("{line} --out whole"))).succeeded();
        let results = |out: &str| {
            let mut results = contents(&at.join(out));
            results.retain(|name, _| name.ends_with(".safetensors"));
            results
        };
        let before = names(at);
        for limit in (0..400).step_by(50).chain([2, 5]) {
            let output = in_shell(
                at,
                &format!("ulimit -f {limit};"),
                &format!("{line} --out out"),
            );
            let out = at.join("out");
            if !output.status.success() {
                let error = failed(&output);
                assert!(error.contains("File too large"), "{error}");
                assert!(!out.exists());
                let is_kept = work(&out).exists();
                assert_eq!(error.ends_with("continues it"), is_kept, "{error}");
                let again = match is_kept {
                    true => format!("{command} --resume out"),
                    false => {
                        assert_eq!(names(at), before);
                        format!("{line} --out out")
                    }
                };
                kept += usize::from(is_kept);
                icl(at, &split(&again)).succeeded();
            }
            assert!(results("out") == results("whole"), "{line} {limit}");
            if command == "train" {
                assert_eq!(timeless_record(&out), timeless_record(&at.join("whole")));
            }
            fs::remove_dir_all(out).unwrap();
        }
        fs::remove_dir_all(at.join("whole")).unwrap();
    }
    assert!(kept > 0, "no state was saved before a file was too large");
}

/// A disk in memory with little room, in a name space of its own where the system allows it.
#[test]
fn a_full_disk_is_an_error() {
    let at = data();
    let at = at.path();
    fs::create_dir(at.join("disk")).unwrap();
    let shell = |size: usize, words: &str| {
        let script = format!("mount -t tmpfs -o size={size}k none disk && cd disk && {words}");
        Command::new("unshare")
            .args(["--mount", "--map-root-user", "sh", "-c", &script])
            .current_dir(at)
            .env(DAY[0], DAY[1])
            .stdin(Stdio::null())
            .output()
    };
    if !shell(64, "true").is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no disk can be mounted here");
        return;
    }
    let program = env!("CARGO_BIN_EXE_icl");
    let mut n_full = 0;
    for (line, all) in [
        ("split --data ../old --out parts", "parts"),
        (
            "embed --from ../first/encoder.safetensors --data ../old --views 2 --out a.npy",
            "a.labels.npy a.npy a.positives.npy a.positives.rows.json a.rows.json",
        ),
        (
            "train --data ../old --epochs 1 --stop never --out out",
            "out",
        ),
    ] {
        for size in [4, 8, 12, 16, 20, 28, 36, 48, 64, 96, 128, 192, 256, 1024] {
            let output = shell(
                size,
                &format!("{program} {line}; code=$?; ls -A; exit $code"),
            )
            .unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
            match output.status.code() {
                Some(0) => assert!(
                    stdout.ends_with(&format!("{}\n", all.replace(' ', "\n"))),
                    "{stdout}"
                ),
                _ => {
                    n_full += 1;
                    let error = failed(&output);
                    assert!(error.contains("No space left on device"), "{error}");
                    // Nothing, or what continues.
                    let is_kept = stdout == ".icl-out.partial\n";
                    assert!(
                        stdout.is_empty() || is_kept && error.ends_with("continues it"),
                        "{stdout}"
                    );
                }
            }
        }
    }
    assert!(n_full > 5, "{n_full}");
}

#[test]
fn standard_output_may_be_full() {
    let at = tempdir().unwrap();
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    let error = failed(&in_shell(at.path(), "exec >/dev/full;", "methods"));
    assert!(
        error.contains("standard output cannot be written"),
        "{error}"
    );
}
