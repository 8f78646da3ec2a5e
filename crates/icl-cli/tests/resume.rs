//! Runs that are stopped, killed and taken up again, from outside.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{command, contents, icl, names, split, timeless, work};
use tempfile::{TempDir, tempdir};

/// Two seeds, so that one is done when the other is stopped; agents with their replay buffers; a share
/// of old data that widens.
const RUN: &str = "run --seeds 2 --epochs 60 --stop never --method icl --method icl-corrected \
                   --method icl-published-wo-m";

fn run_to(out: &str) -> String {
    format!("{RUN} --out {out}")
}

/// The folder of a run that nobody disturbed, made once.
fn undisturbed() -> &'static Path {
    static RUN: std::sync::LazyLock<TempDir> = std::sync::LazyLock::new(|| {
        let at = tempdir().unwrap();
        icl(at.path(), &split(&run_to("out"))).succeeded();
        at
    });
    Box::leak(RUN.path().join("out").into_boxed_path())
}

#[track_caller]
fn assert_same_run(resumed: &Path) {
    let whole = undisturbed();
    assert_eq!(timeless(resumed), timeless(whole));
    let (resumed, whole) = (contents(resumed), contents(whole));
    let files = |of: &std::collections::BTreeMap<String, Vec<u8>>| -> Vec<String> {
        of.keys().cloned().collect()
    };
    assert_eq!(files(&resumed), files(&whole));
    let encoders = whole.keys().filter(|name| name.starts_with("encoder-"));
    for name in encoders {
        assert_eq!(resumed[name], whole[name], "{name}");
    }
    assert_eq!(resumed["map.json"], whole["map.json"]);
}

