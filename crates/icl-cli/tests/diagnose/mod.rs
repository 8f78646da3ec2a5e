//! `icl diagnose` against values that an independent program computed from the printed formulas,
//! and the files that it must reject.

mod extremes;
mod inputs;
mod subset;
mod verdict;

use std::fs;
use std::path::Path;

use crate::support::{Ran, icl, number, split, text};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

const QUANTITIES: [&str; 7] = [
    "nce1_old",
    "nce1_new",
    "nce1_all",
    "nce2",
    "change_ratio",
    "bias_inference",
    "bias_fine_tuning",
];

fn reference() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/diagnose")
}

fn cases() -> Vec<Value> {
    let text = fs::read_to_string(reference().join("cases.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    cases["cases"].as_array().unwrap().clone()
}

/// The arguments of a reference case.
fn arguments(case: &Value) -> String {
    let sets = text(case, "sets");
    let [temperature, negatives] = ["temperature", "negatives"].map(|key| number(case, key));
    let alpha = match case["alpha"].as_f64() {
        Some(alpha) => format!("--alpha {alpha}"),
        None => String::new(),
    };
    format!(
        "diagnose --anchors {sets}-anchors.npy --positives {sets}-positives.npy \
         --old {sets}-old.npy --new {sets}-new.npy --temperature {temperature} \
         --negatives {negatives} {alpha}"
    )
}

/// Both compute in double precision, the reference without logarithms: 1e-9 of the value, and
/// 1e-12 where the value is next to 0, which the reference's sums cannot resolve.
#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    let within = 1e-12 + 1e-9 * expected.abs();
    assert!(
        (found - expected).abs() <= within,
        "{what}: found {found}, expected {expected}"
    );
}

#[test]
fn it_agrees_with_the_formulas() {
    let cases = cases();
    assert!(cases.len() >= 10);
    for case in &cases {
        let line = format!("{} --json --per-sample", arguments(case));
        let ran = icl(&reference(), &split(&line)).succeeded();
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        let expected = &case["expected"];
        assert_close(number(&found, "alpha"), number(expected, "alpha"), "alpha");
        for name in QUANTITIES {
            let path = format!("mean.{name}");
            let what = format!("{name} of {line}");
            assert_close(number(&found, &path), number(expected, &path), &what);
            let [found, expected] = [&found, expected].map(|of| &of["per_sample"][name]);
            let [found, expected] = [found, expected].map(|of| of.as_array().unwrap());
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert_close(found.as_f64().unwrap(), expected.as_f64().unwrap(), &what);
            }
        }
        for name in ["auc", "mu", "n_self_pairs"] {
            assert_close(number(&found, name), number(expected, name), name);
        }
        let statistic = number(&found, "bias_inference");
        assert_close(
            statistic,
            number(expected, "mean.bias_inference"),
            "statistic",
        );
        let of_expected = expected["right_predictions"].as_array().unwrap();
        let of_found = found["right_predictions"].as_array().unwrap();
        assert_eq!(of_found.len(), of_expected.len());
        for (found, expected) in of_found.iter().zip(of_expected) {
            assert_eq!(number(found, "k"), expected[0].as_f64().unwrap());
            let measured = number(found, "measured");
            assert_close(measured, expected[1].as_f64().unwrap(), "P(B)");
        }
    }
}

/// The advice is that of `icl negatives` for the same AUC at λ = 1.
#[test]
fn the_recommended_number_is_that_of_the_auc() {
    let line = format!("{} --json", arguments(&cases()[0]));
    let ran = icl(&reference(), &split(&line)).succeeded();
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let auc = number(&found, "auc");
    let line = format!("negatives --train-auc {auc} --lambda 1 --json");
    let ran = icl(&reference(), &split(&line)).succeeded();
    let advised: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&found["k_opt"], &found["k_range"]),
        (&advised["k_opt"], &advised["k_range"])
    );
    let k = number(&found, "k_opt");
    let [low, high] = [0, 1].map(|end| found["k_range"][end].as_f64().unwrap());
    let words = format!("Recommended number of negatives: {k} ({low} to {high} are within");
    assert!(
        text(&found, "advice").starts_with(&words),
        "{}",
        text(&found, "advice")
    );
}

#[test]
fn no_number_is_recommended_where_all_positives_are_highest() {
    let at = folder(&[EAST], &[EAST], &[NORTH, WEST], &[WEST, NORTH]);
    let found = json(at.path(), "");
    assert_eq!(number(&found, "auc"), 1.0);
    for name in ["mu", "k_opt", "k_range"] {
        assert!(found[name].is_null(), "{name}");
    }
    assert!(text(&found, "advice").starts_with("No number of negatives is advised: "));
}

#[test]
fn the_object_says_what_it_is_of() {
    let line = format!("{} --json", arguments(&cases()[0]));
    let ran = icl(&reference(), &split(&line)).succeeded();
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    let expected = [
        "advice",
        "alpha",
        "auc",
        "bias_inference",
        "bias_range",
        "d",
        "effect",
        "evaluation_samples",
        "k_opt",
        "k_range",
        "mean",
        "mu",
        "n_anchors",
        "n_new",
        "n_old",
        "n_relabellings",
        "n_self_pairs",
        "n_with_several_own_rows",
        "n_without_own_row",
        "negatives",
        "null_mean",
        "null_q95",
        "p_adjusted",
        "p_value",
        "right_predictions",
        "seed",
        "sentence",
        "temperature",
        "two_sample_test",
        "update",
        "why",
    ];
    assert!(
        expected
            .iter()
            .all(|key| keys.iter().any(|found| found == key))
    );
    assert_eq!(keys.len(), expected.len());
    let sizes = ["n_anchors", "n_old", "n_new", "d"].map(|key| number(&found, key));
    assert_eq!(sizes, [4.0, 6.0, 3.0, 5.0]);
    let mut quantities: Vec<&String> = found["mean"].as_object().unwrap().keys().collect();
    let mut expected = QUANTITIES;
    quantities.sort();
    expected.sort_unstable();
    assert_eq!(quantities, expected);
}

