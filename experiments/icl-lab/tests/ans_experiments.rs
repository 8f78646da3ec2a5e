//! Experiments on the number of negatives, on a small set of interactions.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::support::{lab, number, split};
use serde_json::Value;
use tempfile::tempdir;

/// Writes interactions of 40 users with 60 items, of which each user likes one half.
fn write_interactions(at: &Path) {
    let mut text = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n".to_owned();
    for user in 0..40 {
        for time in 0..12 {
            let item = (7 * time + 5 * user) % 30 + 30 * (user % 2);
            writeln!(text, "u{user}\ti{item}\t3\t{}", 100 * time + user).unwrap();
        }
    }
    let folder = at.join("data/ml-100k");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("ml-100k.inter"), text).unwrap();
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn rows_are_run_once_and_evaluated() {
    let at = tempdir().unwrap();
    write_interactions(at.path());
    let line = "reproduce ans7 --data-dir data --epochs 2 --batch-size 64 --negatives-peak 5 --seeds 2 --out o";
    let ran = lab(at.path(), &split(line)).succeeded();
    assert_eq!(ran.stdout, "o/ans7.html\no/ans7.md\n");
    let file = at.path().join("o/ans7.jsonl");
    let records = lines(&file);
    assert_eq!(records.len(), 22);
    for record in &records {
        let course = record["row"]["course"].as_str().unwrap();
        assert_eq!(
            (number(record, "n_training"), number(record, "n_test")),
            (360.0, 40.0)
        );
        let ks = record["step_negatives"].as_array().unwrap();
        if course == "popularity" {
            assert!(ks.is_empty() && record["untrained"].is_null());
            continue;
        }
        assert!(number(record, "parameter_change") > 0.0);
        let epochs = record["row"]["epochs"].as_u64().unwrap();
        assert_eq!(ks.len() as u64, epochs);
        let sum: f64 = ks.iter().map(|k| k.as_f64().unwrap()).sum();
        assert!((number(record, "n_scored") - 360.0 * sum).abs() < 1e-6);
    }
    // The courses and the control have equally many scored negatives.
    let scored = |course: &str, peak: f64| {
        let mut all = records.iter();
        let of = all.find(|it| it["row"]["course"] == course && it["row"]["peak"] == peak);
        number(of.unwrap(), "n_scored")
    };
    for course in ["up", "down", "ans", "mirrored"] {
        let ratio = scored(course, 5.0) / scored("fixed", 3.0);
        // Each batch counts the same, and they differ by a sample.
        assert!((ratio - 1.0).abs() < 0.1, "{course}: {ratio}");
    }
    let page = fs::read_to_string(at.path().join("o/ans7.md")).unwrap();
    for needle in ["ANS, peak 5", "popularity", "untrained", "K = 3"] {
        assert!(page.contains(needle), "{needle}");
    }
    // The same command runs nothing again; other settings are refused.
    let before = fs::read(&file).unwrap();
    lab(at.path(), &split(line)).succeeded();
    assert_eq!(fs::read(&file).unwrap(), before);
    let other = line.replace("--epochs 2", "--epochs 3");
    lab(at.path(), &split(&other)).rejected("found a record with epochs 2");
}

#[test]
fn data_that_are_not_there_are_skipped() {
    let at = tempdir().unwrap();
    for (target, file) in [
        ("ans2", "data/ml-100k/ml-100k.inter"),
        ("ans8", "data/text/ag-news-7600.csv.gz"),
    ] {
        let line = format!("reproduce {target} --data-dir data --out o");
        let ran = lab(at.path(), &split(&line)).succeeded();
        let note = format!("note: {file} is not there: skipped");
        assert!(ran.stderr.contains(&note), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    lab(
        at.path(),
        &split("reproduce ans2 --negatives-peak 1 --out o"),
    )
    .rejected("negatives-peak: found 1, expected a number above 1");
}

/// The figures themselves are tested where they are computed.
#[test]
fn figures_of_the_paper_are_pages() {
    let at = tempdir().unwrap();
    let ran = lab(at.path(), &split("reproduce ans5 --out pages")).succeeded();
    assert_eq!(ran.stdout, "pages/ans5.html\npages/ans5.md\n");
    let page = fs::read_to_string(at.path().join("pages/ans5.md")).unwrap();
    assert!(
        page.contains("1 of 3 claims hold") && page.contains("icl-lab reproduce ans5"),
        "{page}"
    );
    fs::write(at.path().join("file"), "").unwrap();
    let ran = lab(at.path(), &split("reproduce ans4 --out file"));
    ran.rejected("out: found a file at file, expected a folder or nothing");
}
