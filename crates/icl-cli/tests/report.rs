//! `icl report`: the report of an earlier run, written again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::toys::{NEW, OLD};
use crate::support::{MANIFEST, contents, default_backend, icl, names, split};
use tempfile::{TempDir, tempdir};

/// A folder with a run in it, in `out`.
fn a_run() -> TempDir {
    let at = tempdir().unwrap();
    let line = "run --seeds 2 --epochs 1 --method retraining --method warm --out out";
    icl(at.path(), &split(line)).succeeded();
    at
}

/// Asserts that the report is rejected and that nothing changes.
#[track_caller]
fn rejected(at: &Path, message: &str) {
    let before = contents(&at.join("out"));
    icl(at, &["report", "out"]).rejected(message);
    assert_eq!(contents(&at.join("out")), before);
}

#[test]
fn it_is_the_same_again() {
    let at = a_run();
    let before = contents(&at.path().join("out"));
    fs::remove_file(at.path().join("out/report.html")).unwrap();
    for _ in 0..2 {
        let ran = icl(at.path(), &["report", "out"]).succeeded();
        assert!(
            ran.stdout.ends_with("written to out/report.html\n"),
            "{}",
            ran.stdout
        );
        assert_eq!(ran.stderr, "");
        assert!(contents(&at.path().join("out")) == before);
    }
}

/// Pages of one encoder and of a stream, too; `icl train` writes none by itself.
#[test]
fn every_kind_of_folder_has_its_page_again() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "OLD");
    NEW.write(at, "NEW");
    for line in [
        "train --data OLD --epochs 1 --out first",
        "update --from first/encoder.safetensors --old OLD --new NEW --epochs 1 --accept --out second",
        "stream --data OLD --split data:3 --epochs 1 --out third",
    ] {
        icl(at, &split(line)).succeeded();
    }
    for (folder, words) in [
        ("first", "a first encoder"),
        ("second", "the encoder before and after"),
        ("third", "over a stream"),
    ] {
        let before = contents(&at.join(folder));
        let page = at.join(folder).join("report.html");
        if page.exists() {
            fs::remove_file(&page).unwrap();
        }
        let ran = icl(at, &["report", folder]).succeeded();
        let title = ran.stdout.lines().next().unwrap();
        assert!(title.ends_with(words), "{title}");
        let after = contents(&at.join(folder));
        let others = |all: &BTreeMap<String, Vec<u8>>| {
            let others = all.iter().filter(|(name, _)| *name != "report.html");
            others
                .map(|(name, bytes)| (name.clone(), bytes.clone()))
                .collect::<Vec<_>>()
        };
        assert!(others(&after) == others(&before), "{folder}");
        let written = &after["report.html"];
        assert!(
            before
                .get("report.html")
                .is_none_or(|whole| whole == written)
        );
        assert!(written.ends_with(b"</html>\n"));
    }
    fs::write(at.join("second/record.json"), "{\"schema\":2}\n").unwrap();
    let message = "second/record.json: expected a record of `icl train`, `update`, `stream` or `negatives`: missing";
    icl(at, &["report", "second"]).rejected(message);
}