#[test]
fn the_table_shows_the_numbers_and_a_sentence() {
    let case = &cases()[0];
    let table = icl(&reference(), &split(&arguments(case)))
        .succeeded()
        .stdout;
    for name in QUANTITIES {
        let mean = number(&case["expected"]["mean"], name);
        let row = table.lines().find(|line| line.trim().starts_with(name));
        let row = row.unwrap_or_else(|| panic!("no {name} in\n{table}"));
        assert!(row.contains(&format!("{mean:.6}")), "{row}");
    }
    let sentence = table
        .lines()
        .find(|line| line.starts_with("The noise distribution has "));
    assert!(sentence.unwrap().ends_with('.'));
    let auc = format!(
        "AUC of positives against noise = {:.4}, separation μ = ",
        number(&case["expected"], "auc")
    );
    assert!(table.lines().any(|line| line.starts_with(&auc)), "{table}");
    let advice = "Recommended number of negatives: ";
    assert!(
        table.lines().any(|line| line.starts_with(advice)),
        "{table}"
    );
    let verdict = table.lines().last().unwrap();
    assert!(
        verdict.starts_with("update: cannot tell, since the bias of inference, "),
        "{verdict}"
    );
    assert!(table.starts_with("4 anchors, 6 old and 3 new noise samples, d = 5; α = 0.3333, τ = "));

    let line = format!("{} --per-sample", arguments(case));
    let table = icl(&reference(), &split(&line)).succeeded().stdout;
    let losses = &case["expected"]["per_sample"]["nce1_all"];
    for (anchor, loss) in losses.as_array().unwrap().iter().enumerate() {
        let row = table
            .lines()
            .find(|line| line.trim().starts_with(&format!("{anchor} ")))
            .unwrap();
        let loss = loss.as_f64().unwrap();
        assert!(row.contains(&format!("{loss:.6}")), "{row}");
    }
    assert!(table.lines().any(|line| line.trim().starts_with("mean ")));
}

/// A matrix of NumPy's format.
fn npy(descriptor: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': {descriptor}, 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    bytes
}

/// Rows of f64.
pub fn rows<const D: usize>(rows: &[[f64; D]]) -> Vec<u8> {
    let values = rows.iter().flatten().flat_map(|value| value.to_le_bytes());
    npy(
        "'<f8'",
        &format!("({}, {D})", rows.len()),
        &values.collect::<Vec<u8>>(),
    )
}

const EAST: [f64; 2] = [1.0, 0.0];
const NORTH: [f64; 2] = [0.0, 1.0];
const WEST: [f64; 2] = [-1.0, 0.0];
/// The directions of EAST and WEST, in other rows than those of anchors: equal rows would be no noise.
const FAR_EAST: [f64; 2] = [2.0, 0.0];
const FAR_WEST: [f64; 2] = [-2.0, 0.0];

/// A folder with anchors, positives, old and new noise in `a.npy`, `p.npy`, `o.npy` and `n.npy`.
fn folder(
    anchors: &[[f64; 2]],
    positives: &[[f64; 2]],
    old: &[[f64; 2]],
    new: &[[f64; 2]],
) -> TempDir {
    let at = tempdir().unwrap();
    for (name, values) in [("a", anchors), ("p", positives), ("o", old), ("n", new)] {
        fs::write(at.path().join(format!("{name}.npy")), rows(values)).unwrap();
    }
    at
}

fn diagnose(at: &Path, flags: &str) -> Ran {
    let line = "diagnose --anchors a.npy --positives p.npy --old o.npy --new n.npy";
    icl(at, &split(&format!("{line} {flags}")))
}

fn json(at: &Path, flags: &str) -> Value {
    let ran = diagnose(at, &format!("--json {flags}")).succeeded();
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn the_sentence_follows_the_noise() {
    let near = [FAR_EAST, NORTH];
    let far = [NORTH, WEST];
    for (old, new, words) in [
        (&near, &near, "has hardly moved: "),
        (&far, &near, "has moved far towards the anchors: "),
        (&near, &far, "has moved far away from the anchors: "),
    ] {
        let at = folder(&[EAST], &[EAST], old, new);
        let found = json(at.path(), "");
        let sentence = text(&found, "sentence");
        assert!(sentence.contains(words), "{sentence}");
    }
    // One anchor whose change ratio is great does not turn the sentence round: the noise of the
    // five others went away, and that is what the losses say in sum.
    let anchors = [WEST, EAST, EAST, EAST, EAST, EAST];
    let at = folder(&anchors, &anchors, &[FAR_EAST; 2], &[FAR_WEST; 2]);
    let found = json(at.path(), "");
    assert!(number(&found, "mean.change_ratio") > 1.0);
    assert!(number(&found, "mean.bias_inference") > 0.0);
    let sentence = text(&found, "sentence");
    assert!(sentence.contains("away from the anchors"), "{sentence}");
    assert!(sentence.contains("nats too high"), "{sentence}");
}
