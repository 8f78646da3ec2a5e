//! Cells that are there, that fail, that are interrupted, and that the budget leaves out.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{CELL, GRID, reproduce, with_data, write_data};
use crate::support::{command, contents, lab, names, records, split, timeless};

#[test]
fn what_is_there_is_not_run_again() {
    let at = with_data();
    reproduce(at.path(), "--seeds 2 --jobs 1");
    let record = |seed: u64| {
        let cell = CELL.replace("seed0", &format!("seed{seed}"));
        fs::read(at.path().join(cell).join("record.jsonl")).unwrap()
    };
    let (first, second) = (record(0), record(1));
    let page = fs::read_to_string(at.path().join("out/table4.md")).unwrap();

    let again = reproduce(at.path(), "--seeds 2 --jobs 1");
    assert_eq!(again.stderr, "2 of 2 cells are complete, 0 to run\n");
    assert_eq!((record(0), record(1)), (first.clone(), second.clone()));
    assert_eq!(
        fs::read_to_string(at.path().join("out/table4.md")).unwrap(),
        page
    );

    // Another target that the same cells serve runs nothing either.
    let line = GRID.replace("table4", "fig2");
    let other = lab(at.path(), &split(&format!("{line} --seeds 2"))).succeeded();
    assert!(
        other
            .stderr
            .ends_with("2 of 2 cells are complete, 0 to run\n")
    );
    assert_eq!(other.stdout, "out/fig2.html\nout/fig2.md\n");

    fs::remove_dir_all(at.path().join(CELL)).unwrap();
    let one = reproduce(at.path(), "--seeds 2 --jobs 2");
    assert!(one.stderr.contains("1 of 2 cells are complete, 1 to run"));
    assert!(one.stderr.contains("seed 0") && !one.stderr.contains("seed 1"));
    // Durations apart it is the record of before.
    assert_eq!(record(1), second);
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines(&record(0)), lines(&first));
}

