//! Commands that are killed at moments of all kinds: the same command succeeds afterwards, with the same files.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

use crate::support::toys::{OLD, Toys};
use crate::support::{
    command, contents, everything, icl, made_since, names, remove_all, split, timeless_record, work,
};

/// Number of kills of each command.
const N_KILLS: usize = 40;

/// Moments of kills, as parts of the time that a command takes, and a little longer: multiples of the golden ratio fill
/// it evenly, in no order.
fn moments() -> impl Iterator<Item = f64> {
    (1..=N_KILLS).map(|kill| 1.1 * (0.618_034 * kill as f64).fract())
}

/// Runs a command to its end; the time that it took.
fn time(at: &Path, line: &str) -> Duration {
    let begun = Instant::now();
    icl(at, &split(line)).succeeded();
    begun.elapsed()
}

/// Runs a command and kills it at a moment of the time that it takes; returns whether it was still at work. If it ended
/// before that moment, `whole` becomes the time that it took.
fn kill_at(at: &Path, line: &str, moment: f64, whole: &mut Duration) -> bool {
    let begun = Instant::now();
    let mut child = command(at, &split(line))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while begun.elapsed() < whole.mul_f64(moment) {
        if child.try_wait().unwrap().is_some() {
            *whole = begun.elapsed().min(*whole);
            return false;
        }
        sleep(Duration::from_millis(1));
    }
    let was_at_work = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_at_work
}

/// Kills a command that writes `outputs`, the last one last, and does not continue.
fn withstands_kills(at: &Path, line: &str, outputs: &[&str]) {
    let before = everything(at);
    let made = || made_since(at, &before);
    icl(at, &split(line)).succeeded();
    let expected = made();
    assert!(outputs.iter().all(|out| at.join(out).exists()));
    let remove = || {
        assert!(outputs.iter().all(|out| at.join(out).exists()));
        remove_all(at, outputs);
    };
    remove();
    // The first time it was slower.
    let mut whole = time(at, line);
    remove();
    let mut n_at_work = 0;
    for moment in moments() {
        n_at_work += usize::from(kill_at(at, line, moment, &mut whole));
        // The last output is there when all are.
        if !at.join(outputs.last().unwrap()).exists() {
            // What runs beside it changes the time that it takes: the latest one counts.
            whole = time(at, line);
        }
        let mut found = made();
        // What a kill after the publication has left is hidden, and replaced the next time.
        found.retain(|path, _| !path.to_string_lossy().contains("/.icl-"));
        assert!(found == expected, "{line}: {moment:?}: {:?}", found.keys());
        assert!(
            before
                .iter()
                .all(|(path, bytes)| fs::read(path).unwrap_or_default() == *bytes)
        );
        remove();
    }
    icl(at, &split(line)).succeeded();
    assert!(made() == expected, "{line}: {:?}", made().keys());
    assert!(n_at_work > N_KILLS / 3, "{n_at_work} came before the end");
}

/// Graphs, encoders of them, and their embeddings.
fn data(n: usize) -> TempDir {
    let at = tempdir().unwrap();
    Toys { n, ..OLD }.write(at.path(), "many");
    OLD.write(at.path(), "old");
    for seed in ["1", "2"] {
        let line = format!("train --data old --epochs 1 --stop never --seed {seed} --out {seed}");
        icl(at.path(), &split(&line)).succeeded();
        let line = format!("embed --from {seed}/encoder.safetensors --data many --out {seed}.csv");
        icl(at.path(), &split(&line)).succeeded();
    }
    at
}

#[test]
fn a_split_that_is_killed_is_made_again() {
    let at = data(4000);
    withstands_kills(at.path(), "split --data many --out parts", &["parts"]);
}

#[test]
fn embeddings_that_are_killed_are_made_again() {
    let at = data(4000);
    let line = "embed --from 1/encoder.safetensors --data many --views 2 --out e.npy";
    withstands_kills(
        at.path(),
        line,
        &[
            "e.labels.npy",
            "e.rows.json",
            "e.positives.rows.json",
            "e.positives.npy",
            "e.npy",
        ],
    );
}