/// The advice is computed again, of all its sources: the file of a curve may be gone.
#[test]
fn a_recommended_number_of_negatives_has_its_pages_again() {
    let at = tempdir().unwrap();
    let out = at.path().join("out");
    for options in ["", " --validation-auc 0.8 --lambda 1", " --curve aucs"] {
        fs::write(at.path().join("aucs"), "0.55\n0.7\n0.88\n").unwrap();
        let line = format!("negatives --train-auc 0.9 --k-max 60{options} --out out --force");
        icl(at.path(), &split(&line)).succeeded();
        fs::remove_file(at.path().join("aucs")).unwrap();
        let before = contents(&out);
        let files = ["config.toml", "record.json", "report.html", "report.md"];
        assert_eq!(names(&out), files);
        for page in &files[2..] {
            fs::remove_file(out.join(page)).unwrap();
        }
        for _ in 0..2 {
            let ran = icl(at.path(), &["report", "out"]).succeeded();
            let command = ": icl negatives --train-auc 0.9 ";
            assert!(ran.stdout.contains(command), "{}", ran.stdout);
            assert!(contents(&out) == before);
        }
    }

    let path = out.join("record.json");
    let whole = fs::read_to_string(&path).unwrap();
    let with = |from: &str, to: &str, message: &str| {
        fs::write(&path, whole.replacen(from, to, 1)).unwrap();
        rejected(at.path(), &format!("out/record.json: {message}"));
    };
    let kinds = "expected a record of `icl train`, `update`, `stream` or `negatives`: ";
    with("}\n", "\n", &format!("{kinds}EOF while parsing"));
    let lost = format!("{kinds}missing field `k_max`");
    with("\"k_max\"", "\"most\"", &lost);
    with(
        "\"schema\":1",
        "\"schema\":2",
        "record 1 has schema 2, expected 1",
    );
    let auc = "expected a number above 0 and below 1";
    with(":0.9,", ":1.5,", &format!("train_auc: found 1.5, {auc}"));
    with("[0.55,", "[0.0,", &format!("curve: found 0, {auc}"));
    with(
        "[0.55,0.7,0.88]",
        "[]",
        "curve: found no AUC, expected at least one",
    );
    with(
        "\"k_max\":60",
        "\"k_max\":0",
        "largest K: found 0, expected a number from 1 to 100000",
    );
    // A page of the user's own is not replaced.
    fs::write(&path, &whole).unwrap();
    let list = fs::read_to_string(out.join(MANIFEST)).unwrap();
    let without = list.replacen(",\"report.md\"", "", 1);
    assert!(without != list);
    fs::write(out.join(MANIFEST), without).unwrap();
    rejected(
        at.path(),
        "out: found report.md in out, which no command of icl wrote there",
    );
    // As an earlier version left it.
    fs::write(out.join(MANIFEST), list).unwrap();
    fs::remove_file(&path).unwrap();
    rejected(
        at.path(),
        "out/record.json: found no such file, expected the record of `icl negatives`, which earlier versions did not",
    );
}

#[test]
fn a_comparison_of_backends_has_its_page_again() {
    if cfg!(not(any(feature = "flex", feature = "tch"))) {
        eprintln!("skipped: neither flex nor tch is built in");
        return;
    }
    let at = tempdir().unwrap();
    let line = format!(
        "compare-backends --backends {} --steps 2",
        default_backend()
    );
    let ran = icl(at.path(), &split(&format!("{line} --out out"))).succeeded();
    let command = format!(": icl {line}\n");
    assert!(ran.stdout.contains(&command), "{}", ran.stdout);
    let out = at.path().join("out");
    let before = contents(&out);
    fs::remove_file(out.join("report.html")).unwrap();
    let again = icl(at.path(), &["report", "out"]).succeeded();
    assert_eq!(
        again.stdout,
        ran.stdout.replace("to out\n", "to out/report.html\n")
    );
    assert!(contents(&out) == before);

    let path = out.join("record.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let with = |from: &str, to: &str, message: &str| {
        fs::write(&path, whole.replacen(from, to, 1)).unwrap();
        rejected(at.path(), &format!("out/record.jsonl, line 1: {message}"));
    };
    let lost = "expected a record of `icl compare-backends`: missing field `step_s`";
    with("\"step_s\"", "\"s\"", lost);
    with("\"schema\":1", "\"schema\":9", "found schema 9, expected 1");
    let kinds = "expected a record of `icl run` or `icl compare-backends`";
    with(
        "\"losses\"",
        "\"l\"",
        &format!("found schema 1 of another command or version, {kinds}"),
    );
    with("}\n", "\n", &format!("found no record, {kinds}"));
    // Records of before do not name their command.
    let mut record: serde_json::Value = serde_json::from_str(&whole).unwrap();
    for key in ["command", "version"] {
        assert!(record.as_object_mut().unwrap().remove(key).is_some());
    }
    fs::write(&path, format!("{record}\n")).unwrap();
    let older = icl(at.path(), &["report", "out"]).succeeded().stdout;
    assert!(
        !older.contains(&line) && older.contains("the same steps on 1 backend"),
        "{older}"
    );
}

