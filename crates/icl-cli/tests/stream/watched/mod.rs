//! Streams whose experiences arrive in a folder.

mod data;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::stream::{lines, names};
use crate::support::toys::OLD;
use crate::support::{Ran, command, icl, record, split, stopped, text};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// Watches `in` without any update, as fast as can be.
const ONCE: &str = "stream --watch in --once --settle 0.2 --epochs 1 --when never --out out";

/// A folder with the folder `in`.
fn folder() -> TempDir {
    let at = tempdir().unwrap();
    fs::create_dir(at.path().join("in")).unwrap();
    at
}

/// Rows of a table of two columns; `first` tells the tables apart.
fn rows(first: usize, n: usize) -> String {
    let row = |i: usize| format!("{}.{},{}\n", i * 37 % 101, i % 10, i * 53 % 97);
    (first..first + n).map(row).collect()
}

fn table(first: usize, n: usize) -> String {
    format!("x,y\n{}", rows(first, n))
}

fn write(at: &TempDir, name: &str, text: &str) {
    fs::write(at.path().join("in").join(name), text).unwrap();
}

fn append(path: &Path, text: &str) {
    let file = fs::File::options().append(true).create(true).open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

/// Names of the experiences, each with the number of its samples.
fn experiences(out: &Path) -> Vec<(String, u64)> {
    let lines = lines(&out.join("stream.jsonl"));
    let of = |it: &Value| {
        (
            text(it, "name").to_owned(),
            it["n_samples"].as_u64().unwrap(),
        )
    };
    lines.iter().map(of).collect()
}

fn owned<const N: usize>(expected: [(&str, u64); N]) -> Vec<(String, u64)> {
    expected.map(|(name, n)| (name.to_owned(), n)).to_vec()
}

fn begin(at: &TempDir, line: &str) -> Child {
    command(at.path(), &split(line))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[track_caller]
fn appears(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "{}",
            path.display()
        );
        sleep(Duration::from_millis(20));
    }
}

/// Ends it as the system does when it shuts down.
fn terminate(child: Child) -> Ran {
    let sent = Command::new("kill").arg(child.id().to_string()).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What is moved there whole is taken; either signal ends the waiting, and the stream continues.
#[test]
fn increments_arrive() {
    let at = folder();
    OLD.write(&at.path().join("in"), "2026-01");
    let child = begin(&at, "stream --watch in --settle 0.2 --epochs 2 --out out");
    let out = at.path().join("out");
    appears(&out.join("000-2026-01"));
    OLD.write(at.path(), "2026-02");
    fs::create_dir(at.path().join("in/.unfinished")).unwrap();
    sleep(Duration::from_millis(700));
    fs::rename(at.path().join("2026-02"), at.path().join("in/2026-02")).unwrap();
    appears(&out.join("001-2026-02"));
    sleep(Duration::from_secs(1));
    let ran = terminate(child);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    for needle in [
        "waiting for data in",
        "in: 1 taken",
        "in: 2 taken",
        "interrupted after 2 experiences",
        "`icl stream --resume out` continues it",
    ] {
        assert!(ran.stderr.contains(needle), "{needle}: {}", ran.stderr);
    }
    assert_eq!(experiences(&out), owned([("2026-01", 60), ("2026-02", 60)]));
    OLD.write(&at.path().join("in"), "2026-03");
    let child = begin(&at, "stream --resume out");
    appears(&out.join("002-2026-03"));
    assert_eq!(stopped::interrupt(child).code, Some(130));
}

/// Without any data it waits, and says so.
#[test]
fn it_waits_for_the_first_data() {
    let at = folder();
    write(&at, "_SUCCESS", "");
    let child = begin(&at, "stream --watch in --settle 0 --epochs 1 --out out");
    sleep(Duration::from_secs(3));
    let ran = terminate(child);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("in: 0 taken; 1 no data (_SUCCESS)"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("interrupted before any experience"),
        "{}",
        ran.stderr
    );
    assert!(!at.path().join("out").exists());
    // Nothing to take is nothing wrong.
    icl(at.path(), &split(ONCE)).succeeded();
    assert!(!at.path().join("out").exists());
}

/// All rows are taken, however slowly a file is written.
#[test]
fn files_are_taken_when_they_are_complete() {
    let at = folder();
    let child = begin(
        &at,
        "stream --watch in --settle 3 --epochs 1 --when never --out out",
    );
    let slow = at.path().join("in/slow.csv");
    let renamed = at.path().join("in/renamed.csv.part");
    for part in 0..3 {
        let text = match part {
            0 => table(0, 20),
            part => rows(20 * part, 20),
        };
        append(&slow, &text);
        append(&renamed, &text);
        sleep(Duration::from_millis(1200));
    }
    let out = at.path().join("out");
    appears(&out.join("000-slow"));
    sleep(Duration::from_secs(4));
    fs::rename(&renamed, at.path().join("in/renamed.csv")).unwrap();
    appears(&out.join("001-renamed"));
    let ran = terminate(child);
    assert!(
        ran.stderr.contains("1 new or still written"),
        "{}",
        ran.stderr
    );
    let expected = owned([("slow.csv", 60), ("renamed.csv", 60)]);
    assert_eq!(experiences(&out), expected);
}

/// A wrong option is reported at once, without waiting for other data.
#[test]
fn wrong_options_are_no_bad_data() {
    let at = folder();
    write(&at, "1.csv", &table(0, 20));
    write(&at, "2.csv", &table(20, 20));
    let line = "stream --watch in --settle 0 --out out";
    for (option, needle) in [
        ("--encoder gcn", "encoder"),
        ("--noise hidden", "noise"),
        ("--from in/1.csv", "1.csv"),
    ] {
        let ran = icl(at.path(), &split(&format!("{line} {option}")));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        let last = ran.stderr.lines().last().unwrap();
        assert!(
            last.starts_with("error: ") && last.contains(needle),
            "{last}"
        );
        assert!(!ran.stderr.contains("rejected"), "{}", ran.stderr);
    }
    for (line, needle) in [
        (
            "stream --watch in --out in/out",
            "lies in the input --watch in",
        ),
        ("stream --watch in --out in", "is the input --watch in"),
        (
            "stream --watch in --settle -1 --out out",
            "settle: found -1",
        ),
        (
            "stream --data digits --split data:2 --settle 1 --out out",
            "settle: found it without",
        ),
        (
            "stream --data digits --split data:2 --once --out out",
            "once: found it without",
        ),
    ] {
        let ran = icl(at.path(), &split(line));
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(needle), "{line}: {}", ran.stderr);
    }
    assert_eq!(names(&at.path().join("in")), ["1.csv", "2.csv"]);
}