#[test]
fn a_map_that_is_killed_is_made_again() {
    // With 4,000 rows the 40 kills of both commands take minutes.
    let at = data(400);
    let line = "align --from 1.csv --to 2.csv --out map.safetensors";
    withstands_kills(at.path(), line, &["map.safetensors"]);
    let line = "align --from 1.csv --map map.safetensors --out mapped.csv";
    withstands_kills(at.path(), line, &["mapped.csv"]);
}

/// A training over earlier results, in a folder with files of others.
#[test]
fn earlier_results_stay_until_others_are_complete() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "old");
    let line = "train --data old --epochs 3 --stop never --tensorboard --out";
    // The shorter of two times: another program may have slowed one of them.
    let times = ["new --seed 2", "earlier --seed 1"].map(|run| time(at, &format!("{line} {run}")));
    let mut whole = times.into_iter().min().unwrap();
    let [new, earlier] = ["new", "earlier"].map(|name| at.join(name));
    let encoder = |of: &Path| contents(of).remove("encoder.safetensors").unwrap();
    let out = at.join("out");
    let mut n_interrupted = 0;
    for moment in moments().take(20) {
        fs::create_dir(&out).unwrap();
        fs::write(out.join("notes.txt"), "theirs").unwrap();
        for entry in fs::read_dir(&earlier).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), out.join(entry.file_name())).unwrap();
        }
        let again = format!("{line} out --seed 2 --force");
        kill_at(at, &again, moment, &mut whole);
        assert_eq!(fs::read(out.join("notes.txt")).unwrap(), b"theirs");
        // Killed while it worked, or while complete results were moved file by file.
        let place = work(&out);
        let [is_interrupted, is_complete] =
            ["config.toml", "results/.icl-manifest.json"].map(|name| place.join(name).exists());
        if is_interrupted || is_complete {
            n_interrupted += usize::from(is_interrupted);
            icl(at, &split("train --resume out")).succeeded();
        }
        let is_new = encoder(&out) == encoder(&new);
        let expected = if is_new { &new } else { &earlier };
        assert!(encoder(&out) == encoder(expected));
        assert_eq!(timeless_record(&out), timeless_record(expected));
        // The next command here has nothing in its way.
        whole = time(at, &again);
        assert!(encoder(&out) == encoder(&new));
        let mut expected = names(&new);
        expected.push("notes.txt".to_owned());
        expected.sort();
        assert_eq!(names(&out), expected);
        fs::remove_dir_all(&out).unwrap();
    }
    assert!(n_interrupted > 3, "{n_interrupted}");
    assert_eq!(names(at), ["earlier", "new", "old"]);
}

/// A new folder is absent until it is complete.
#[test]
fn a_new_folder_appears_when_it_is_complete() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "old");
    for (command, more) in [
        ("train", ""),
        ("run", "--method warm --seed 0 --protocol none --hold-out 0"),
    ] {
        let line = format!("{command} --data old --epochs 2 --stop never {more} --out");
        let mut whole = time(at, &format!("{line} a/whole"));
        let files = |of: &Path| {
            let mut files = contents(of);
            files.retain(|name, _| name.ends_with(".safetensors"));
            files
        };
        let out = at.join("a/out");
        for moment in moments().take(20) {
            kill_at(at, &format!("{line} a/out"), moment, &mut whole);
            let is_there = out.exists();
            if work(&out).join("config.toml").exists() {
                assert!(!is_there);
                icl(at, &split(&format!("{command} --resume a/out"))).succeeded();
            } else if !is_there {
                icl(at, &split(&format!("{line} a/out"))).succeeded();
            }
            assert_eq!(names(&out), names(&at.join("a/whole")));
            assert!(files(&out) == files(&at.join("a/whole")), "{moment:?}");
            icl(at, &split(&format!("{command} --resume a/out"))).succeeded();
            assert_eq!(names(&at.join("a")), ["out", "whole"]);
            fs::remove_dir_all(&out).unwrap();
        }
        fs::remove_dir_all(at.join("a")).unwrap();
    }
}