fn start(at: &Path, line: &str, threads: &str) -> Child {
    command(at, &split(line))
        .env("RAYON_NUM_THREADS", threads)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn interrupt(child: &Child) {
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// A run that was interrupted in its second seed, its folder.
fn interrupted(at: &Path) -> PathBuf {
    let mut child = start(at, &run_to("out"), "2");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.find(|line| line.as_ref().unwrap().starts_with("seed 1  θ₀"));
    begun.unwrap().unwrap();
    interrupt(&child);
    let last = lines.map(Result::unwrap).last().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{last}");
    assert!(
        last.starts_with("interrupted: stopped after step "),
        "{last}"
    );
    assert!(
        last.ends_with("; `icl run --resume out` continues it"),
        "{last}"
    );
    let out = at.join("out");
    assert!(!out.exists());
    out
}

#[test]
fn an_interrupted_run_goes_on_on_one_thread_and_on_two() {
    for threads in ["1", "2"] {
        let at = tempdir().unwrap();
        let out = interrupted(at.path());
        let mut child = start(at.path(), "run --resume out", threads);
        assert!(child.wait().unwrap().success());
        assert_same_run(&out);
    }
}

#[test]
fn a_killed_run_goes_on() {
    let at = tempdir().unwrap();
    let out = at.path().join("out");
    let mut line = run_to("out");
    let mut n_kills = 0;
    loop {
        let mut child = start(at.path(), &line, "2");
        // Each attempt lives a little longer, so that every part of a run is met and it ends.
        let mut waited = Duration::ZERO;
        let allowed = Duration::from_millis(300 + 400 * n_kills);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if waited > allowed {
                break None;
            }
            std::thread::sleep(Duration::from_millis(50));
            waited += Duration::from_millis(50);
        };
        if let Some(status) = status {
            assert!(status.success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        n_kills += 1;
        if work(&out).join("config.toml").exists() {
            line = "run --resume out".to_owned();
        }
    }
    assert!(n_kills > 1);
    assert_same_run(&out);
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let at = tempdir().unwrap();
    icl(at.path(), &split("run --resume out")).rejected("resume: found no interrupted work in out");
    icl(at.path(), &split("run --resume out --alpha 0.5")).rejected_at_length("--resume");
    let out = interrupted(at.path());
    icl(at.path(), &split(&run_to("out"))).rejected("found interrupted work in out");
    let work = work(&out);
    let before = contents(&work);
    let states = || {
        let all = before
            .iter()
            .filter(|(name, _)| name.ends_with(".checkpoint"));
        all.map(|(name, bytes)| (work.join(name), bytes))
    };
    assert!(states().count() >= 2, "{:?}", names(&work));
    for (path, bytes) in states() {
        for (damaged, needle) in [
            (bytes[..bytes.len() / 2].to_vec(), "found "),
            (bytes[..20].to_vec(), "expected one line of JSON"),
            (
                String::from_utf8_lossy(&bytes[..30])
                    .replace("\"schema\":6", "\"schema\":9")
                    .into_bytes()
                    .into_iter()
                    .chain(bytes[30..].iter().copied())
                    .collect(),
                "schema 9, expected schema 6",
            ),
        ] {
            fs::write(&path, damaged).unwrap();
            let ran = icl(at.path(), &split("run --resume out"));
            ran.rejected_in_last_line(needle);
            ran.rejected_in_last_line(path.file_name().unwrap().to_str().unwrap());
        }
        fs::write(&path, bytes).unwrap();
    }
    // Options that were changed by hand are those of another run.
    let config = work.join("config.toml");
    let options = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        options.replace("temperature = 0.1", "temperature = 0.2"),
    )
    .unwrap();
    let ran = icl(at.path(), &split("run --resume out"));
    ran.rejected_in_last_line("temperature is 0.1, expected 0.2");
    fs::write(&config, "hello").unwrap();
    icl(at.path(), &split("run --resume out")).rejected_at_length("out");
    fs::write(&config, options).unwrap();
    // After all of this nothing is lost.
    icl(at.path(), &split("run --resume out")).succeeded();
    assert_same_run(&out);
    let again = icl(at.path(), &split("run --resume out")).succeeded();
    assert_eq!(again.stdout, "already complete: out\n");
}

#[test]
fn one_process_works_in_a_folder() {
    let at = tempdir().unwrap();
    let mut child = start(at.path(), &run_to("out"), "2");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    icl(at.path(), &split("run --resume out")).rejected("found another process at work in out");
    icl(at.path(), &split(&format!("{} --force", run_to("out"))))
        .rejected("found another process at work in out");
    child.kill().unwrap();
    child.wait().unwrap();
    let again = icl(at.path(), &split(&format!("{} --force", run_to("out")))).succeeded();
    assert!(again.stdout.ends_with("written to out\n"));
    assert_same_run(&at.path().join("out"));
}

/// The accuracies of all methods, so that some are left when the first is reported.
const MEASURED: &str = "run --seed 0 --epochs 1 --stop never --protocol linear";

#[test]
fn accuracies_are_taken_up_again() {
    let at = tempdir().unwrap();
    let line = format!("{MEASURED} --out whole");
    icl(at.path(), &split(&line)).succeeded();
    let mut child = start(at.path(), &format!("{MEASURED} --out out"), "1");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = lines.find(|line| line.as_ref().unwrap().contains(": accuracy "));
    let begun = begun.unwrap().unwrap();
    interrupt(&child);
    let last = lines.map(Result::unwrap).last().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{last}");
    assert_eq!(
        last,
        "interrupted: stopped while accuracies were measured; `icl run --resume out` continues it"
    );
    let folder = at.path().join("out");
    let work = work(&folder);
    let method = begun
        .trim_start_matches("seed 0  ")
        .split(':')
        .next()
        .unwrap();
    for name in ["floors", method] {
        let state = work.join(format!("seed0-{name}-linear.checkpoint"));
        assert!(state.exists(), "{}", state.display());
    }
    assert!(!folder.join("record.jsonl").exists());
    icl(at.path(), &split("run --resume out")).succeeded();
    assert_eq!(timeless(&folder), timeless(&at.path().join("whole")));
    assert!(!work.exists());
}
