//! `icl stream`.

mod dry_run;
mod rejected;
mod resumed;
mod rollback;
mod watched;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::toys::{NEW, OLD, Toys};
use crate::support::{command, documented, icl, keys, number, of_book, split, text};
use icl_models::StoredEncoder;
use serde_json::Value;
use tempfile::tempdir;

/// Toy graphs in four experiences, with two controls.
const DIVIDED: &str = "stream --data old --split data:4 --epochs 3 --stop never --control retraining --control never --out out";

/// Returns the names in a folder, also those of folders.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

pub fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns a cell of a matrix.
fn cell(matrix: &Value, key: &str, row: usize, column: usize) -> Option<f64> {
    matrix[key][row][column].as_f64()
}

#[test]
fn it_goes_through_a_stream() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    let ran = icl(at.path(), &split(DIVIDED)).succeeded();
    assert!(ran.stdout.contains("written to out"), "{}", ran.stdout);
    assert_eq!(ran.stderr.matches("The updated encoder ").count(), 3);
    let out = at.path().join("out");
    assert_eq!(
        names(&out),
        [
            ".icl-manifest.json",
            ".icl-work",
            "000-1",
            "001-2",
            "002-3",
            "003-4",
            "config.toml",
            "current",
            "current.json",
            "decisions.jsonl",
            "ledger.jsonl",
            "matrix.json",
            "report.html",
            "stream.jsonl"
        ]
    );
    assert_eq!(
        names(&out.join("003-4")),
        [
            "control-never",
            "control-retraining",
            "encoder.safetensors",
            "memory.json",
            "record.json",
            "strategy.json"
        ]
    );
    // Each encoder's file says what the training of the first one cost.
    let first = &lines(&out.join("stream.jsonl"))[0];
    let cost = number(first, "charged_passes")
        / (number(first, "n_samples") - number(first, "n_held_out"));
    for folder in ["000-1", "003-4"] {
        let stored = StoredEncoder::open(&out.join(folder).join("encoder.safetensors")).unwrap();
        let passes: f64 = stored.get("passes-per-sample").unwrap().parse().unwrap();
        assert!((passes - cost).abs() < 1e-9);
    }
    // The first encoder is that of the control without updates.
    assert!(!out.join("003-4/control-never/encoder.safetensors").exists());
    let matrix = json(&out.join("matrix.json"));
    let experiences = lines(&out.join("stream.jsonl"));
    let decisions = lines(&out.join("decisions.jsonl"));
    assert_eq!((experiences.len(), decisions.len()), (4, 3));
    for row in 0..4 {
        for column in 0..4 {
            // The past, the experience itself, and what was served when the next one came.
            let is_measured = column <= row + 1;
            assert_eq!(cell(&matrix, "risk", row, column).is_some(), is_measured);
            assert_eq!(
                cell(&matrix, "accuracy", row, column).is_some(),
                is_measured
            );
        }
        let experience = &experiences[row];
        assert_eq!(experience["risk"], matrix["risk"][row][row]);
        assert_eq!(experience, &matrix["experiences"][row]);
        if row > 0 {
            assert_eq!(experience["served_risk"], matrix["risk"][row - 1][row]);
            assert!(number(experience, "parameter_change") > 0.0);
            assert!(number(experience, "n_old") > 0.0);
            // Every sample that is held out, of the experiences before and of this one.
            let held_out = |it: &Value| number(it, "n_held_out");
            let before: f64 = experiences[..row].iter().map(held_out).sum();
            assert_eq!(number(&experience["verdict"]["old"], "n"), before);
            assert_eq!(
                number(&experience["verdict"]["new"], "n"),
                held_out(experience)
            );
        } else {
            assert!(experience["verdict"].is_null());
        }
    }
    // Forgetting by a double loop.
    let forgotten: f64 = (0..3)
        .map(|j| cell(&matrix, "risk", 3, j).unwrap() - cell(&matrix, "risk", j, j).unwrap())
        .sum();
    let measures = matrix["measures"].as_array().unwrap();
    let first = measures
        .iter()
        .find(|it| it["name"] == "forgetting_first")
        .unwrap();
    assert!((number(first, "risk") - forgotten / 3.0).abs() < 1e-12);
    assert!(text(first, "formula").contains("R[j][j]"));
    // Controls: the gap is the mean over what has come.
    let controls = matrix["controls"].as_array().unwrap();
    assert_eq!(text(&controls[0], "method"), "retraining");
    let gap: f64 = (0..4)
        .map(|j| cell(&matrix, "risk", 3, j).unwrap() - cell(&controls[0], "risk", 3, j).unwrap())
        .sum();
    assert!((controls[0]["gap"][3].as_f64().unwrap() - gap / 4.0).abs() < 1e-12);
    let never = &controls[1]["risk"];
    assert_eq!(never[3][0], never[0][0]);
    assert_eq!(never[0][0], matrix["risk"][0][0]);
    assert_eq!(controls[1]["charged_passes"][3], 0.0);
}

