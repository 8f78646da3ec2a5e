//! Measures of a stream's matrix, in both vocabularies of the literature.

use serde::{Deserialize, Serialize};

use crate::transfer::matrix::{Better, TransferMatrix};

/// Measures of a [`TransferMatrix`]. `None`: a cell that the formula needs was not measured, or the formula needs more
/// experiences.
///
/// The literature calls two kinds of quantities transfer: levels, means of parts of the matrix (CLEAR, TiC-CLIP), and
/// differences (GEM). All names here say which; [`TRANSFER_FORMULAS`] is to be printed next to the values.
///
/// Levels have the sign of the measure. Differences count what is **better** as positive, and forgetting counts what is
/// **worse** as positive, for risks and for accuracies alike.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Transfer {
    /// Mean over all experiences after the last.
    pub average_last: Option<f64>,
    /// Mean of the diagonal.
    pub in_domain: Option<f64>,
    /// Mean of the cells above the diagonal: the experience that comes next.
    pub next_domain: Option<f64>,
    /// Mean below the diagonal, a level.
    pub backward_level: Option<f64>,
    /// Mean above the diagonal, a level.
    pub forward_level: Option<f64>,
    /// Backward transfer, a difference.
    pub bwt: Option<f64>,
    /// Forward transfer, a difference from an untrained encoder.
    pub fwt: Option<f64>,
    /// Forgetting since the best value.
    pub forgetting_max: Option<f64>,
    /// Forgetting since the experience itself.
    pub forgetting_first: Option<f64>,
    /// Measure of the encoder that was live when the data came.
    pub served: Option<f64>,
}

/// Formula of a measure.
#[derive(Debug, Clone, Copy)]
pub struct TransferFormula {
    /// Name of the field of [`Transfer`].
    pub name: &'static str,
    /// Formula, for a measure of which higher values are better.
    pub formula: &'static str,
    /// Publication or project.
    pub source: &'static str,
    /// Value among the measures.
    pub value: fn(&Transfer) -> Option<f64>,
}

const fn formula(
    name: &'static str,
    formula: &'static str,
    source: &'static str,
    value: fn(&Transfer) -> Option<f64>,
) -> TransferFormula {
    TransferFormula {
        name,
        formula,
        source,
        value,
    }
}

/// Formulas of all measures of [`Transfer`], in the order of its fields.
pub const TRANSFER_FORMULAS: [TransferFormula; 10] = [
    formula("average_last", "mean over j of R[T][j]", "all", |it| {
        it.average_last
    }),
    formula("in_domain", "mean over i of R[i][i]", "CLEAR", |it| {
        it.in_domain
    }),
    formula(
        "next_domain",
        "mean over i < T of R[i][i+1]",
        "CLEAR",
        |it| it.next_domain,
    ),
    formula(
        "backward_level",
        "mean over i > j of R[i][j]",
        "CLEAR, TiC-CLIP: backward transfer",
        |it| it.backward_level,
    ),
    formula(
        "forward_level",
        "mean over i < j of R[i][j]",
        "CLEAR, TiC-CLIP: forward transfer",
        |it| it.forward_level,
    ),
    formula(
        "bwt",
        "mean over j < T of R[T][j] − R[j][j]",
        "GEM: backward transfer",
        |it| it.bwt,
    ),
    formula(
        "fwt",
        "mean over j > 1 of R[j−1][j] − b[j], b of an untrained encoder",
        "GEM: forward transfer",
        |it| it.fwt,
    ),
    formula(
        "forgetting_max",
        "mean over j < T of max over j ≤ i < T of R[i][j] − R[T][j]",
        "Chaudhry et al., 2018",
        |it| it.forgetting_max,
    ),
    formula(
        "forgetting_first",
        "mean over j < T of R[j][j] − R[T][j]",
        "Avalanche",
        |it| it.forgetting_first,
    ),
    formula(
        "served",
        "sum over j > 1 of n[j] R[j−1][j] / sum over j > 1 of n[j], n samples of experience j",
        "Modyn: pipeline performance",
        |it| it.served,
    ),
];

impl Transfer {
    /// Computes all measures of a matrix. `n_samples` are the numbers of samples of the experiences, which weigh
    /// [`served`](Self::served) alone.
    ///
    /// # Panics
    /// If there are not as many numbers as experiences.
    pub fn new(matrix: &TransferMatrix, n_samples: &[usize]) -> Self {
        let n = matrix.n_experiences();
        assert_eq!(
            n_samples.len(),
            n,
            "each experience has a number of samples"
        );
        let last = n - 1;
        let better = matrix.better();
        let cell = |after, on| matrix.cell(after, on);
        let next = || (1..n).map(|on| cell(on - 1, on));
        let pairs = |is_wanted: fn(usize, usize) -> bool| {
            let all = (0..n).flat_map(move |after| (0..n).map(move |on| (after, on)));
            all.filter(move |&(after, on)| is_wanted(after, on))
        };
        let forgetting = |on: usize| Some(better.gain(cell(on, on)?, cell(last, on)?));
        let best = |on: usize| {
            let before: Option<Vec<f64>> = (on..last).map(|after| cell(after, on)).collect();
            before?.into_iter().reduce(|a, b| match better {
                Better::Lower => a.min(b),
                Better::Higher => a.max(b),
            })
        };
        Self {
            average_last: mean((0..n).map(|on| cell(last, on))),
            in_domain: mean((0..n).map(|on| cell(on, on))),
            next_domain: mean(next()),
            backward_level: mean(pairs(|after, on| after > on).map(|(after, on)| cell(after, on))),
            forward_level: mean(pairs(|after, on| after < on).map(|(after, on)| cell(after, on))),
            bwt: mean((0..last).map(|on| Some(-forgetting(on)?))),
            fwt: mean((1..n).map(|on| Some(better.gain(cell(on - 1, on)?, matrix.untrained(on)?)))),
            forgetting_max: mean((0..last).map(|on| Some(better.gain(best(on)?, cell(last, on)?)))),
            forgetting_first: mean((0..last).map(forgetting)),
            served: weighted_mean(next().zip(&n_samples[1..])),
        }
    }
}