/// A stream continues with the files in the order in which it took them, and names one that is not what it took.
#[test]
fn a_stream_continues_in_the_order_of_arrival() {
    let at = folder();
    write(&at, "m.csv", &table(0, 20));
    icl(at.path(), &split(ONCE)).succeeded();
    let resume = || icl(at.path(), &["stream", "--resume", "out"]);
    for (name, first) in [("z.csv", 20), ("a.csv", 40), ("n.csv", 60)] {
        write(&at, name, &table(first, 20));
        resume().succeeded();
    }
    let out = at.path().join("out");
    let expected = owned([("m.csv", 20), ("z.csv", 20), ("a.csv", 20), ("n.csv", 20)]);
    assert_eq!(experiences(&out), expected);
    let before = fs::read(out.join("matrix.json")).unwrap();
    for (name, number) in [("m.csv", 1), ("a.csv", 3)] {
        let path = at.path().join("in").join(name);
        let whole = fs::read_to_string(&path).unwrap();
        let refused = |what: &str| {
            let ran = resume();
            assert_eq!(ran.code, Some(2), "{what}: {}", ran.stderr);
            let place = PathBuf::from("in").join(name);
            for needle in [
                &format!("experience {number}, "),
                &*place.display().to_string(),
                "restore it as it was",
            ] {
                assert!(
                    ran.stderr.contains(needle),
                    "{what}: {needle}: {}",
                    ran.stderr
                );
            }
        };
        append(&path, &rows(900, 5));
        refused("more rows");
        fs::write(&path, "x,y\n").unwrap();
        refused("no rows");
        fs::remove_file(&path).unwrap();
        refused("no file");
        fs::write(&path, &whole).unwrap();
        resume().succeeded();
    }
    assert!(fs::read(out.join("matrix.json")).unwrap() == before);
    assert_eq!(experiences(&out), expected);
}

