//! The verdict of `icl diagnose`: self-pairs, chance, effect, exit code, new anchors.

use std::fs;
use std::path::Path;

use icl_core::Seed;
use rand::RngExt;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use super::{diagnose, json, rows};
use crate::support::{number, text};

const D: usize = 4;

/// Directions around a centre on the first axis.
fn draw(n: usize, centre: f64, rng: &mut impl rand::Rng) -> Vec<[f64; D]> {
    let row = |rng: &mut _| {
        let mut row = [0.0; D].map(|_: f64| RngExt::random_range(rng, -1.0..1.0));
        row[0] += centre;
        row
    };
    (0..n).map(|_| row(rng)).collect()
}

fn view(of: &[[f64; D]], rng: &mut impl rand::Rng) -> Vec<[f64; D]> {
    let of = of.iter();
    of.map(|row| row.map(|x| x + RngExt::random_range(rng, -0.2..0.2)))
        .collect()
}

/// Old and new rows around their centres; the anchors are the old rows.
pub fn data(n: [usize; 2], centres: [f64; 2]) -> TempDir {
    drawn(n, centres, 1)
}

/// The same by another seed.
fn drawn(n: [usize; 2], centres: [f64; 2], seed: u64) -> TempDir {
    let at = tempdir().unwrap();
    let mut rng = Seed::new(seed).rng();
    let [old, new] = [0, 1].map(|it: usize| draw(n[it], centres[it], &mut rng));
    let [of_old, of_new] = [&old, &new].map(|rows| view(rows, &mut rng));
    for (name, values) in [
        ("a", &old),
        ("p", &of_old),
        ("o", &old),
        ("n", &new),
        ("q", &of_new),
    ] {
        fs::write(at.path().join(format!("{name}.npy")), rows(values)).unwrap();
    }
    at
}

fn verdict(at: &Path, flags: &str) -> (Value, Option<i32>) {
    let ran = diagnose(at, &format!("--json --exit-code {flags}"));
    (serde_json::from_str(&ran.stdout).unwrap(), ran.code)
}

#[test]
fn halves_of_one_matrix_have_not_drifted() {
    let mut n_no = 0;
    for seed in 1..=5 {
        let at = drawn([200, 200], [0.0, 0.0], seed);
        let (found, code) = verdict(at.path(), "");
        assert_eq!(code, Some(0));
        assert_eq!(number(&found, "n_self_pairs"), 200.0);
        assert!(number(&found, "bias_inference").abs() < 0.02, "{found}");
        assert!(number(&found, "null_q95") < 0.05, "{found}");
        assert!(text(&found, "why").contains("is within the effect that counts, 0.05 nats"));
        // One in forty has a false alarm of the general test: that of the first seed.
        let is_alarm = number(&found["two_sample_test"], "p_adjusted") <= 0.05;
        let expected = if is_alarm { "cannot tell" } else { "no" };
        assert_eq!(text(&found, "update"), expected, "{found}");
        n_no += usize::from(!is_alarm);
    }
    assert!(n_no >= 4, "{n_no}");
}

#[test]
fn small_halves_cannot_tell() {
    let at = data([8, 8], [0.0, 0.0]);
    let (found, code) = verdict(at.path(), "");
    assert_eq!((text(&found, "update"), code), ("cannot tell", Some(0)));
    let (found, _) = verdict(at.path(), "--effect 5");
    assert_eq!(text(&found, "update"), "no");
    assert_eq!(number(&found, "effect"), 5.0);
}

#[test]
fn a_shift_asks_for_an_update_by_its_exit_code() {
    let at = data([60, 60], [-1.0, 1.0]);
    let (found, code) = verdict(at.path(), "");
    assert_eq!((text(&found, "update"), code), ("yes", Some(3)));
    assert!(number(&found, "bias_inference") > number(&found, "null_q95"));
    let ran = diagnose(at.path(), "").succeeded();
    let last = ran.stdout.lines().last().unwrap();
    assert!(
        last.starts_with("update: yes, since the bias of inference, "),
        "{last}"
    );
    assert!(
        ran.stdout.contains("; 60 self-pairs left out"),
        "{}",
        ran.stdout
    );
}

#[test]
fn new_anchors_have_losses_of_their_own() {
    // With α = 1/21 old anchors see at most −log(1 − α) = 0.049 nats, however far the new data are.
    let at = data([200, 10], [-0.5, 1.5]);
    let (found, _) = verdict(at.path(), "");
    assert_eq!(text(&found, "update"), "cannot tell");
    assert!(number(&found, "bias_inference").abs() < 0.05);
    assert!(text(&found, "why").contains("old and new embeddings differ (MMD²"));
    let (found, code) = verdict(
        at.path(),
        "--new-anchors n.npy --new-positives q.npy --per-sample",
    );
    assert_eq!((text(&found, "update"), code), ("yes", Some(3)));
    let new = &found["new_anchors"];
    assert_eq!(
        (number(new, "n_anchors"), number(new, "n_self_pairs")),
        (10.0, 10.0)
    );
    assert_eq!(new["per_sample"]["nce2"].as_array().unwrap().len(), 10);
    assert_eq!(text(new, "update"), "yes");
    let difference = number(new, "mean.nce1_old") - number(new, "mean.nce1_all");
    assert!((difference - number(new, "bias_inference")).abs() < 1e-12);
    assert!(difference < -0.05);
    assert!(text(&found, "why").contains("of new anchors"));
    assert!(found["two_sample_test"].is_null());
    // The smaller of two p-values counts twice.
    let p_value = number(new, "p_value");
    assert!((number(new, "p_adjusted") - 2.0 * p_value).abs() < 1e-12);
    let flags = "--new-anchors n.npy --new-positives q.npy";
    let ran = diagnose(at.path(), flags).succeeded();
    assert!(ran.stdout.contains("10 new anchors:"), "{}", ran.stdout);
}

