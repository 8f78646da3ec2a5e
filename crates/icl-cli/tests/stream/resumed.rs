//! Streams that are killed and continued.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use crate::support::toys::{OLD, Toys};
use crate::support::{command, drop_durations, icl, split, stopped};
use serde_json::Value;
use tempfile::tempdir;

/// Returns the files in a folder and in the folders in it, by their paths; values of JSON without durations, and no lock.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inner = files(&path).into_iter();
            found.extend(inner.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let bytes = match name.rsplit('.').next().unwrap() {
            "json" | "jsonl" => {
                let text = String::from_utf8(bytes).unwrap();
                let lines = text.lines().map(|line| {
                    let mut value: Value = serde_json::from_str(line).unwrap();
                    drop_durations(&mut value);
                    value.to_string()
                });
                lines.collect::<Vec<_>>().join("\n").into_bytes()
            }
            // The page shows durations, and the options name the folder.
            "html" | "toml" => Vec::new(),
            _ => bytes,
        };
        found.insert(name, bytes);
    }
    found
}

/// Asserts that two streams have the same files with the same contents.
#[track_caller]
pub fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    let names = |of: &BTreeMap<String, Vec<u8>>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    for (name, bytes) in &one {
        assert!(
            *bytes == other[name],
            "{name}: {} instead of {}",
            String::from_utf8_lossy(bytes),
            String::from_utf8_lossy(&other[name])
        );
    }
}

/// A stream of ten that is killed thirty times, within experiences and between them.
#[test]
fn a_stream_that_is_killed_is_one_that_never_was() {
    let at = tempdir().unwrap();
    let toys = Toys { n: 150, ..OLD };
    toys.write(at.path(), "old");
    let line = |out: &str| {
        format!(
            "stream --data old --split data:10 --epochs 8 --stop never --keep reservoir:12 --when drift:0.001 --at-latest 2 \
             --control warm --out {out}"
        )
    };
    let begun = Instant::now();
    icl(at.path(), &split(&line("whole"))).succeeded();
    let whole = begun.elapsed();
    // Multiples of the golden ratio fill the moments evenly, in no order.
    let mut moment = 0.0_f64;
    let mut n_killed = 0;
    for stream in 0..3 {
        let out = format!("killed{stream}");
        let words = |is_begun: bool| match is_begun {
            true => format!("stream --resume {out}"),
            false => line(&out),
        };
        let is_begun = || at.path().join(&out).join(".icl-work/config.toml").exists();
        for _ in 0..10 {
            let mut child = command(at.path(), &split(&words(is_begun())))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            moment = (moment + 0.618_034).fract();
            // Ten of these take 0.6 of the whole on average: most kills come before the end, even where other work
            // slowed the whole down.
            sleep(whole.mul_f64(0.12 * moment));
            n_killed += usize::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
        }
        icl(at.path(), &split(&words(is_begun()))).succeeded();
        assert_same(&at.path().join(&out), &at.path().join("whole"));
    }
    assert!(n_killed >= 20, "{n_killed} of 30 came before the end");
}

/// Ctrl-C ends a stream with a word on how to go on.
#[test]
fn it_goes_on_after_an_interruption() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    icl(at.path(), &split("train --data old --epochs 1 --out first")).succeeded();
    let line = "stream --from first/encoder.safetensors --data old --split data:3 --epochs 1000000 --stop never --out out";
    let child = stopped::begin(at.path(), line, "out", "1-method.checkpoint");
    let ran = stopped::interrupt(child);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("`icl stream --resume out` continues it"),
        "{}",
        ran.stderr
    );
    assert!(at.path().join("out/000-1").exists());
    assert!(!at.path().join("out/001-2").exists());
}
