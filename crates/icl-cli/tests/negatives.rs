//! `icl negatives`.

use std::fs;

use crate::support::{icl, record, split};
use serde_json::{Value, json};
use tempfile::tempdir;

/// The figures of the paper's Fig. 3: about 20 negatives at an AUC of 0.95.
#[test]
fn an_auc_gives_the_best_number_and_its_range() {
    let at = tempdir().unwrap();
    let ran = icl(at.path(), &split("negatives --train-auc 0.95")).succeeded();
    assert!(
        ran.stdout
            .starts_with("labels: AUC 0.9500, separation μ 2.3262\nicl ")
    );
    assert!(ran.stdout.contains(": icl negatives --train-auc 0.95\n"));
    let end = "Best number of negatives: 18 at λ = 0.9 (14 to 24), 20 at λ = 1 (16 to 26). Numbers in brackets are \
               within 0.001 of the best.\n";
    assert!(ran.stdout.ends_with(end), "{}", ran.stdout);
    assert!(ran.stdout.contains(" 18*"), "{}", ran.stdout);

    let ran = icl(at.path(), &split("negatives --train-auc 0.95 --json")).succeeded();
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["command"], "icl negatives --train-auc 0.95");
    assert_eq!(answer["k_opt"], 18);
    assert_eq!(answer["k_range"], json!([14, 24]));
    assert_eq!(answer["lambda"], 0.9);
    assert_eq!(answer["at_lambda_1"]["k_opt"], 20);
    let number = |name: &str| answer[name].as_f64().unwrap();
    assert!((number("mu_q") - 2.326_174).abs() < 1e-6);
    assert!((number("effectiveness") - 0.261_087).abs() < 1e-6);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_stage_has_a_number_of_its_own() {
    let at = tempdir().unwrap();
    let options = "negatives --train-auc 0.7602499389 --validation-auc 0.5 --lambda 1 --json";
    let ran = icl(at.path(), &split(options)).succeeded();
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&answer["k_opt"], &answer["lambda"]),
        (&json!(3), &json!(1.0))
    );
}

#[test]
fn a_spurious_optimum_is_reported() {
    let at = tempdir().unwrap();
    let ran = icl(at.path(), &split("negatives --train-auc 0.53 --k-max 500")).succeeded();
    let warning =
        "warning: no optimum below 500 negatives: for large K the measure tends to 1 − λ = 0.1000";
    assert!(ran.stderr.starts_with(warning), "{}", ran.stderr);
    assert!(ran.stdout.contains("2 at λ = 1 (1 to 3)"), "{}", ran.stdout);
    let ran = icl(at.path(), &split("negatives --train-auc 0.4")).succeeded();
    assert!(ran.stderr.contains("negatives score higher than positives"));
}

#[test]
fn numbers_that_are_rejected() {
    let at = tempdir().unwrap();
    let auc = "expected a number above 0 and below 1";
    for (options, message) in [
        ("--train-auc 1", format!("train-auc: found 1, {auc}")),
        ("--train-auc nan", format!("train-auc: found NaN, {auc}")),
        (
            "--train-auc 0.9 --validation-auc 0",
            format!("validation-auc: found 0, {auc}"),
        ),
        (
            "--train-auc 0.9 --lambda 1.1",
            "lambda: found 1.1, expected a number from 0 to 1".to_owned(),
        ),
        (
            "--train-auc 0.9 --k-max 0",
            "k-max: found 0, expected a number from 1 to 100000".to_owned(),
        ),
    ] {
        icl(at.path(), &split(&format!("negatives {options}"))).rejected(&message);
    }
    icl(
        at.path(),
        &split("negatives --train-auc 0.9 --k-max 100001"),
    )
    .rejected_at_length("expected a whole number from 0 to 100000");
}

