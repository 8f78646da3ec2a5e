//! Operators on rows against plain loops in double precision.

use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor};
use icl_kernels::rows::{LeftOut, Rivals, log_sum_exp, log_sum_exp_and_rivals, normalize};
use icl_kernels::testing::{
    ComposedBackend, TestAutodiff, TestBackend, assert_close, precisions, to_vec,
};
use icl_kernels::{is_host_memory, lerp};

use crate::numbers::{draw, tensor};

const WIDTH: usize = 5;
const TEMPERATURE: f64 = 0.2;

/// The marks of [`LeftOut::Marked`] for pairs of two numbers.
fn marks(n: usize, m: usize) -> Vec<bool> {
    (0..n * m).map(|at| at % 3 == 1).collect()
}

/// Logits, without pairs that are left out, and their sums, row by row.
fn logits(queries: &[f64], keys: &[f64], left_out: LeftOut<'_>) -> Vec<Vec<Option<f64>>> {
    let m = keys.len() / WIDTH;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let is_left_out = |i: usize, j: usize| match left_out {
        LeftOut::None => false,
        LeftOut::Own(first) => i as isize == first + j as isize,
        LeftOut::Marked(marks) => marks[i * m + j],
    };
    let queries = queries.chunks(WIDTH).enumerate();
    queries
        .map(|(i, query)| {
            let keys = keys.chunks(WIDTH).enumerate();
            keys.map(|(j, key)| (!is_left_out(i, j)).then(|| product(query, key) / TEMPERATURE))
                .collect()
        })
        .collect()
}

#[test]
fn the_test_without_kernels_has_none() {
    assert!(!is_host_memory::<ComposedBackend>());
}

#[test]
fn sums_and_their_gradients_are_plain_loops() {
    compare_sums::<TestAutodiff>();
    compare_sums::<ComposedBackend>();
}

fn compare_sums<A: AutodiffBackend>() {
    // Fewer keys than a vector register has lanes, and more than a strip of them.
    for (n, m) in [(3, 4), (70, 301)] {
        let (queries, keys) = (draw(n * WIDTH, 1), draw(m * WIDTH, 2));
        let weights = draw(n, 3);
        let marks = marks(n, m);
        for left_out in [
            LeftOut::None,
            LeftOut::Own(0),
            LeftOut::Own(-1),
            LeftOut::Marked(&marks),
        ] {
            let logits = logits(&queries, &keys, left_out);
            let sum = |row: &Vec<Option<f64>>| row.iter().flatten().map(|x| x.exp()).sum::<f64>();
            let sums: Vec<f64> = logits.iter().map(sum).collect();
            let expected: Vec<f64> = sums.iter().map(|sum| sum.ln()).collect();
            let (mut by_queries, mut by_keys) = (vec![0.0; n * WIDTH], vec![0.0; m * WIDTH]);
            for (i, row) in logits.iter().enumerate() {
                for (j, logit) in row.iter().enumerate() {
                    let share = logit.map_or(0.0, |logit| logit.exp() / sums[i]);
                    let factor = weights[i] * share / TEMPERATURE;
                    for at in 0..WIDTH {
                        by_queries[i * WIDTH + at] += factor * keys[j * WIDTH + at];
                        by_keys[j * WIDTH + at] += factor * queries[i * WIDTH + at];
                    }
                }
            }
            for (dtype, tolerance) in precisions(1e-5, 1e-11) {
                let queries = tensor::<A, 2>(&queries, [n, WIDTH], dtype).require_grad();
                let keys = tensor::<A, 2>(&keys, [m, WIDTH], dtype).require_grad();
                let found = log_sum_exp(queries.clone(), keys.clone(), TEMPERATURE, left_out);
                assert_close(&to_vec(&found), &expected, tolerance);
                let inner = [queries.clone().inner(), keys.clone().inner()];
                let [of, with] = inner;
                let plain = log_sum_exp(of, with, TEMPERATURE, left_out);
                assert_close(&to_vec(&plain), &expected, tolerance);
                let grads = (found * tensor(&weights, [n], dtype)).sum().backward();
                assert_close(
                    &to_vec(&queries.grad(&grads).unwrap()),
                    &by_queries,
                    tolerance,
                );
                assert_close(&to_vec(&keys.grad(&grads).unwrap()), &by_keys, tolerance);
            }
        }
    }
}

