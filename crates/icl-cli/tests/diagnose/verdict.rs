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
fn panel(n: [usize; 2], centres: [f64; 2]) -> TempDir {
    let at = tempdir().unwrap();
    let mut rng = Seed::new(1).rng();
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
    let at = panel([200, 200], [0.0, 0.0]);
    let (found, code) = verdict(at.path(), "");
    assert_eq!((text(&found, "update"), code), ("no", Some(0)));
    assert_eq!(number(&found, "n_self_pairs"), 200.0);
    assert!(number(&found, "bias_inference").abs() < 0.02, "{found}");
    assert!(number(&found, "null_q95") < 0.05, "{found}");
    assert!(text(&found, "why").contains("is within the effect that counts, 0.05 nats"));
}

#[test]
fn small_halves_cannot_tell() {
    let at = panel([8, 8], [0.0, 0.0]);
    let (found, code) = verdict(at.path(), "");
    assert_eq!((text(&found, "update"), code), ("cannot tell", Some(0)));
    let (found, _) = verdict(at.path(), "--effect 5");
    assert_eq!(text(&found, "update"), "no");
    assert_eq!(number(&found, "effect"), 5.0);
}

#[test]
fn a_shift_asks_for_an_update_by_its_exit_code() {
    let at = panel([60, 60], [-1.0, 1.0]);
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
    let at = panel([200, 10], [-0.5, 1.5]);
    let (found, _) = verdict(at.path(), "");
    assert_eq!(text(&found, "update"), "no");
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
    let flags = "--new-anchors n.npy --new-positives q.npy";
    let ran = diagnose(at.path(), flags).succeeded();
    assert!(ran.stdout.contains("10 new anchors:"), "{}", ran.stdout);
}

#[test]
fn a_seed_draws_the_relabellings() {
    let at = panel([30, 30], [0.0, 0.0]);
    let quantile = |flags| number(&json(at.path(), flags), "null_q95");
    assert_eq!(quantile(""), quantile("--seed 0"));
    assert_ne!(quantile(""), quantile("--seed 1"));
}

#[test]
fn wrong_values_are_rejected() {
    let at = panel([8, 8], [0.0, 0.0]);
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