#[test]
fn a_record_that_was_cut_is_run_again() {
    let at = with_data();
    reproduce(at.path(), "--seeds 1");
    let path = at.path().join(CELL).join("record.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let ran = reproduce(at.path(), "--seeds 1");
    assert!(ran.stderr.contains("0 of 1 cells are complete, 1 to run"));
    assert_eq!(
        records(&at.path().join(CELL)).len(),
        whole.iter().filter(|byte| **byte == b'\n').count()
    );
}

#[test]
fn a_budget_of_nothing_writes_what_there_is() {
    let at = with_data();
    let ran = reproduce(at.path(), "--seeds 1 --budget 0");
    assert!(
        ran.stderr
            .contains("the budget of 0 min is spent: 1 of 1 cells have not run")
    );
    assert!(
        ran.stderr
            .ends_with("no page was written: no cell is complete\n")
    );
    assert_eq!(names(&at.path().join("out")), ["cells"]);
    reproduce(at.path(), "--seeds 1");
    reproduce(at.path(), "--seeds 3 --budget 0");
    let markdown = fs::read_to_string(at.path().join("out/table4.md")).unwrap();
    assert!(markdown.contains("PROTEINS, α = 0.5: seeds 1, 2 have not run."));
}

#[test]
fn all_runs_what_can_be_run() {
    let at = with_data();
    let line = GRID
        .replace("table4", "all")
        .replace("--data-sets PROTEINS", "");
    let ran = lab(at.path(), &split(&format!("{line} --seeds 1"))).succeeded();
    for note in [
        "imagenet-2: found no such folder",
        "mnist: found none of MNIST's four files",
        "REDDIT-BINARY.zip",
    ] {
        assert!(ran.stderr.contains(note), "{}", ran.stderr);
    }
    let pages = ["table4", "fig2", "fig3", "fig4"].map(|name| format!("out/{name}.html"));
    for page in &pages {
        assert!(ran.stdout.contains(page), "{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("table3") && !ran.stdout.contains("fig5"));
    // One cell serves all of them.
    assert_eq!(names(&at.path().join("out/cells")).len(), 1);
}

#[test]
fn a_run_with_other_options_is_left_alone() {
    let at = with_data();
    reproduce(at.path(), "--seeds 1");
    let before = contents(&at.path().join(CELL));
    let line = GRID.replace("--epochs 3", "--epochs 4");
    lab(at.path(), &split(&format!("{line} --seeds 1")))
        .rejected("PROTEINS-random-alpha0.5-seed0-table: found a run with epochs 3, expected 4");
    assert!(contents(&at.path().join(CELL)) == before);
}

#[test]
fn a_cell_that_fails_is_named_and_the_others_go_on() {
    let at = with_data();
    write_data(at.path(), "REDDIT-BINARY");
    let labels = at
        .path()
        .join("data/graphs/PROTEINS/PROTEINS_graph_labels.txt");
    fs::write(labels, "x\n").unwrap();
    let line = format!("{GRID} --data-sets REDDIT --seeds 1");
    let ran = lab(at.path(), &split(&line));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let name = "PROTEINS-random-alpha0.5-seed0-table";
    for message in [
        format!("{name}: error: data/graphs/PROTEINS/PROTEINS_graph_labels.txt, line 1: found"),
        format!("error: 1 of 2 cells failed: {name}; the same command continues"),
    ] {
        assert!(ran.stderr.contains(&message), "{message}: {}", ran.stderr);
    }
    let markdown = fs::read_to_string(at.path().join("out/table4.md")).unwrap();
    assert!(markdown.contains("PROTEINS, α = 0.5: seed 0 has not run."));
    assert!(markdown.contains("### REDDIT-BINARY, α = 0.5 · seed 0"));
}

/// Waits until the cell has saved a state, and its run is on its way; the folder of its work.
#[cfg(unix)]
fn wait_for_state(at: &Path) -> PathBuf {
    let cell = at.join(CELL);
    let name = cell.file_name().unwrap().to_str().unwrap();
    let work = cell.with_file_name(format!(".icl-{name}.partial"));
    let has_state = || {
        let names = work.read_dir().into_iter().flatten();
        let mut names = names.map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().ends_with(".checkpoint"))
    };
    while !has_state() {
        std::thread::sleep(Duration::from_millis(2));
    }
    work
}

/// No signal can be passed on: the cell notices that the command has gone, and the same command continues with it.
#[cfg(unix)]
#[test]
fn a_killed_command_takes_its_cells_with_it() {
    use std::process::Stdio;

    let at = with_data();
    let line = format!(
        "{} --seeds 1 --stop never",
        GRID.replace("--epochs 3", "--epochs 40")
    );
    let mut child = command(at.path(), &split(&line))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let work = wait_for_state(at.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(work.join("config.toml").exists(), "killed too late");
    lab(at.path(), &split(&line)).succeeded();
    let whole = with_data();
    lab(whole.path(), &split(&line)).succeeded();
    let [again, whole] = [&at, &whole].map(|at| timeless(&at.path().join(CELL)));
    assert_eq!(again, whole);
    assert_eq!(names(&at.path().join("out/cells")).len(), 1);
}

/// The signal goes to the command alone, which passes it on to its cells.
#[cfg(unix)]
#[test]
fn an_interrupted_cell_goes_on() {
    use std::process::{Command, Stdio};

    let at = with_data();
    let line = format!(
        "{} --seeds 1 --stop never",
        GRID.replace("--epochs 3", "--epochs 40")
    );
    let child = command(at.path(), &split(&line))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let work = wait_for_state(at.path());
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &id]).status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("the same command continues with the missing ones in out/cells"));
    assert!(work.join("config.toml").exists(), "{stderr}");
    assert!(!at.path().join("out/table4.html").exists());

    lab(at.path(), &split(&line)).succeeded();
    assert!(!work.exists());
    let whole = with_data();
    lab(whole.path(), &split(&line)).succeeded();
    let [resumed, whole] = [&at, &whole].map(|at| timeless(&at.path().join(CELL)));
    assert_eq!(resumed, whole);
}
