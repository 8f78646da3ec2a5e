//! `icl negatives`.

use crate::support::{icl, split};
use serde_json::{Value, json};
use tempfile::tempdir;

/// The figures of the paper's Fig. 3: about 20 negatives at an AUC of 0.95.
#[test]
fn an_auc_gives_the_best_number_and_its_range() {
    let at = tempdir().unwrap();
    let ran = icl(at.path(), &split("negatives --train-auc 0.95")).succeeded();
    assert!(
        ran.stdout
            .starts_with("labels: AUC 0.9500, separation μ 2.3262\n")
    );
    let end = "Best number of negatives: 18 at λ = 0.9 (14 to 24), 20 at λ = 1 (16 to 26). Numbers in brackets are \
               within 0.001 of the best.\n";
    assert!(ran.stdout.ends_with(end), "{}", ran.stdout);
    assert!(ran.stdout.contains(" 18*"), "{}", ran.stdout);

    let ran = icl(at.path(), &split("negatives --train-auc 0.95 --json")).succeeded();
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
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
fn a_spurious_optimum_is_told() {
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