/// Three constant AUCs are one stage with this AUC.
#[test]
fn a_measured_course_takes_the_place_of_the_simulated_one() {
    let at = tempdir().unwrap();
    fs::write(at.path().join("aucs.csv"), "auc\r\n0.7\r\n0.7\r\n0.7\r\n").unwrap();
    let line = |aucs: &[f64]| {
        let of = |auc: &f64| json!({ "epoch": 0, "risk": { "all": 2.0, "auc_all": auc } });
        let evaluations: Vec<Value> = aucs.iter().map(of).collect();
        json!({ "schema": 2, "method": "icl", "evaluations": evaluations }).to_string()
    };
    let lines = [line(&[0.7, 0.7]), line(&[0.7])].join("\n");
    fs::write(at.path().join("record.jsonl"), lines).unwrap();
    let answer = |options: &str| -> Value {
        let line = format!("negatives --train-auc 0.9 --json {options}");
        let ran = icl(at.path(), &split(&line)).succeeded();
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let stage = answer("--validation-auc 0.7");
    assert!(stage["curve"].is_null());
    for file in ["aucs.csv", "record.jsonl"] {
        let measured = answer(&format!("--curve {file}"));
        assert_eq!(measured["curve"], json!([0.7, 0.7, 0.7]));
        assert!(measured["validation_auc"].is_null());
        for name in ["k_opt", "k_range", "lambda"] {
            assert_eq!(measured[name], stage[name], "{name} of {file}");
        }
        let [found, expected] = [&measured, &stage].map(|of| of["effectiveness"].as_f64().unwrap());
        assert!((found - expected).abs() < 1e-12);
    }
    // A course with a high end has another number than its end.
    fs::write(at.path().join("rising"), "0.55\n0.7\n0.88\n").unwrap();
    assert!(answer("--curve rising")["k_opt"] != answer("--validation-auc 0.88")["k_opt"]);
}

#[test]
fn curves_that_are_rejected() {
    let at = tempdir().unwrap();
    let rejected = |text: &[u8], message: &str| {
        fs::write(at.path().join("c"), text).unwrap();
        let line = "negatives --train-auc 0.9 --curve c --out out";
        icl(at.path(), &split(line)).rejected(message);
        assert!(!at.path().join("out").exists());
    };
    rejected(
        b"0.7\n1.0\n",
        "c, line 2: found 1, expected an AUC above 0 and below 1",
    );
    rejected(
        b"0.7\nhigh\n",
        "c, line 2: found \"high\", expected one number, an AUC, or a record",
    );
    rejected(b"\n\n", "c: found 0 AUCs, expected 1 to 10000");
    rejected(
        b"0.7\n\xff\n",
        "c: found no readable file (byte 4 is not UTF-8)",
    );
    let older = b"{\"method\":\"icl\",\"evaluations\":[{\"risk\":{\"all\":1.0}}]}\n";
    rejected(older, "c, line 1: found an evaluation without auc_all");
    let line = "negatives --train-auc 0.9 --curve none";
    icl(at.path(), &split(line)).rejected("none: found no readable file (");
    let line = "negatives --train-auc 0.9 --curve c --validation-auc 0.7";
    icl(at.path(), &split(line)).rejected_at_length("cannot be used with");
}

#[test]
fn a_page_has_the_answer_and_pictures() {
    let at = tempdir().unwrap();
    let line = "negatives --train-auc 0.95 --k-max 60";
    let alone = icl(at.path(), &split(line)).succeeded().stdout;
    let with_page = icl(at.path(), &split(&format!("{line} --out out"))).succeeded();
    assert_eq!(with_page.stdout, format!("{alone}\nwritten to out\n"));
    let printed = icl(at.path(), &split(&format!("{line} --json"))).succeeded();
    let printed: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(record(&at.path().join("out")), printed);
    let read = |name: &str| fs::read_to_string(at.path().join("out").join(name)).unwrap();
    let (html, markdown, config) = (read("report.html"), read("report.md"), read("config.toml"));
    let answer = "Best number of negatives: 18 at λ = 0.9 (14 to 24 are as good), 20 at λ = 1 (16 to 26 are as good).";
    assert!(
        html.contains(answer) && markdown.contains(answer),
        "{markdown}"
    );
    assert_eq!(html.matches("<svg class=\"chart\"").count(), 5);
    assert!(html.contains("curve dashed") && markdown.contains("It is an artefact"));
    assert_eq!(
        config,
        "train-auc = 0.95\nlambda = 0.9\nk-max = 60\nout = \"out\"\n"
    );
    // Earlier output is replaced only if that is asked for, and a stranger's file is not.
    let again = format!("{line} --lambda 1 --out out");
    icl(at.path(), &split(&again)).rejected("out: found files in out, expected a new folder");
    icl(at.path(), &split(&format!("{again} --force"))).succeeded();
    assert!(read("report.md").contains("Best number of negatives: 20 at λ = 1 ("));
    fs::create_dir(at.path().join("mine")).unwrap();
    fs::write(at.path().join("mine/report.md"), "notes").unwrap();
    let mine = format!("{line} --out mine --force");
    icl(at.path(), &split(&mine)).rejected("report.md");
    assert_eq!(
        fs::read_to_string(at.path().join("mine/report.md")).unwrap(),
        "notes"
    );
    icl(at.path(), &split(&format!("{line} --force"))).rejected_at_length("--out");
}
