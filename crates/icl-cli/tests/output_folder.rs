//! Where `icl run` writes: all of it or nothing, and never over what is there.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::support::{MANIFEST, command, contents, icl, names, records, split};
use tempfile::tempdir;

const QUICK: &str = "run --seed 0 --epochs 1 --method warm";

/// A loss that is not finite: after the first steps of distillation the weights are beyond single precision.
const FAILING: &str = "run --seed 7 --epochs 5 --encoder gin --width 4 --optimizer sgd --learning-rate 1e4 \
                       --method distillation --distillation-distance mean-squared --distillation-weight 1e9";

fn quick(at: &Path, more: &str) -> crate::support::Ran {
    icl(at, &split(&format!("{QUICK} {more}")))
}

#[test]
fn what_is_there_is_not_touched() {
    let at = tempdir().unwrap();
    quick(at.path(), "--out out").succeeded();
    let before = contents(&at.path().join("out"));
    let again = icl(at.path(), &split("run --resume out")).succeeded();
    assert_eq!(again.stdout, "already complete: out\n");
    icl(
        at.path(),
        &split("run --seed 1 --epochs 1 --method warm --out out"),
    )
    .rejected("out: found files in out, expected a new folder (--force");
    assert_eq!(contents(&at.path().join("out")), before);
    assert_eq!(names(at.path()), ["out"]);

    // A folder of somebody else's, too, is not ours to fill.
    fs::create_dir(at.path().join("theirs")).unwrap();
    fs::write(at.path().join("theirs/notes.txt"), "x").unwrap();
    quick(at.path(), "--out theirs").rejected("found files in theirs");
    assert_eq!(names(&at.path().join("theirs")), ["notes.txt"]);
}

#[test]
fn an_empty_folder_may_be_filled() {
    let at = tempdir().unwrap();
    fs::create_dir(at.path().join("out")).unwrap();
    quick(at.path(), "--out out").succeeded();
    assert_eq!(records(&at.path().join("out")).len(), 1);
    // Also the one that the program is in.
    let inside = at.path().join("inside");
    fs::create_dir(&inside).unwrap();
    quick(&inside, "--out .").succeeded();
    assert_eq!(records(&inside).len(), 1);
    assert_eq!(names(at.path()), ["inside", "out"]);
}

#[test]
fn missing_folders_above_are_made() {
    let at = tempdir().unwrap();
    quick(at.path(), "--out a/b/c").succeeded();
    assert_eq!(records(&at.path().join("a/b/c")).len(), 1);
    assert_eq!(names(at.path()), ["a"]);
    assert_eq!(names(&at.path().join("a/b")), ["c"]);
}

#[test]
fn force_replaces_our_files_only() {
    let at = tempdir().unwrap();
    quick(at.path(), "--out out").succeeded();
    let out = at.path().join("out");
    fs::write(out.join("notes.txt"), "theirs").unwrap();
    fs::create_dir(out.join("more")).unwrap();
    let line = "run --seed 1 --epochs 1 --method inference --out out --force";
    // Nobody but us removes an encoder that another command has written, or a folder of its name.
    let theirs = out.join("encoder-mine.safetensors");
    fs::write(&theirs, "theirs").unwrap();
    let before = contents(&out);
    icl(at.path(), &split(line)).rejected(
        "out: found encoder-mine.safetensors in out, which no command of icl wrote there",
    );
    assert_eq!(contents(&out), before);
    fs::remove_file(theirs).unwrap();
    fs::rename(out.join("map.json"), at.path().join("map.json")).unwrap();
    fs::create_dir(out.join("map.json")).unwrap();
    icl(at.path(), &split(line)).rejected("out: found map.json in out");
    fs::remove_dir(out.join("map.json")).unwrap();
    fs::remove_file(at.path().join("map.json")).unwrap();
    icl(at.path(), &split(line)).succeeded();
    let listed = fs::read_to_string(out.join(MANIFEST)).unwrap();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["files"].as_array().unwrap().len(), 7);
    assert_eq!(
        names(&out),
        [
            "comparison.json",
            "config.toml",
            "encoder-inference-seed1.safetensors",
            "encoder-theta0-seed1.safetensors",
            "map.json",
            "more",
            "notes.txt",
            "record.jsonl",
            "report.html",
        ]
    );
    assert_eq!(fs::read(out.join("notes.txt")).unwrap(), b"theirs");
    assert_eq!(records(&out)[0]["seed"], 1);
    assert_eq!(names(at.path()), ["out"]);
}

