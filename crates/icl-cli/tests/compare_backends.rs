//! `icl compare-backends`.

use std::fs;
use std::path::Path;

use crate::support::{
    Ran, default_backend, documented, icl, keys, names, of_book, records, split, timeless,
};
use tempfile::tempdir;

fn compare(at: &Path, line: &str) -> Ran {
    icl(at, &[vec!["compare-backends"], split(line)].concat())
}

fn is_quick() -> bool {
    let is_quick = cfg!(any(feature = "flex", feature = "tch"));
    if !is_quick {
        eprintln!("skipped: neither flex nor tch is built in");
    }
    is_quick
}

#[test]
fn a_folder_holds_records_page_and_options() {
    let one = default_backend();
    if !is_quick() {
        return;
    }
    let at = tempdir().unwrap();
    let line = format!("--method warm --backends {one} --steps 12 --out out");
    let table = compare(at.path(), &line).succeeded().stdout;
    let out = at.path().join("out");
    assert_eq!(names(&out), ["config.toml", "record.jsonl", "report.html"]);
    let records = records(&out);
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!(record["backend"], one);
    assert_eq!(record["method"], "warm");
    assert_eq!(record["data"], "MUTAG");
    assert_eq!(record["max_relative_loss_difference"], 0.0);
    let losses = record["losses"].as_array().unwrap();
    assert_eq!(losses.len(), 12);
    assert!(losses.iter().all(|loss| loss.as_f64().unwrap() > 0.0));
    for key in ["step_s", "first_step_s", "risk_at_start"] {
        assert!(record[key].as_f64().unwrap() > 0.0, "{key}");
    }
    for key in [
        "views_s",
        "transfer_s",
        "forward_s",
        "backward_s",
        "update_s",
    ] {
        assert!(record["seconds"][key].as_f64().unwrap() > 0.0, "{key}");
    }
    if cfg!(target_os = "linux") {
        assert!(record["peak_memory_mib"].as_f64().unwrap() > 1.0);
    }
    let fields = of_book("## A comparison of backends");
    assert_eq!(keys(record), documented(&fields));
    assert!(table.contains(&format!("Only {one} was run")), "{table}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("MUTAG: the same steps on 1 backend"));
    let config = fs::read_to_string(out.join("config.toml")).unwrap();
    assert!(config.contains("steps = 12") && config.contains("batch-size = 32"));
}

#[test]
fn the_same_command_takes_the_same_steps_and_another_seed_others() {
    let one = default_backend();
    if !is_quick() {
        return;
    }
    let at = tempdir().unwrap();
    let run = |seed: u32, out: &str| {
        let line = format!("--backends {one} --steps 8 --seed {seed} --out {out}");
        compare(at.path(), &line).succeeded();
        let mut records = timeless(&at.path().join(out));
        for record in &mut records {
            let record = record.as_object_mut().unwrap();
            for key in ["peak_memory_mib", "energy_j"] {
                record.remove(key);
            }
        }
        records
    };
    let first = run(1, "a");
    assert_eq!(first, run(1, "b"));
    assert_ne!(first[0]["losses"], run(2, "c")[0]["losses"]);
}

/// The losses are those of the training that a user would start.
#[test]
fn the_steps_are_those_of_the_method() {
    let one = default_backend();
    if !is_quick() {
        return;
    }
    let at = tempdir().unwrap();
    let losses = |method: &str| {
        let line = format!("--backends {one} --steps 6 --method {method} --out {method}");
        compare(at.path(), &line).succeeded();
        records(&at.path().join(method))[0]["losses"].clone()
    };
    assert_ne!(losses("warm"), losses("fine-tuning"));
}

#[cfg(all(feature = "flex", feature = "tch"))]
#[test]
fn two_backends_have_the_same_losses() {
    let at = tempdir().unwrap();
    for method in ["warm", "icl-corrected-wo-m-lrl", "icl-corrected-wo-lrl"] {
        let line = format!("--backends flex,tch --steps 50 --method {method} --out {method}");
        let table = compare(at.path(), &line).succeeded().stdout;
        assert!(table.contains("tch follows flex within"), "{table}");
        let records = records(&at.path().join(method));
        let difference = |at: usize| -> f64 {
            let found: &serde_json::Value = &records[at]["max_relative_loss_difference"];
            found.as_f64().unwrap()
        };
        assert_eq!(difference(0), 0.0);
        // Two libraries do not round alike; a wrong operator would be off by per cents.
        assert!(
            difference(1) > 0.0 && difference(1) < 1e-3,
            "{}",
            difference(1)
        );
    }
}

#[test]
fn wrong_options_are_told_and_nothing_is_left() {
    let one = default_backend();
    let at = tempdir().unwrap();
    for (line, needle) in [
        ("--steps 0", "steps: found 0, expected at least 1"),
        (
            "--method inference",
            "method: found inference, which trains nothing",
        ),
        ("--method none", "method: found \"none\", expected one of"),
        (
            "--backends none",
            "backend: found \"none\", expected one of",
        ),
        ("--alpha 2", "2"),
        ("--batch-size 1", "batch-size: found 1, expected at least 4"),
        ("--data none", "none: found no such file"),
        (
            "--stem small",
            "stem: found it with the encoder gcn of graphs",
        ),
    ] {
        let line = format!("{line} --out out");
        compare(at.path(), &line).rejected(needle);
        assert!(names(at.path()).is_empty(), "{line}");
    }
    compare(at.path(), "--split none --out out")
        .rejected_at_length("split: found \"none\", expected `random`, `size`, `class`");
    assert!(names(at.path()).is_empty());
    let twice = format!("--backends {one},{one} --out out");
    if is_quick() {
        compare(at.path(), &twice).rejected(&format!("backends: found {one} twice"));
    }
}

#[test]
fn a_folder_that_is_taken_is_not_replaced_unasked() {
    let one = default_backend();
    if !is_quick() {
        return;
    }
    let at = tempdir().unwrap();
    let line = format!("--backends {one} --steps 1 --out out");
    compare(at.path(), &line).succeeded();
    compare(at.path(), &line).rejected("found files in out");
    compare(at.path(), &format!("{line} --force")).succeeded();
}

/// A signal to this process alone, not to the one that computes: no Ctrl-C.
#[cfg(unix)]
#[test]
fn it_ends_when_only_it_is_told_to() {
    use std::time::{Duration, Instant};

    if !is_quick() {
        return;
    }
    let at = tempdir().unwrap();
    let line = format!(
        "compare-backends --backends {} --steps 1000000 --out out",
        default_backend()
    );
    let child = crate::support::stopped::begin(at.path(), &line, "out", "results");
    let sent = Instant::now();
    let ran = crate::support::stopped::interrupt(child);
    assert!(sent.elapsed() < Duration::from_secs(30));
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let said = format!("interrupted: stopped at {}", default_backend());
    assert_eq!(ran.stderr.lines().last(), Some(said.as_str()));
    assert!(names(at.path()).is_empty());
}
