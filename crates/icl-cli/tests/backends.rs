//! `icl backends`, and what happens where a backend is missing.

use std::path::Path;

use crate::support::{Ran, icl, names, split, text};
use serde_json::Value;
use tempfile::tempdir;

const ALL: [&str; 5] = ["flex", "tch", "wgpu", "vulkan", "cuda"];

fn listed(at: &Path) -> Vec<Value> {
    let ran = icl(at, &["backends", "--json"]).succeeded();
    serde_json::from_str(&ran.stdout).unwrap()
}

fn train(at: &Path, backend: &str) -> Ran {
    let line = "train --data MUTAG --epochs 1 --out out --backend";
    icl(at, &[split(line), vec![backend]].concat())
}

#[test]
fn every_backend_is_listed_with_its_devices_or_what_is_missing() {
    let at = tempdir().unwrap();
    let rows = listed(at.path());
    let found: Vec<&str> = rows.iter().map(|row| text(row, "backend")).collect();
    assert_eq!(found, ALL);
    let table = icl(at.path(), &["backends"]).succeeded().stdout;
    for row in &rows {
        let devices = row["devices"].as_array().unwrap();
        let is_usable = row["is_built_in"].as_bool().unwrap() && !devices.is_empty();
        assert_eq!(is_usable, row["missing"].is_null(), "{row}");
        assert!(table.contains(text(row, "backend")));
        for device in devices {
            assert!(table.contains(text(device, "name")), "{device} in {table}");
            assert!(!text(device, "description").is_empty());
        }
    }
    assert_eq!(cfg!(feature = "flex"), rows[0]["is_built_in"]);
    if cfg!(feature = "flex") {
        assert_eq!(rows[0]["devices"][0]["name"], "flex:cpu");
    }
}

/// The devices that are listed can be used by the names that are listed; a backend that is not there
/// is one sentence.
#[test]
fn what_is_listed_can_be_used_and_the_rest_is_one_sentence() {
    let at = tempdir().unwrap();
    for row in listed(at.path()) {
        let name = text(&row, "backend");
        if !row["is_built_in"].as_bool().unwrap() {
            train(at.path(), name).rejected(&format!("a build with `--features {name}`"));
        } else if row["devices"].as_array().unwrap().is_empty() {
            train(at.path(), name).rejected(&format!("found no usable device for {name} ("));
        } else {
            let device = text(&row["devices"][0], "name");
            // A driver in software would compile kernels for minutes.
            if matches!(name, "flex" | "tch") {
                train(at.path(), device).succeeded();
                std::fs::remove_dir_all(at.path().join("out")).unwrap();
            }
        }
        assert!(
            names(at.path()).is_empty(),
            "{name} left {:?}",
            names(at.path())
        );
    }
}

#[test]
fn names_of_backends_and_devices_are_checked() {
    let at = tempdir().unwrap();
    let start = "found \"cpu\", expected one of those this program was built with: ";
    train(at.path(), "cpu").rejected(start);
    train(at.path(), "").rejected("found \"\", expected one of those");
    if cfg!(feature = "flex") {
        let wrong = "found the device \"0\" of flex, expected cpu";
        train(at.path(), "flex:0").rejected(wrong);
        train(at.path(), "flex:").rejected("found the device \"\" of flex, expected cpu");
    }
    if cfg!(feature = "tch") {
        let wrong = "found the device \"gpu\" of tch, expected cpu, cuda, cuda:N or mps";
        train(at.path(), "tch:gpu").rejected(wrong);
    }
    if cfg!(feature = "cuda") {
        train(at.path(), "cuda:x").rejected("found the device \"x\" of cuda, expected the number");
    }
    assert!(names(at.path()).is_empty());
}

#[test]
fn the_other_process_is_no_command_of_the_help() {
    let at = tempdir().unwrap();
    let help = icl(at.path(), &["--help"]).succeeded().stdout;
    assert!(help.contains("backends") && !help.contains("probe"));
    icl(at.path(), &["probe-backend", "none"]).rejected("found \"none\"");
}