#[test]
fn rivals_are_counted_one_by_one() {
    count_rivals::<TestBackend>();
    count_rivals::<ComposedBackend>();
}

fn count_rivals<B: Backend>() {
    let (n, m) = (50, 301);
    // Few different cosines, all of them exact, so that there are ties.
    let coarse = |seed| -> Vec<f64> {
        let numbers = draw(if seed == 4 { n } else { m }, seed);
        let row = |x: &f64| [(x * 4.0).round() / 8.0, 0.5, 0.0, 0.0, 0.0];
        numbers.iter().flat_map(row).collect()
    };
    let (queries, keys) = (coarse(4), coarse(5));
    let targets: Vec<f64> = draw(n, 6)
        .iter()
        .map(|x| (x * 16.0).round() / 64.0)
        .collect();
    for own in [None, Some(0), Some(-7)] {
        let left_out = own.map_or(LeftOut::None, LeftOut::Own);
        let logits = logits(&queries, &keys, left_out);
        let rivals = logits.iter().zip(&targets).map(|(row, target)| {
            let above = |x: &&f64| *x * TEMPERATURE - target > 1e-9;
            let tied = |x: &&f64| (*x * TEMPERATURE - target).abs() <= 1e-9;
            Rivals {
                above: row.iter().flatten().filter(above).count(),
                tied: row.iter().flatten().filter(tied).count(),
            }
        });
        let expected: Vec<_> = rivals.collect();
        assert!(expected.iter().any(|rivals| rivals.tied > 0));
        let sum = |row: &Vec<Option<f64>>| row.iter().flatten().map(|x| x.exp()).sum::<f64>();
        let sums: Vec<f64> = logits.iter().map(|row| sum(row).ln()).collect();
        let rows =
            |values: &[f64]| tensor::<B, 2>(values, [values.len() / WIDTH, WIDTH], DType::F32);
        let of_targets = tensor(&targets, [n], DType::F32);
        let (found, rivals) =
            log_sum_exp_and_rivals(rows(&queries), rows(&keys), of_targets, TEMPERATURE, own);
        assert_close(&to_vec(&found), &sums, 1e-5);
        assert_eq!(rivals, expected);
    }
}

#[test]
fn rows_of_unit_length_are_plain_loops() {
    compare_lengths::<TestAutodiff>();
    compare_lengths::<ComposedBackend>();
}

fn compare_lengths<A: AutodiffBackend>() {
    let n = 37;
    let mut x = draw(n * WIDTH, 7);
    x[..WIDTH].fill(0.0);
    let g = draw(n * WIDTH, 8);
    let (mut y, mut by_x) = (Vec::new(), Vec::new());
    for (x, g) in x.chunks(WIDTH).zip(g.chunks(WIDTH)) {
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let factor = if length > 0.0 { length.recip() } else { 0.0 };
        let along = x.iter().zip(g).map(|(x, g)| x * factor * g).sum::<f64>();
        y.extend(x.iter().map(|x| x * factor));
        by_x.extend(
            x.iter()
                .zip(g)
                .map(|(x, g)| (g - x * factor * along) * factor),
        );
    }
    for (dtype, tolerance) in precisions(1e-5, 1e-12) {
        let x = tensor::<A, 2>(&x, [n, WIDTH], dtype).require_grad();
        let found = normalize(x.clone());
        assert_close(&to_vec(&found), &y, tolerance);
        let grads = (found * tensor(&g, [n, WIDTH], dtype)).sum().backward();
        assert_close(&to_vec(&x.grad(&grads).unwrap()), &by_x, tolerance);
    }
}

#[test]
fn interpolation_is_what_it_says() {
    interpolate::<TestBackend>();
    interpolate::<ComposedBackend>();
}

fn interpolate<B: Backend>() {
    let (x, y) = (draw(40_000, 9), draw(40_000, 10));
    let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x + 0.3 * (y - x)).collect();
    for (dtype, tolerance) in precisions(1e-6, 1e-12) {
        let [x, y] = [&x, &y].map(|values| tensor::<B, 1>(values, [40_000], dtype));
        let held: Tensor<B, 1> = x.clone();
        assert_close(&to_vec(&lerp(x, y, 0.3)), &expected, tolerance);
        assert_ne!(to_vec(&held), expected, "another reference is left alone");
    }
}
