//! `icl diagnose` against values that an independent program computed from the printed formulas,
//! and the files that it must reject.

use std::fs;
use std::path::Path;

use crate::support::{Ran, icl, names, number, split, text};
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
    }
}

#[test]
fn the_object_says_what_it_is_of() {
    let line = format!("{} --json", arguments(&cases()[0]));
    let ran = icl(&reference(), &split(&line)).succeeded();
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    let expected = [
        "alpha",
        "d",
        "mean",
        "n_anchors",
        "n_new",
        "n_old",
        "negatives",
        "sentence",
        "temperature",
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
    let sentence = table.lines().last().unwrap();
    assert!(
        sentence.starts_with("The noise distribution has "),
        "{sentence}"
    );
    assert!(sentence.ends_with('.'));
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
fn rows<const D: usize>(rows: &[[f64; D]]) -> Vec<u8> {
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
    let near = [EAST, NORTH];
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
    let at = folder(&anchors, &anchors, &[EAST, EAST], &[WEST, WEST]);
    let found = json(at.path(), "");
    assert!(number(&found, "mean.change_ratio") > 1.0);
    assert!(number(&found, "mean.bias_inference") > 0.0);
    let sentence = text(&found, "sentence");
    assert!(sentence.contains("away from the anchors"), "{sentence}");
    assert!(sentence.contains("nats too high"), "{sentence}");
}

#[test]
fn zero_vectors_are_similar_to_nothing() {
    let at = folder(&[[0.0; 2]], &[[0.0; 2]], &[[0.0; 2], EAST], &[WEST]);
    let found = json(at.path(), "");
    // Every f is exp(0): NCE-I is log(1 + K).
    for name in ["nce1_old", "nce1_new", "nce1_all"] {
        assert_close(number(&found["mean"], name), 32f64.ln(), name);
    }
    assert_eq!(number(&found, "mean.change_ratio"), 1.0);
    assert_eq!(number(&found, "mean.bias_inference"), 0.0);
}

#[test]
fn lengths_of_vectors_do_not_count() {
    let at = folder(&[EAST], &[NORTH], &[[3.0, 4.0]], &[[-4.0, 3.0]]);
    let expected = json(at.path(), "")["mean"].clone();
    for scale in [1e-200, 1e200] {
        let scaled = |vector: [f64; 2]| vector.map(|value| value * scale);
        let at = folder(
            &[scaled(EAST)],
            &[scaled(NORTH)],
            &[[3.0, 4.0]],
            &[[-4.0, 3.0]],
        );
        let found = json(at.path(), "");
        for name in QUANTITIES {
            assert_close(number(&found["mean"], name), number(&expected, name), name);
        }
    }
}

/// The change ratio is e to the power of a difference of losses: at small temperatures it leaves
/// what a double holds, and is `null` then. Its logarithm is there as that difference.
#[test]
fn small_temperatures_stay_finite() {
    let at = folder(&[EAST], &[WEST], &[WEST], &[EAST]);
    let found = json(at.path(), "--temperature 1e-3 --per-sample");
    assert!(found["mean"]["change_ratio"].is_null());
    assert!(found["per_sample"]["change_ratio"][0].is_null());
    for name in QUANTITIES.iter().filter(|name| **name != "change_ratio") {
        assert!(number(&found["mean"], name).is_finite());
    }
    // log r = log(1 + K·exp(2000)) − log(1 + K).
    let log_ratio = number(&found, "mean.nce1_new") - number(&found, "mean.nce1_old");
    assert_close(log_ratio, 31f64.ln() + 2000.0 - 32f64.ln(), "log r");
    let table = diagnose(at.path(), "--temperature 1e-3").succeeded().stdout;
    assert!(table.contains("above 1e308"), "{table}");
    let at_0_01 = diagnose(at.path(), "--temperature 0.01").succeeded().stdout;
    assert!(at_0_01.contains("e86"), "{at_0_01}");
    for line in table.lines().chain(at_0_01.lines()) {
        assert!(line.chars().count() < 300, "{line}");
    }
    for out in [table, at_0_01, found.to_string()] {
        assert!(!out.contains("NaN") && !out.contains("inf "), "{out}");
        assert!(out.contains("has moved far towards the anchors"), "{out}");
    }
}

#[test]
fn alpha_may_be_0_and_1() {
    let at = folder(&[EAST], &[EAST], &[NORTH, WEST], &[EAST]);
    let found = json(at.path(), "--alpha 0");
    assert_eq!(number(&found, "mean.nce2"), 0.0);
    assert_eq!(number(&found, "mean.bias_inference"), 0.0);
    let found = json(at.path(), "--alpha 1");
    assert_eq!(number(&found, "mean.bias_fine_tuning"), 0.0);
    assert_eq!(found["mean"]["nce1_all"], found["mean"]["nce1_new"]);
}

#[test]
fn numbers_that_cannot_be() {
    let at = folder(&[EAST], &[EAST], &[NORTH], &[WEST]);
    let before = names(at.path());
    let positive = "expected a number above 0";
    for (flags, message) in [
        (
            "--alpha 1.5",
            "alpha: found 1.5, expected a number from 0 to 1",
        ),
        (
            "--alpha -1",
            "alpha: found -1, expected a number from 0 to 1",
        ),
        (
            "--alpha nan",
            "alpha: found NaN, expected a number from 0 to 1",
        ),
        (
            "--temperature 0",
            &format!("temperature: found 0, {positive}"),
        ),
        (
            "--temperature -0.1",
            &format!("temperature: found -0.1, {positive}"),
        ),
        ("--negatives 0", &format!("found 0, {positive}")),
        ("--k -5", &format!("found -5, {positive}")),
        ("--k nan", &format!("found NaN, {positive}")),
    ] {
        diagnose(at.path(), flags).rejected(message);
    }
    for found in ["inf", "1e-310"] {
        diagnose(at.path(), &format!("--temperature {found}"))
            .rejected_at_length("expected a number from 1e-4 to 1e4");
    }
    diagnose(at.path(), "--alpha half").rejected_at_length("invalid value 'half'");
    assert_eq!(names(at.path()), before);
}

#[test]
fn files_that_cannot_be_used() {
    let one = 1f64.to_le_bytes();
    let four = one.repeat(4);
    let whole = npy("'<f8'", "(2, 2)", &four);
    let not_a_number = [one, one, f64::NAN.to_le_bytes(), one].concat();
    let infinite = [one, one, one, f64::NEG_INFINITY.to_le_bytes()].concat();
    let of_numpy = "expected a .npy file";
    let cut = "expected as many as its header says: the file is truncated";
    let cases: [(Vec<u8>, &str, &str); 23] = [
        (vec![], "no NumPy header", of_numpy),
        (b"1.0,2.0\n".to_vec(), "no NumPy header", of_numpy),
        (b"PK\x03\x04 an npz".to_vec(), "no NumPy header", of_numpy),
        (
            whole[..40].to_vec(),
            "a NumPy header that is cut off",
            "expected a whole one",
        ),
        (whole[..whole.len() - 1].to_vec(), "31 bytes of values", cut),
        (npy("'<f8'", "(2, 2)", &[]), "0 bytes of values", cut),
        (
            npy("'<f8'", "(4611686018427387904, 8)", &four),
            "32 bytes of values",
            cut,
        ),
        (
            npy("'<f8'", "(4,)", &four),
            "shape [4]",
            "expected two dimensions, [n, d]",
        ),
        (
            npy("'<f8'", "()", &one),
            "shape []",
            "expected two dimensions, [n, d]",
        ),
        (
            npy("'<f8'", "(1, 2, 2)", &four),
            "shape [1, 2, 2]",
            "expected two dimensions, [n, d]",
        ),
        (
            npy("'<f8'", "(0, 2)", &[]),
            "shape [0, 2]",
            "expected at least one row and one column",
        ),
        (
            npy("'<f8'", "(2, 0)", &[]),
            "shape [2, 0]",
            "expected at least one row and one column",
        ),
        (
            npy("'<i8'", "(2, 2)", &four),
            "type \"<i8\"",
            "expected f32 or f64",
        ),
        (
            npy("'<f2'", "(2, 2)", &four),
            "type \"<f2\"",
            "expected f32 or f64",
        ),
        (
            npy("'<c16'", "(1, 2)", &four),
            "type \"<c16\"",
            "expected f32 or f64",
        ),
        (
            npy("'|O'", "(2, 2)", &four),
            "type \"|O\"",
            "expected f32 or f64",
        ),
        (
            npy("'|b1'", "(2, 2)", &four),
            "type \"|b1\"",
            "expected f32 or f64",
        ),
        (
            npy("[('é', '<f8')]", "(2, 2)", &four),
            "\"[('é', '<f8')], 'fortran_order': False, …\" at byte 10 of the NumPy header",
            "expected the type of a plain array, such as '<f4'",
        ),
        (
            // The time of a parser that tries and goes back doubles with each.
            npy(&"[".repeat(40), "(2, 2)", &four),
            "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…\" at byte 10 of the NumPy header",
            "expected the type of a plain array, such as '<f4'",
        ),
        (
            npy("'<f8'", &"(".repeat(60_000), &four),
            "\"((((((((((((((((((((((((((((((((((((((((…\" at byte",
            "expected an integer from 0 to 2^64 - 1",
        ),
        (
            npy("'<f8'", &format!("({})", "1, ".repeat(64)), &one),
            "shape [1, 1, 1, 1, 1, 1, 1, 1] and 56 more axes",
            "expected two dimensions, [n, d]",
        ),
        (
            npy("'<f8'", "(2, 2)", &not_a_number),
            "NaN in row 1, column 0 (counted from 0)",
            "expected finite numbers",
        ),
        (
            npy("'<f8'", "(2, 2)", &infinite),
            "-inf in row 1, column 1 (counted from 0)",
            "expected finite numbers",
        ),
    ];
    for (bytes, found, expected) in cases {
        for name in ["a", "p", "o", "n"] {
            let at = folder(&[EAST, NORTH], &[EAST, NORTH], &[EAST], &[WEST]);
            fs::write(at.path().join(format!("{name}.npy")), &bytes).unwrap();
            let ran = diagnose(at.path(), "");
            ran.rejected(expected);
            let start = format!("error: {name}.npy: found {found}");
            assert!(ran.stderr.starts_with(&start), "{start} | {}", ran.stderr);
        }
    }
}

#[test]
fn files_that_are_not_there() {
    let at = folder(&[EAST], &[EAST], &[NORTH], &[WEST]);
    for name in ["a.npy", "p.npy", "o.npy", "n.npy"] {
        let path = at.path().join(name);
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        diagnose(at.path(), "").rejected(&format!("error: {name}: found no readable file ("));
        fs::create_dir(&path).unwrap();
        diagnose(at.path(), "").rejected(&format!("error: {name}: found no readable file ("));
        fs::remove_dir(&path).unwrap();
        fs::write(&path, bytes).unwrap();
    }
    diagnose(at.path(), "").succeeded();
}

#[test]
fn shapes_that_do_not_fit() {
    let at = folder(&[EAST, NORTH], &[EAST], &[NORTH], &[WEST]);
    diagnose(at.path(), "")
        .rejected("p.npy: found shape [1, 2], expected 2 rows, one for each anchor in a.npy");
    for name in ["p", "o", "n"] {
        let at = folder(&[EAST], &[EAST], &[NORTH], &[WEST]);
        fs::write(
            at.path().join(format!("{name}.npy")),
            rows(&[[1.0, 2.0, 3.0]]),
        )
        .unwrap();
        diagnose(at.path(), "").rejected(&format!(
            "{name}.npy: found shape [1, 3], expected 2 columns as in a.npy"
        ));
    }
}

/// More similarities than are held at once: each anchor's values are what they are by themselves.
#[test]
fn chunks_do_not_show() {
    let circle = |n: usize, turn: f64| -> Vec<[f64; 2]> {
        (0..n)
            .map(|at| {
                let angle = turn * (at + 1) as f64;
                [angle.cos(), angle.sin()]
            })
            .collect()
    };
    let (anchors, old, new) = (circle(900, 0.7), circle(5000, 1.3), circle(3000, 2.1));
    let at = folder(&anchors, &anchors, &old, &new);
    let all = json(at.path(), "--per-sample");
    assert_eq!(number(&all, "n_anchors"), 900.0);
    for anchor in [0, 450, 899] {
        let one = [anchors[anchor]];
        let at = folder(&one, &one, &old, &new);
        let alone = json(at.path(), "");
        for name in QUANTITIES {
            let found = all["per_sample"][name][anchor].as_f64().unwrap();
            assert_close(found, number(&alone["mean"], name), name);
        }
    }
}
