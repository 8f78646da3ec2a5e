//! Files and folders of others, wherever they lie, are neither changed nor removed, and links are not followed.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::{TempDir, tempdir};

use crate::support::toys::OLD;
use crate::support::{everything, icl, names, split, stopped, work};

const TRAIN: &str = "train --data old --epochs 1 --stop never --out out";
const ENDLESS: &str = "train --data old --epochs 1000000 --stop never --out out";

/// Data, and somebody's notes.
fn with_theirs() -> TempDir {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    fs::create_dir_all(at.path().join("theirs/results")).unwrap();
    for name in ["notes", "icl-lock", "lock", "config.toml", "results/notes"] {
        fs::write(at.path().join("theirs").join(name), "theirs").unwrap();
    }
    at
}

/// Runs a command, and asserts that nothing of theirs has changed.
#[track_caller]
fn leaves_theirs(at: &Path, line: &str, message: Option<&str>) {
    let before = everything(&at.join("theirs"));
    let ran = icl(at, &split(line));
    match message {
        Some(message) => ran.rejected(message),
        None => drop(ran.succeeded()),
    }
    assert!(everything(&at.join("theirs")) == before, "{line}");
}

#[test]
fn folders_of_the_names_of_ours_are_refused() {
    // Of a new output folder, and of one that is there, each as a link, a file, and a folder.
    for (place, is_there) in [(".icl-out.partial", false), ("out/.icl-work", true)] {
        for kind in ["link", "file", "folder", "mark"] {
            let at = with_theirs();
            let at = at.path();
            if is_there {
                fs::create_dir(at.join("out")).unwrap();
            }
            let path = at.join(place);
            match kind {
                "link" => symlink(at.join("theirs"), &path).unwrap(),
                "file" => fs::write(&path, "theirs").unwrap(),
                "folder" => {
                    fs::create_dir(&path).unwrap();
                    fs::write(path.join("notes"), "theirs").unwrap();
                }
                _ => {
                    fs::create_dir(&path).unwrap();
                    symlink(at.join("theirs/lock"), path.join("icl-lock")).unwrap();
                }
            }
            let before = everything(at);
            let message = match kind {
                // What looks like options makes it look like work of ours.
                "link" => "out: found interrupted work in out",
                _ => "which icl did not write",
            };
            leaves_theirs(at, TRAIN, Some(message));
            leaves_theirs(
                at,
                &format!("{TRAIN} --force"),
                Some("which icl did not write"),
            );
            assert!(everything(at) == before, "{place} {kind}");
            if !is_there {
                leaves_theirs(
                    at,
                    "split --data old --out out",
                    Some("which icl did not write"),
                );
                assert!(everything(at) == before, "{place} {kind}");
            }
        }
    }
}

/// The name under which earlier versions kept their work is one like any other.
#[test]
fn a_folder_of_checkpoints_stays() {
    let at = with_theirs();
    let at = at.path();
    fs::create_dir(at.join("out")).unwrap();
    symlink(at.join("theirs"), at.join("out/.checkpoint")).unwrap();
    leaves_theirs(at, TRAIN, Some("out: found files in out"));
    leaves_theirs(at, &format!("{TRAIN} --force"), None);
    assert!(at.join("out/.checkpoint").is_symlink());
    assert!(at.join("out/encoder.safetensors").exists());
}

#[test]
fn links_in_interrupted_work_are_not_followed() {
    for is_there in [false, true] {
        let at = with_theirs();
        let at = at.path();
        if is_there {
            fs::create_dir(at.join("out")).unwrap();
        }
        stopped::kill(stopped::begin(at, ENDLESS, "out", "training.checkpoint"));
        let place = work(&at.join("out"));
        fs::remove_dir(place.join("results")).unwrap();
        symlink(at.join("theirs/results"), place.join("results")).unwrap();
        leaves_theirs(at, "train --resume out", Some("out: cannot write out: "));
        assert!(place.join("training.checkpoint").exists());
        leaves_theirs(at, &format!("{TRAIN} --force"), None);
        assert!(!work(&at.join("out")).exists());
    }
}

/// A link to a file is replaced where it is a result of ours, and not followed.
#[test]
fn links_among_results_are_not_followed() {
    let at = with_theirs();
    let at = at.path();
    icl(at, &split(TRAIN)).succeeded();
    let record = at.join("out/record.json");
    fs::remove_file(&record).unwrap();
    symlink(at.join("theirs/notes"), &record).unwrap();
    leaves_theirs(at, &format!("{TRAIN} --force"), None);
    assert!(!record.is_symlink());

    symlink(at.join("theirs/notes"), at.join("e.npy")).unwrap();
    let embed = "embed --from out/encoder.safetensors --data old --out e.npy";
    leaves_theirs(at, embed, Some("out: found a file at e.npy"));
    leaves_theirs(at, &format!("{embed} --force"), None);
    assert!(!at.join("e.npy").is_symlink());
}

#[test]
fn a_stream_replaces_its_own_files_only() {
    let at = with_theirs();
    let at = at.path();
    let out = at.join("out");
    let line = "stream --data old --split data:3 --epochs 100000 --stop never --out out";
    stopped::kill(stopped::begin(at, line, "out", "0-method.checkpoint"));
    // Before there is any page of ours.
    for name in ["report.html", "matrix.json"] {
        fs::write(out.join(name), "theirs").unwrap();
        icl(at, &split("stream --resume out")).rejected(&format!("out: found {name} in out"));
        assert_eq!(fs::read(out.join(name)).unwrap(), b"theirs");
        fs::remove_file(out.join(name)).unwrap();
    }
    fs::remove_dir_all(&out).unwrap();

    let line = "stream --data old --split data:2 --epochs 1 --stop never --out out";
    icl(at, &split(line)).succeeded();
    let theirs = [
        ".unfinished-1-0-report.html",
        ".icl-x.partial",
        "notes.txt",
        "002-x",
    ];
    for name in theirs {
        fs::write(out.join(name), "theirs").unwrap();
    }
    icl(at, &split("stream --resume out")).succeeded();
    for name in theirs {
        assert_eq!(fs::read(out.join(name)).unwrap(), b"theirs", "{name}");
    }
    // The folder of an experience is no link: files of ours in it are removed one day.
    fs::rename(out.join("001-2"), at.join("theirs/001-2")).unwrap();
    symlink(at.join("theirs/001-2"), out.join("001-2")).unwrap();
    let before = everything(&at.join("theirs"));
    let ran = icl(at, &split("stream --resume out"));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(everything(&at.join("theirs")) == before);
}

/// Commands that do not continue are not in the way of themselves after a kill.
#[test]
fn work_that_cannot_continue_is_taken_over() {
    let at = with_theirs();
    let at = at.path();
    for line in [
        "negatives --train-auc 0.9 --out out",
        "compare-backends --data old --backends flex --steps 1 --out out",
        "split --data old --out out",
    ] {
        let place = at.join(".icl-out.partial");
        fs::create_dir_all(place.join("results")).unwrap();
        fs::write(place.join("icl-lock"), "").unwrap();
        fs::write(place.join("results/half"), "half").unwrap();
        icl(at, &split(line)).succeeded();
        assert!(
            !names(&at.join("out")).contains(&"half".to_owned()),
            "{line}"
        );
        assert_eq!(names(at), ["old", "out", "theirs"], "{line}");
        fs::remove_dir_all(at.join("out")).unwrap();
    }
}
