//! Pipes, devices and folders where a file is expected: each is refused at once, since a pipe without a writer
//! never opens and a device never ends.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use crate::support::{icl, split};

/// Writes a pipe, a link to a device, and a folder below `at`, with this ending.
fn special(at: &Path, ending: &str) -> [String; 3] {
    let files = ["pipe", "zero", "folder"].map(|name| format!("{name}{ending}"));
    let [pipe, zero, folder] = files.each_ref().map(|name| at.join(name));
    let made = Command::new("mkfifo").arg(pipe).status().unwrap();
    assert!(made.success());
    symlink("/dev/zero", zero).unwrap();
    fs::create_dir(folder).unwrap();
    files
}

fn n_files(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// Asserts that a line of arguments, with each of these files at `FILE`, is rejected with a message that names
/// it, and that nothing is left.
#[track_caller]
fn rejected(ending: &str, line: &str, message: &str) {
    let at = tempdir().unwrap();
    for file in special(at.path(), ending) {
        let before = n_files(at.path());
        let ran = icl(at.path(), &split(&line.replace("FILE", &file)));
        ran.rejected(&format!("{file}: {message}"));
        assert!(ran.stderr.chars().count() <= 2000, "{}", ran.stderr);
        assert_eq!(n_files(at.path()), before);
    }
}

#[test]
fn files_of_options() {
    let message = "found no readable file (a folder, pipe or device), expected a TOML file";
    rejected("", "run --config FILE", message);
}

#[test]
fn encoders() {
    let message = "found no readable file (a folder, pipe or device), expected the .safetensors";
    let line = "embed --from FILE --data MUTAG --out e.npy";
    rejected(".safetensors", line, message);
}

#[test]
fn arrays() {
    let message = "found no readable file (a folder, pipe or device), expected a .npy file";
    let line = "diagnose --anchors FILE --positives FILE --old FILE --new FILE";
    rejected(".npy", line, message);
}

#[test]
fn curves() {
    let message = "found no readable file (a folder, pipe or device), expected AUCs";
    rejected("", "negatives --train-auc 0.9 --curve FILE", message);
}

#[test]
fn lists_of_written_files() {
    let at = tempdir().unwrap();
    for file in special(at.path(), "") {
        let out = at.path().join(format!("of-{file}"));
        fs::create_dir(&out).unwrap();
        symlink(at.path().join(&file), out.join(".icl-manifest.json")).unwrap();
        let line = format!("run --data MUTAG --epochs 1 --out of-{file} --force");
        icl(at.path(), &split(&line)).rejected(".icl-manifest.json: found no readable file (");
        assert_eq!(n_files(&out), 1);
    }
}

#[test]
fn a_name_with_many_lines_hides_nothing() {
    let at = tempdir().unwrap();
    let ran = icl(at.path(), &["run", "--data", "a\n\n\n\nb", "--out", "out"]);
    ran.rejected("a\\n\\n\\n\\nb: found no such file or folder");
}

#[test]
fn files_of_a_report() {
    for of in ["record.jsonl", "map.json"] {
        let at = tempdir().unwrap();
        for file in special(at.path(), "") {
            let folder = at.path().join(format!("of-{file}"));
            fs::create_dir(&folder).unwrap();
            symlink(at.path().join(&file), folder.join(of)).unwrap();
            if of == "map.json" {
                fs::write(folder.join("record.jsonl"), "").unwrap();
            }
            let path = format!("of-{file}/{of}: found no readable file (");
            icl(at.path(), &["report", &format!("of-{file}")]).rejected(&path);
        }
    }
}

#[test]
fn a_map_that_is_no_text() {
    let at = tempdir().unwrap();
    fs::write(at.path().join("record.jsonl"), "").unwrap();
    fs::write(at.path().join("map.json"), b"{\xff").unwrap();
    let message = "map.json: found no readable file (byte 1 is not UTF-8), expected a map";
    icl(at.path(), &["report", "."]).rejected(message);
}

#[test]
fn data() {
    for ending in [".csv", ".parquet", ".zip", "-images-idx3-ubyte", ""] {
        let at = tempdir().unwrap();
        for file in special(at.path(), ending) {
            let before = n_files(at.path());
            let line = format!("run --data {file} --epochs 1 --out out");
            icl(at.path(), &split(&line)).rejected("found ");
            assert_eq!(n_files(at.path()), before);
        }
    }
}