/// Returns the mean; `None` without values, or if one is missing.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    weighted_mean(values.map(|value| (value, &1)))
}

/// Returns the weighted mean; `None` without weight, or if a value is missing.
fn weighted_mean<'a>(values: impl Iterator<Item = (Option<f64>, &'a usize)>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, &weight) in values {
        sum += value? * weight as f64;
        weights += weight as f64;
    }
    (weights > 0.0).then(|| sum / weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(better: Better, rows: &[&[f64]]) -> TransferMatrix {
        let rows = rows
            .iter()
            .map(|row| row.iter().map(|it| Some(*it)).collect());
        TransferMatrix::try_new(better, rows.collect()).unwrap()
    }

    fn assert_close(found: Option<f64>, expected: f64) {
        assert!(
            (found.unwrap() - expected).abs() < 1e-12,
            "{found:?}, expected {expected}"
        );
    }

    /// The example of Avalanche's functional forgetting (tests/evaluation/test_functional.py, 2025).
    const AVALANCHE: [&[f64]; 3] = [&[1.0, 0.0, 0.0], &[0.5, 0.8, 1.0], &[0.2, 1.0, 0.5]];

    #[test]
    fn forgetting_is_that_of_avalanches_example() {
        let accuracy = matrix(Better::Higher, &AVALANCHE);
        assert_close(Transfer::new(&accuracy, &[1, 1, 1]).forgetting_first, 0.3);
    }

    /// All measures of the same example, by hand.
    #[test]
    fn each_measure_is_its_formula() {
        let accuracy = matrix(Better::Higher, &AVALANCHE)
            .with_untrained(vec![Some(0.1), Some(0.2), Some(0.3)])
            .unwrap();
        let found = Transfer::new(&accuracy, &[5, 10, 30]);
        assert_close(found.average_last, 1.7 / 3.0);
        assert_close(found.in_domain, 2.3 / 3.0);
        assert_close(found.next_domain, 0.5);
        assert_close(found.backward_level, 1.7 / 3.0);
        assert_close(found.forward_level, 1.0 / 3.0);
        assert_close(found.bwt, -0.3);
        assert_close(found.fwt, (-0.2 + 0.7) / 2.0);
        assert_close(found.forgetting_max, (0.8 - 0.2) / 2.0);
        assert_close(found.served, 30.0 / 40.0);
        assert_eq!(TRANSFER_FORMULAS.len(), 10);
        let fields = serde_json::to_value(found).unwrap();
        for formula in TRANSFER_FORMULAS {
            assert_eq!(
                fields[formula.name].as_f64(),
                (formula.value)(&found),
                "{}",
                formula.name
            );
        }
    }

    /// A risk is a negative accuracy: levels change their sign, differences do not.
    #[test]
    fn differences_of_risks_have_the_same_sign() {
        let negative: Vec<Vec<f64>> = AVALANCHE
            .iter()
            .map(|row| row.iter().map(|it| -it).collect())
            .collect();
        let negative: Vec<&[f64]> = negative.iter().map(Vec::as_slice).collect();
        let accuracy = Transfer::new(&matrix(Better::Higher, &AVALANCHE), &[1, 2, 3]);
        let risk = Transfer::new(&matrix(Better::Lower, &negative), &[1, 2, 3]);
        assert_close(risk.average_last, -accuracy.average_last.unwrap());
        assert_close(risk.served, -accuracy.served.unwrap());
        for formula in TRANSFER_FORMULAS {
            if ["bwt", "forgetting_max", "forgetting_first"].contains(&formula.name) {
                assert_eq!(
                    (formula.value)(&risk),
                    (formula.value)(&accuracy),
                    "{}",
                    formula.name
                );
            }
        }
    }

    #[test]
    fn a_missing_cell_is_missing_in_what_needs_it_alone() {
        let mut rows: Vec<Vec<Option<f64>>> = AVALANCHE
            .iter()
            .map(|row| row.iter().map(|it| Some(*it)).collect())
            .collect();
        rows[0][2] = None;
        let found_of = |rows| {
            let matrix = TransferMatrix::try_new(Better::Higher, rows).unwrap();
            Transfer::new(&matrix, &[1, 1, 1])
        };
        let found = found_of(rows.clone());
        // Cells beyond the end of a row are missing, too.
        rows[0].truncate(2);
        assert_eq!(found_of(rows), found);
        assert_eq!((found.forward_level, found.fwt), (None, None));
        assert_close(found.bwt, -0.3);
        let one = TransferMatrix::try_new(Better::Lower, vec![vec![Some(1.5)]]).unwrap();
        let found = Transfer::new(&one, &[4]);
        assert_close(found.average_last, 1.5);
        assert_eq!(
            (found.bwt, found.served, found.next_domain),
            (None, None, None)
        );
    }

    #[test]
    fn other_shapes_are_refused() {
        for rows in [
            vec![],
            vec![vec![None, None]],
            vec![vec![None], vec![None, None, None]],
        ] {
            assert!(TransferMatrix::try_new(Better::Lower, rows).is_err());
        }
        let one = TransferMatrix::try_new(Better::Lower, vec![vec![Some(1.5)]]).unwrap();
        assert!(one.with_untrained(vec![]).is_err());
    }
}