#[test]
fn without_a_name_it_takes_the_next_number() {
    let at = tempdir().unwrap();
    for number in 1..=2 {
        let ran = quick(at.path(), "").succeeded();
        assert!(
            ran.stdout
                .ends_with(&format!("written to icl-runs/mutag-{number}\n"))
        );
    }
    assert_eq!(names(&at.path().join("icl-runs")), ["mutag-1", "mutag-2"]);
    assert_eq!(names(at.path()), ["icl-runs"]);
}

#[test]
fn runs_side_by_side_do_not_meet() {
    let at = tempdir().unwrap();
    let quiet = || {
        let mut command = command(at.path(), &split(QUICK));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    for mut child in [quiet(), quiet(), quiet()] {
        assert!(child.wait().unwrap().success());
    }
    let runs = at.path().join("icl-runs");
    assert_eq!(names(&runs), ["mutag-1", "mutag-2", "mutag-3"]);
    for run in names(&runs) {
        assert_eq!(records(&runs.join(run)).len(), 1);
    }
}

#[test]
fn a_failing_run_leaves_nothing() {
    let at = tempdir().unwrap();
    for out in ["", "--out out", "--out a/b/c"] {
        let ran = icl(at.path(), &split(&format!("{FAILING} {out}")));
        let on = "; it depends on learning-rate 10000, distillation-weight 1000000000, temperature 0.1, negatives 31";
        for part in ["error: the ", " is ", "step ", "seed 7", on] {
            ran.rejected_in_last_line(part);
        }
        // It would meet the same again.
        assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
        assert!(names(at.path()).is_empty());
    }
}

#[test]
fn a_failing_run_leaves_what_was_there() {
    let at = tempdir().unwrap();
    quick(at.path(), "--out out").succeeded();
    fs::write(at.path().join("out/notes.txt"), "theirs").unwrap();
    let before = contents(&at.path().join("out"));
    let ran = icl(at.path(), &split(&format!("{FAILING} --out out --force")));
    ran.rejected_in_last_line("expected a finite number");
    assert_eq!(contents(&at.path().join("out")), before);
    assert_eq!(names(at.path()), ["out"]);
}

#[test]
fn places_that_cannot_be_written() {
    let at = tempdir().unwrap();
    fs::write(at.path().join("file"), "theirs").unwrap();
    quick(at.path(), "--out file").rejected("out: found a file at file, expected a folder");
    quick(at.path(), "--out file --force").rejected("found a file at file");
    quick(at.path(), "--out file/below").rejected("out: cannot write file/below");
    quick(at.path(), &format!("--out {}", "long".repeat(100))).rejected("out: cannot write long");
    quick(at.path(), "--out /").rejected("found files in /");
    icl(
        at.path(),
        &split(QUICK)
            .into_iter()
            .chain(["--out", ""])
            .collect::<Vec<_>>(),
    )
    .rejected_at_length("--out <DIR>");
    assert_eq!(names(at.path()), ["file"]);
    assert_eq!(fs::read(at.path().join("file")).unwrap(), b"theirs");
}

#[cfg(target_os = "linux")]
#[test]
fn places_that_only_linux_has() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let at = tempdir().unwrap();
    // Not even the superuser can make a folder here.
    quick(at.path(), "--out /proc/a/b").rejected("out: cannot write /proc");
    std::os::unix::fs::symlink("nowhere", at.path().join("link")).unwrap();
    quick(at.path(), "--out link").rejected("out: cannot write link");
    fs::remove_file(at.path().join("link")).unwrap();
    let mut arguments: Vec<&OsStr> = split(QUICK).into_iter().map(OsStr::new).collect();
    arguments.extend([OsStr::new("--out"), OsStr::from_bytes(b"\xff")]);
    icl(at.path(), &arguments).rejected("expected a name in UTF-8");
    assert!(names(at.path()).is_empty());
}

/// The largest number of seeds is accepted like any other: they are run one by one.
#[test]
fn a_great_many_seeds_begin() {
    let at = tempdir().unwrap();
    let endless = "run --seeds 10000 --epochs 1 --method warm --out out";
    let mut child = command(at.path(), &split(endless))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let line = lines.find(|line| !line.starts_with("note: ")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("seed 0 "), "{line}");
}

/// A run that is piped into `head` ends well, and its folder is there.
#[test]
fn readers_that_go_away_do_no_harm() {
    let at = tempdir().unwrap();
    for arguments in [&format!("{QUICK} --out out")[..], "methods", "report out"] {
        let mut child = command(at.path(), &split(arguments))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments}");
    }
    assert_eq!(records(&at.path().join("out")).len(), 1);
}