#[test]
fn its_records_hold_what_the_book_says() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    icl(
        at.path(),
        &split("stream --data old --split data:3 --epochs 2 --control warm --when drift --out out"),
    )
    .succeeded();
    let matrix = json(&at.path().join("out/matrix.json"));
    for (object, heading) in [
        (&matrix, "### The matrix of a stream"),
        (&matrix["experiences"][0], "### An experience of a stream"),
        (&matrix["decisions"][0], "### A decision on an update"),
    ] {
        assert_eq!(keys(object), documented(&of_book(heading)), "{heading}");
    }
}

/// Experiences of a manifest are read one by one; one that is added later is gone through by a stream that continues.
#[test]
fn a_manifest_grows() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "a");
    NEW.write(at.path(), "b");
    OLD.write(at.path(), "c");
    let entry = |name: &str| format!("[[experience]]\nname = \"{name}\"\ndata = \"{name}\"\n");
    let manifest = |names: &[&str]| {
        let entries: String = names.iter().map(|name| entry(name)).collect();
        fs::write(at.path().join("s.toml"), format!("schema = 1\n{entries}")).unwrap();
    };
    let line =
        |out: &str| format!("stream --stream s.toml --epochs 2 --keep reservoir:8 --out {out}");
    manifest(&["a", "b", "c"]);
    icl(at.path(), &split(&line("whole"))).succeeded();
    manifest(&["a", "b"]);
    icl(at.path(), &split(&line("grown"))).succeeded();
    let two = json(&at.path().join("grown/matrix.json"));
    assert_eq!(two["names"], serde_json::json!(["a", "b"]));
    manifest(&["a", "b", "c"]);
    icl(at.path(), &["stream", "--resume", "grown"]).succeeded();
    resumed::assert_same(&at.path().join("grown"), &at.path().join("whole"));
    let three = json(&at.path().join("grown/matrix.json"));
    assert_eq!(cell(&three, "risk", 1, 0), cell(&two, "risk", 1, 0));
    // Nothing is left to do.
    icl(at.path(), &["stream", "--resume", "grown"]).succeeded();
    manifest(&["a", "c"]);
    let refused = icl(at.path(), &["stream", "--resume", "grown"]);
    refused.rejected("found \"c\" as experience 2, expected \"b\"");
    manifest(&["a", "b", "c"]);
    NEW.write(at.path(), "c2");
    fs::remove_dir_all(at.path().join("c")).unwrap();
    fs::rename(at.path().join("c2"), at.path().join("c")).unwrap();
    let refused = icl(at.path(), &["stream", "--resume", "grown"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}

/// Features are standardised over the first experience, whoever has trained on it: the encoder of a file serves as it did where it
/// was trained.
#[test]
fn an_encoder_from_a_file_serves_as_the_one_that_was_trained() {
    let at = tempdir().unwrap();
    let without_labels = Toys { n_labels: 0, ..OLD };
    without_labels.write(at.path(), "old");
    let line = "stream --data old --split size:4 --epochs 3 --when never";
    icl(at.path(), &split(&format!("{line} --out trained"))).succeeded();
    let from = "--from trained/000-1/encoder.safetensors --out taken";
    icl(at.path(), &split(&format!("{line} {from}"))).succeeded();
    let [trained, taken] =
        ["trained", "taken"].map(|out| json(&at.path().join(out).join("matrix.json")));
    assert_eq!(taken["risk"], trained["risk"]);
}

#[test]
fn budgets_end_updates() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    let line = "stream --data old --split data:4 --epochs 400 --stop never --when always --budget-per-update 500 \
                --budget-total 500 --out out";
    icl(at.path(), &split(line)).succeeded();
    let experiences = lines(&at.path().join("out/stream.jsonl"));
    assert_eq!(text(&experiences[0], "stopped_by"), "epochs");
    assert_eq!(text(&experiences[1], "stopped_by"), "budget");
    let charged = number(&experiences[1], "charged_passes");
    assert!((400.0..=500.0).contains(&charged), "{charged}");
    let total: f64 = experiences[1..]
        .iter()
        .map(|it| number(it, "charged_passes"))
        .sum();
    // The next update had less left than a step costs, and took one.
    assert!(total < 600.0, "{total}");
    // What cannot be paid waits.
    let last = &lines(&at.path().join("out/decisions.jsonl"))[2];
    assert_eq!(last["update"], false, "{last}");
    assert!(
        text(last, "reason").contains("the budget of 500 passes is used up"),
        "{last}"
    );
}