/// Another view of the anchors' own samples as old data is an alarm by the statistic alone.
#[test]
fn anchors_that_are_views_of_the_old_rows_cannot_tell() {
    let at = data([60, 60], [0.0, 0.0]);
    let mut rng = Seed::new(2).rng();
    let old = draw(60, 0.0, &mut rng);
    for (name, values) in [
        ("o", old.clone()),
        ("a", view(&old, &mut rng)),
        ("p", view(&old, &mut rng)),
    ] {
        fs::write(at.path().join(format!("{name}.npy")), rows(&values)).unwrap();
    }
    let (found, code) = verdict(at.path(), "--effect 0.01 --temperature 0.05");
    assert_eq!((text(&found, "update"), code), ("cannot tell", Some(0)));
    assert!(number(&found, "p_value") < 0.05 && number(&found, "bias_inference") > 0.01);
    assert_eq!(number(&found, "n_without_own_row"), 60.0);
    assert_eq!(number(&found, "n_with_several_own_rows"), 0.0);
    let range = found["bias_range"].as_array().unwrap();
    let [low, high] = [0, 1].map(|end| range[end].as_f64().unwrap());
    assert!(low < 0.01 && high == number(&found, "bias_inference"));
    let why = text(&found, "why");
    assert!(
        why.starts_with("60 of 60 anchors have no row of their own in the noise"),
        "{why}"
    );
    let test = &found["two_sample_test"];
    assert_eq!(text(test, "test"), "maximum mean discrepancy");
    assert_eq!([number(test, "n_old"), number(test, "n_new")], [60.0; 2]);
    assert!(number(test, "p_value") > 0.05, "{test}");
    // Both views as old data are two rows of each sample.
    let both = [rows_of(at.path(), "a"), rows_of(at.path(), "p")].concat();
    fs::write(at.path().join("o.npy"), rows(&both)).unwrap();
    let ran = diagnose(at.path(), "").succeeded();
    let last = ran.stdout.lines().last().unwrap();
    let start = "update: cannot tell, since 60 of 60 anchors have more than one row of their own in the noise";
    assert!(last.starts_with(start), "{last}");
    let line = "general two-sample test (maximum mean discrepancy, Gaussian kernel of width ";
    let line = ran.stdout.lines().find(|it| it.starts_with(line)).unwrap();
    assert!(
        line.contains("of 120 of 120 old and 60 of 60 new rows: MMD² = "),
        "{line}"
    );
}

/// The rows of a file of doubles, whose header has 64 or 128 bytes.
fn rows_of(at: &Path, name: &str) -> Vec<[f64; D]> {
    let bytes = fs::read(at.join(format!("{name}.npy"))).unwrap();
    let values = bytes[10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9])..].chunks(8);
    let values: Vec<f64> = values
        .map(|it| f64::from_le_bytes(it.try_into().unwrap()))
        .collect();
    values
        .chunks(D)
        .map(|row| row.try_into().unwrap())
        .collect()
}

#[test]
fn a_seed_draws_the_relabellings() {
    let at = data([30, 30], [0.0, 0.0]);
    let quantile = |flags| number(&json(at.path(), flags), "null_q95");
    assert_eq!(quantile(""), quantile("--seed 0"));
    assert_ne!(quantile(""), quantile("--seed 1"));
}

#[test]
fn wrong_values_are_rejected() {
    let at = data([8, 8], [0.0, 0.0]);
    for (flags, message) in [
        (
            "--effect -1",
            "effect: found -1 nats, expected a number from 0 up",
        ),
        (
            "--new-anchors n.npy --new-positives a.npy --limit 3",
            "unexpected argument '--limit'",
        ),
    ] {
        diagnose(at.path(), flags).rejected_at_length(message);
    }
    diagnose(at.path(), "--new-anchors n.npy").rejected_at_length("--new-positives");
    fs::write(at.path().join("r.npy"), rows(&[[1.0; D]; 3])).unwrap();
    diagnose(at.path(), "--new-anchors n.npy --new-positives r.npy")
        .rejected("r.npy: found shape [3, 4], expected 8 rows, one for each anchor in n.npy");
    // Nothing is left of the old noise but the anchor itself.
    for name in ["a", "p", "o"] {
        fs::write(at.path().join(format!("{name}.npy")), rows(&[[1.0; D]])).unwrap();
    }
    diagnose(at.path(), "").rejected(
        "anchor 0 (counted from 0): found no old noise but rows equal to it or to its positive, expected at least one other row",
    );
}