/// Folders of before hold no comparison.
#[test]
fn it_can_do_without_the_comparison() {
    let at = a_run();
    let path = at.path().join("out/report.html");
    let whole = fs::read(&path).unwrap();
    fs::remove_file(at.path().join("out/comparison.json")).unwrap();
    icl(at.path(), &["report", "out"]).succeeded();
    assert!(fs::read(&path).unwrap() == whole);
}

#[test]
fn it_can_do_without_the_map() {
    let at = a_run();
    let path = at.path().join("out/report.html");
    let with_map = fs::read(&path).unwrap();
    fs::remove_file(at.path().join("out/map.json")).unwrap();
    icl(at.path(), &["report", "out"]).succeeded();
    let without = fs::read(&path).unwrap();
    assert!(without.len() < with_map.len());
    assert!(without.ends_with(b"</html>\n") == with_map.ends_with(b"</html>\n"));
}

#[test]
fn folders_without_a_record() {
    let at = tempdir().unwrap();
    let message = "out/record.jsonl: found no readable file (";
    icl(at.path(), &["report", "out"]).rejected(message);
    assert!(names(at.path()).is_empty());
    fs::create_dir(at.path().join("out")).unwrap();
    rejected(at.path(), message);
    fs::write(at.path().join("out/record.jsonl"), b"\xff\n").unwrap();
    rejected(at.path(), message);
    fs::write(at.path().join("out/record.jsonl"), "").unwrap();
    rejected(
        at.path(),
        "out/record.jsonl: there are no records to report",
    );
}

#[test]
fn records_that_cannot_be_read() {
    let at = a_run();
    let path = at.path().join("out/record.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let broken = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n")
    };

    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    rejected(
        at.path(),
        "out/record.jsonl, line 4: expected a record of `icl run`: EOF while",
    );
    fs::write(&path, broken(1, "")).unwrap();
    rejected(
        at.path(),
        "out/record.jsonl, line 2: expected a record of `icl run`",
    );
    fs::write(&path, broken(2, "{\"schema\":2}")).unwrap();
    rejected(
        at.path(),
        "line 3: expected a record of `icl run`: missing field `method` at column",
    );
    let later = lines[2].replacen("\"schema\":2", "\"schema\":3", 1);
    fs::write(&path, broken(2, &later)).unwrap();
    rejected(
        at.path(),
        "out/record.jsonl, line 3: found schema 3, expected 2",
    );
    // A later schema may have other fields.
    fs::write(&path, broken(0, "{\"schema\":7,\"all\":\"else\"}")).unwrap();
    rejected(
        at.path(),
        "line 1: found schema 7 of another command or version, expected a record of `icl run` or",
    );
    fs::write(&path, broken(3, lines[1])).unwrap();
    rejected(
        at.path(),
        "out/record.jsonl: method `warm` has two records of seed 0",
    );
    fs::write(&path, broken(0, &lines[0].replace("MUTAG", "OTHER"))).unwrap();
    rejected(at.path(), "out/record.jsonl: records of two comparisons");
}

#[test]
fn maps_that_cannot_be_read() {
    let at = a_run();
    let path = at.path().join("out/map.json");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    rejected(
        at.path(),
        "out/map.json: expected a map of `icl run`: EOF while parsing",
    );
    fs::write(&path, b"{\"seed\": \xff}").unwrap();
    rejected(at.path(), "out/map.json: found no readable file (");
}

#[test]
fn extreme_numbers_are_drawn_or_refused() {
    let at = a_run();
    let path = at.path().join("out/record.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let with = |field: &str, value: &str| {
        let lines = whole.lines().map(|line| {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            record[field] = serde_json::from_str(value).unwrap();
            format!("{record}\n")
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
    };
    for number in ["5e-324", "1e308", "-1.7976931348623157e308"] {
        for field in ["target", "train_s", "parameter_change"] {
            with(field, number);
            let ran = icl(at.path(), &["report", "out"]).succeeded();
            assert!(ran.stdout.len() < 100_000, "{field} {number}");
        }
    }
    with("best_evaluation", "99");
    rejected(
        at.path(),
        "out/record.jsonl: record 1 has the best evaluation 99 (counted from 0), expected one of",
    );
}
