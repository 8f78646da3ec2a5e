//! Ranks of targets against scikit-learn, on values of `scripts/reference/ranking.py`.

use icl_core::Seed;
use icl_eval::{Candidates, EvalError, Matrix, RankedTarget, Ranking, RankingProtocol};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    k: Vec<usize>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    d: usize,
    queries: Vec<f64>,
    items: Vec<f64>,
    targets: Vec<u32>,
    excluded: Vec<Vec<u32>>,
    auc: Vec<f64>,
    hit_rate: Vec<Vec<f64>>,
    ndcg: Vec<Vec<f64>>,
}

impl Case {
    fn rank(&self, candidates: Candidates) -> Result<Ranking, EvalError> {
        let targets: Vec<_> = self
            .targets
            .iter()
            .zip(&self.excluded)
            .map(|(&target, excluded)| RankedTarget { target, excluded })
            .collect();
        let matrix = |values: &Vec<f64>| Matrix::try_new(values.clone(), self.d);
        RankingProtocol::new(candidates).rank(
            &matrix(&self.queries)?,
            &matrix(&self.items)?,
            &targets,
        )
    }
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/ranking.json")).expect("valid JSON")
}

#[track_caller]
fn assert_near(found: f64, expected: f64, name: &str) {
    // Counts are equal; only sums are rounded differently.
    assert!(
        (found - expected).abs() < 1e-12,
        "{name}: found {found}, expected {expected}"
    );
}

#[test]
fn full_ranking_agrees() {
    let reference = reference();
    assert_eq!(reference.cases.len(), 2);
    for case in reference.cases {
        let ranking = case.rank(Candidates::Full).unwrap();
        let n = ranking.positions().len();
        assert_eq!(n, case.auc.len());
        for (query, position) in ranking.positions().iter().enumerate() {
            assert_near(position.auc(), case.auc[query], &case.name);
            for (at, &k) in reference.k.iter().enumerate() {
                assert_near(position.hit_rate(k), case.hit_rate[query][at], &case.name);
                assert_near(position.ndcg(k), case.ndcg[query][at], &case.name);
            }
        }
        let mean = |of: &dyn Fn(usize) -> f64| (0..n).map(of).sum::<f64>() / n as f64;
        assert_near(ranking.auc(), mean(&|query| case.auc[query]), &case.name);
        for (at, &k) in reference.k.iter().enumerate() {
            let expected = mean(&|query| case.hit_rate[query][at]);
            assert_near(ranking.hit_rate(k), expected, &case.name);
            let expected = mean(&|query| case.ndcg[query][at]);
            assert_near(ranking.ndcg(k), expected, &case.name);
        }
    }
}

#[test]
fn a_sample_is_drawn_by_its_seed_and_says_so() {
    let case = &reference().cases[0];
    let of = |n, seed| {
        let seed = Seed::new(seed);
        case.rank(Candidates::Sampled { n, seed }).unwrap()
    };
    let sampled = of(10, 1);
    assert_eq!(sampled.candidates().to_string(), "sampled (10)");
    assert!(sampled.positions().iter().all(|it| it.n_others() == 10));
    assert_eq!(sampled, of(10, 1));
    assert_ne!(sampled.positions(), of(10, 2).positions());
    // A sample of all is the full ranking.
    let full = case.rank(Candidates::Full).unwrap();
    assert_eq!(full.candidates().to_string(), "full");
    assert_eq!(of(1000, 1).positions(), full.positions());
    // The AUC of a sample is an unbiased estimate; its standard error over 70 queries of 10 draws is at most
    // 0.5/√700 = 0.019. nDCG is far too high.
    assert!((sampled.auc() - full.auc()).abs() < 5.0 * 0.019);
    assert!(sampled.ndcg(5) > full.ndcg(5) + 0.1);
}

#[test]
fn a_query_without_candidates_is_an_error() {
    let items = Matrix::try_new(vec![1.0, 2.0, 3.0], 1).unwrap();
    let targets = [
        RankedTarget {
            target: 0,
            excluded: &[0],
        },
        RankedTarget {
            target: 1,
            excluded: &[2, 0],
        },
    ];
    let queries = Matrix::try_new(vec![1.0, 1.0], 1).unwrap();
    let error = RankingProtocol::new(Candidates::Full).rank(&queries, &items, &targets);
    let error = error.unwrap_err();
    assert_eq!(
        error.to_string(),
        "query 1: found no candidate besides the target, expected at least one item that is not excluded"
    );
}

#[test]
fn targets_that_do_not_fit_are_errors() {
    let items = Matrix::try_new(vec![1.0, 2.0], 1).unwrap();
    let message = |queries: &Matrix, targets: &[[u32; 2]]| {
        let of = |[target, excluded]: &[u32; 2]| (*target, [*excluded]);
        let targets: Vec<(u32, [u32; 1])> = targets.iter().map(of).collect();
        let of = |(target, excluded): &'static (u32, [u32; 1])| RankedTarget {
            target: *target,
            excluded,
        };
        let targets: Vec<RankedTarget> = Vec::leak(targets).iter().map(of).collect();
        let error = RankingProtocol::new(Candidates::Full).rank(queries, &items, &targets);
        error.unwrap_err().to_string()
    };
    let none = Matrix::try_new(Vec::new(), 1).unwrap();
    let wide = Matrix::try_new(vec![1.0; 4], 2).unwrap();
    for (found, expected) in [
        (
            message(&items, &[]),
            "targets: found 0, expected 2, one for each row",
        ),
        (
            message(&none, &[]),
            "queries: found no row, expected at least 1",
        ),
        (
            message(&wide, &[[0, 0]; 2]),
            "queries: found rows of width 2, expected 1",
        ),
        (
            message(&items, &[[0, 0], [2, 0]]),
            "target: found row 2, expected an index below 2",
        ),
        (
            message(&items, &[[0, 7], [0, 0]]),
            "excluded items: found row 7, expected an index below 2",
        ),
    ] {
        assert_eq!(found, expected);
    }
}
