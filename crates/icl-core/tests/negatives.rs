//! Numbers of negatives against SciPy (`scripts/reference/ans.py`), and the figures that the paper prints.

use icl_core::negatives::{Optimum, course, effectiveness_by_k, reliability, separation};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    probabilities: Vec<[f64; 3]>,
    owen: Vec<[f64; 2]>,
    separations: Vec<[f64; 2]>,
    optima: Vec<Best>,
}

#[derive(Deserialize)]
struct Best {
    label: f64,
    prediction: Option<f64>,
    weight: f64,
    k_max: usize,
    k: usize,
    range: [usize; 2],
    effectiveness: f64,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/ans.json")).unwrap()
}

/// The optimum for the course of a whole training that ends at t = 3.
fn optimum(label: f64, lambda: f64, max_k: usize) -> Optimum {
    let values = effectiveness_by_k(label, &course(label, 3.0), lambda, max_k).unwrap();
    Optimum::of(&values).unwrap()
}

#[test]
fn probabilities_and_separations_are_those_of_scipy() {
    let reference = reference();
    assert_eq!(reference.probabilities.len(), 25);
    for [mu, k, expected] in reference.probabilities {
        let found = reliability(mu, k);
        assert!(
            (found - expected).abs() < 1e-10,
            "P({mu}, {k}) = {found}, SciPy {expected}"
        );
    }
    // With two negatives by Owen's T function.
    for [mu, expected] in reference.owen {
        assert!((reliability(mu, 2.0) - expected).abs() < 1e-10, "{mu}");
    }
    for [auc, expected] in reference.separations {
        let found = separation(auc).unwrap();
        assert!(
            (found - expected).abs() <= 1e-13 * expected.abs(),
            "{auc}: {found}"
        );
    }
}

#[test]
fn optima_are_those_of_a_search_by_scipy() {
    for best in reference().optima {
        let predictions = match best.prediction {
            Some(one) => vec![one],
            None => course(best.label, 3.0),
        };
        let values = effectiveness_by_k(best.label, &predictions, best.weight, best.k_max).unwrap();
        let found = Optimum::of(&values).unwrap();
        let name = format!("μ {}, {:?}, λ {}", best.label, best.prediction, best.weight);
        assert_eq!(found.k, best.k, "{name}");
        assert_eq!(
            [*found.flat.start(), *found.flat.end()],
            best.range,
            "{name}"
        );
        assert!(
            (found.effectiveness - best.effectiveness).abs() < 1e-10,
            "{name}"
        );
        assert_eq!(found.is_at_bound, best.k == best.k_max, "{name}");
    }
}

/// The figures that the paper prints, next to those that follow from its own equations.
#[test]
fn printed_figures() {
    // "AUC 0.75: μ is about 1", "AUC 0.95: 2.4".
    assert!((separation(0.75).unwrap() - 0.9539).abs() < 1e-4);
    assert!((separation(0.95).unwrap() - 2.3262).abs() < 1e-4);
    // Fig. 2: K* = 4. With λ = 0.9 it is 5, by a difference that nobody could measure.
    let fig2 = optimum(1.0, 0.9, 100);
    assert_eq!((fig2.k, fig2.flat), (5, 3..=7));
    assert_eq!(
        (optimum(1.0, 0.95, 100).k, optimum(1.0, 1.0, 100).k),
        (4, 4)
    );
    // Fig. 3: K* is about 20.
    let fig3 = optimum(2.4, 0.9, 100);
    assert_eq!((fig3.k, fig3.flat), (21, 16..=28));
    assert_eq!(optimum(separation(0.95).unwrap(), 0.9, 100).k, 18);
    // Fig. 5: at the beginning of the training the best K is smaller than over all of it.
    for (label, k) in [(1.0, 3), (2.4, 7)] {
        let values = effectiveness_by_k(label, &[0.0], 0.9, 100).unwrap();
        assert_eq!(Optimum::of(&values).unwrap().k, k);
        assert!(k < optimum(label, 0.9, 100).k);
    }
    // At its end "the best K is 1" only as long as K is below 18: with prediction and label alike the measure rises to
    // 1 − λ again.
    let values = effectiveness_by_k(1.0, &[1.0], 0.9, 1000).unwrap();
    assert_eq!(Optimum::of(&values[..17]).unwrap().k, 1);
    assert!(Optimum::of(&values).unwrap().is_at_bound);
}