/// Every row that is written is taken once: in any order of the files, at any speed, appended, renamed or moved.
#[test]
fn every_row_is_taken_once() {
    for seed in [1, 2] {
        let at = folder();
        let mut state: u64 = seed;
        let mut below = |n: u64| {
            // Knuth's MMIX generator; its upper bits.
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        let child = begin(
            &at,
            "stream --watch in --settle 3 --epochs 1 --when never --out out",
        );
        // Files that are written at once, each with the rows that are left, how it is written, and when it was last.
        let mut open: Vec<(PathBuf, usize, u64, Instant)> = Vec::new();
        let (mut n_rows, mut n_files) = (0, 0);
        let into = at.path().join("in");
        while n_files < 14 || !open.is_empty() {
            if n_files < 14 && (open.is_empty() || below(3) == 0) {
                let n = [0, 1, 2, 3, 5, 12, 30][below(7) as usize];
                let how = below(3);
                let name = format!("{}-{n_files}.csv", below(100));
                let path = match how {
                    0 => into.join(name),
                    1 => into.join(format!("{name}.part")),
                    _ => at.path().join(name),
                };
                append(&path, "x,y\n");
                open.push((path, n, how, Instant::now()));
                n_files += 1;
            }
            // One that nobody writes for as long as it must not change is complete.
            let late = open
                .iter()
                .position(|it| it.3.elapsed() > Duration::from_secs(1));
            let next = late.unwrap_or(below(open.len() as u64) as usize);
            let (path, left, how, last) = &mut open[next];
            *last = Instant::now();
            let n = (1 + below(8) as usize).min(*left);
            append(path, &rows(n_rows, n));
            n_rows += n;
            *left -= n;
            if *left == 0 {
                let name = path.file_name().unwrap().to_str().unwrap();
                match how {
                    0 => {}
                    1 => fs::rename(&*path, path.with_extension("")).unwrap(),
                    _ => fs::rename(&*path, into.join(name)).unwrap(),
                }
                open.swap_remove(next);
            }
            sleep(Duration::from_millis(below(150)));
        }
        // The last one is no less than an experience, and takes what waits.
        sleep(Duration::from_secs(4));
        write(&at, "last.csv", &table(n_rows, 9));
        n_rows += 9;
        let out = at.path().join("out");
        let n_taken = || -> u64 {
            let is_there = out.join("stream.jsonl").exists();
            let all = match is_there {
                true => experiences(&out),
                false => Vec::new(),
            };
            all.iter().map(|it| it.1).sum()
        };
        let begun = Instant::now();
        while n_taken() < n_rows as u64 && begun.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(100));
        }
        let ran = terminate(child);
        // No row is in two experiences, and none of three rows is one.
        assert_eq!(n_taken(), n_rows as u64, "seed {seed}: {}", ran.stderr);
        let all = experiences(&out);
        assert!(all.iter().all(|it| it.1 >= 4), "{all:?}");
        let mut files = BTreeSet::new();
        for (at, (name, _)) in all.iter().enumerate() {
            let record = record(&out.join(format!("{at:03}-{}", name.trim_end_matches(".csv"))));
            let merged = record["files"].as_array().cloned().unwrap_or_default();
            let merged = merged.iter().map(|it| it.as_str().unwrap().to_owned());
            for file in merged.chain([name.clone()]).collect::<BTreeSet<_>>() {
                assert!(files.insert(file.clone()), "{file} was taken twice");
            }
        }
    }
}

/// A stream that was ended while it trained continues with the files that it trained on, whatever has come since.
#[test]
fn the_files_at_work_come_first_again() {
    let at = folder();
    write(&at, "m.csv", &table(0, 20));
    let line = "stream --watch in --once --settle 0.2 --epochs 1000000 --stop never --out out";
    let child = stopped::begin(at.path(), line, "out", "0-method.checkpoint");
    assert_eq!(stopped::interrupt(child).code, Some(130));
    write(&at, "a.csv", &table(20, 20));
    let child = begin(&at, "stream --resume out");
    sleep(Duration::from_secs(3));
    let ran = terminate(child);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let at_work = || super::json(&at.path().join("out/.icl-work/at-work.json"));
    assert_eq!(at_work()["files"], serde_json::json!(["m.csv"]));
    // Other data are no reason to stop: what was trained on the old ones is dropped.
    write(&at, "m.csv", &table(40, 20));
    let child = begin(&at, "stream --resume out");
    sleep(Duration::from_secs(3));
    let ran = terminate(child);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
}
