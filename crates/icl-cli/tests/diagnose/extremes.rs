//! `icl diagnose` at the ends of what its numbers can be.

use super::{
    EAST, FAR_EAST, FAR_WEST, NORTH, QUANTITIES, WEST, assert_close, diagnose, folder, json,
};
use crate::support::number;

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
    let at = folder(&[EAST], &[WEST], &[FAR_WEST], &[FAR_EAST]);
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
    let at = folder(&[EAST], &[EAST], &[NORTH, WEST], &[FAR_EAST]);
    let found = json(at.path(), "--alpha 0");
    assert_eq!(number(&found, "mean.nce2"), 0.0);
    assert_eq!(number(&found, "mean.bias_inference"), 0.0);
    let found = json(at.path(), "--alpha 1");
    assert_eq!(number(&found, "mean.bias_fine_tuning"), 0.0);
    assert_eq!(found["mean"]["nce1_all"], found["mean"]["nce1_new"]);
}

/// Each anchor's values are what they are by themselves.
#[test]
fn other_anchors_do_not_show() {
    let circle = |n: usize, turn: f64| -> Vec<[f64; 2]> {
        (0..n)
            .map(|at| {
                let angle = turn * (at + 1) as f64;
                [angle.cos(), angle.sin()]
            })
            .collect()
    };
    let (anchors, old, new) = (circle(90, 0.7), circle(500, 1.3), circle(300, 2.1));
    let at = folder(&anchors, &anchors, &old, &new);
    let all = json(at.path(), "--per-sample");
    assert_eq!(number(&all, "n_anchors"), 90.0);
    for anchor in [0, 45, 89] {
        let one = [anchors[anchor]];
        let at = folder(&one, &one, &old, &new);
        let alone = json(at.path(), "");
        for name in QUANTITIES {
            let found = all["per_sample"][name][anchor].as_f64().unwrap();
            assert_close(found, number(&alone["mean"], name), name);
        }
    }
}