#[test]
fn what_it_rejects() {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "old");
    fs::write(at.path().join("empty.toml"), "schema = 1\n").unwrap();
    // A column whose last value is far outside the range of the others.
    fs::create_dir(at.path().join("far")).unwrap();
    let rows = (1..40).map(|x| format!("{x},{}\n", x % 7));
    let rows: String = rows.chain(["-99999999,3\n".to_owned()]).collect();
    fs::write(at.path().join("far/a.csv"), format!("x,y\n{rows}")).unwrap();
    fs::write(
        at.path().join("absent.toml"),
        "schema = 1\n[[experience]]\nname = \"a\"\ndata = \"nowhere\"\n",
    )
    .unwrap();
    for (line, needle) in [
        ("stream --out o", "stream: found no experiences"),
        ("stream --data old --out o", "split: found none for old"),
        ("stream --data old --split data:2", "out: found no folder"),
        ("stream --data old --split data:1 --out o", "data:1"),
        ("stream --data old --split shape:3 --out o", "shape:3"),
        (
            "stream --data old --split time:date:3 --out o",
            "split: found one that needs a column",
        ),
        (
            "stream --data old --split data:2 --keep some --out o",
            "keep",
        ),
        (
            "stream --data old --split data:2 --when now --out o",
            "when",
        ),
        (
            "stream --data old --split data:2 --hold-out 0 --out o",
            "hold-out: found 0",
        ),
        (
            "stream --data old --split data:2 --evaluation-samples 3 --out o",
            "evaluation-samples: found 3",
        ),
        (
            "stream --data old --split data:2 --control w --out o",
            "method",
        ),
        (
            "stream --data old --split data:2 --control warm --control warm --out o",
            "control: found warm twice",
        ),
        (
            "stream --data old --split data:2 --budget-total 0 --out o",
            "budget-total: found 0",
        ),
        (
            "stream --data old --split data:2 --dry-run",
            "from: found no encoder",
        ),
        ("stream --stream none.toml --out o", "none.toml"),
        (
            "stream --stream empty.toml --out o",
            "found no [[experience]]",
        ),
        (
            "stream --stream absent.toml --out o",
            "nowhere: found no such file",
        ),
        (
            "stream --watch none --out o",
            "watch: found no readable folder",
        ),
        ("stream --resume old", "resume: found no interrupted work"),
        (
            "stream --watch far --once --outliers error --out o",
            "`--outliers clip` clips them",
        ),
    ] {
        let ran = icl(at.path(), &split(line));
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(needle), "{line}: {}", ran.stderr);
        assert!(!at.path().join("o").exists(), "{line}");
    }
}

/// 200 experiences need at most 5 % more memory than the first forty, for which all held-out samples are measured.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat_over_two_hundred_experiences() {
    let at = tempdir().unwrap();
    let line = "stream --data digits --split data:200 --epochs 1 --keep reservoir:100 --out out";
    let mut child = command(at.path(), &split(line))
        .env("RAYON_NUM_THREADS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let peak = |experience: &str| -> f64 {
        let begun = Instant::now();
        while !at.path().join("out").join(experience).exists() {
            assert!(begun.elapsed() < Duration::from_secs(300), "{experience}");
            sleep(Duration::from_millis(5));
        }
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let (early, late) = (peak("040-41"), peak("198-199"));
    assert!(late <= 1.05 * early, "{early} kB, then {late} kB");
    assert!(child.wait().unwrap().success());
}
