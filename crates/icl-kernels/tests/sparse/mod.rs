//! Sparse matrices, and their products by plain loops in double precision.

use burn::tensor::{DType, Tensor, backend::Backend};
use icl_kernels::graph::HostCsr;
use icl_kernels::testing::{assert_close, to_vec};
use rand::RngExt;

use crate::numbers;

/// Numbers from −1 to 1 that single precision holds.
pub fn draw(n: usize, seed: u64) -> Vec<f64> {
    let single = |x: f64| f64::from(x as f32);
    numbers::draw(n, seed).into_iter().map(single).collect()
}

/// `n_rows` rows of 0 to `most` entries, every third of them empty, in no order of columns.
pub fn random(n_rows: usize, n_columns: usize, most: usize, seed: u64) -> HostCsr {
    let mut rng = numbers::generator(seed);
    let mut host = HostCsr {
        pointers: vec![0],
        n_columns,
        ..Default::default()
    };
    for row in 0..n_rows {
        let length = if row % 3 == 1 {
            0
        } else {
            rng.random_range(0..=most)
        };
        for _ in 0..length {
            host.columns.push(rng.random_range(0..n_columns as i32));
            host.values.push(rng.random_range(-1.0..1.0));
        }
        host.pointers.push(host.columns.len() as i32);
    }
    host
}

/// A·x, or Aᵀ·x.
pub fn product(host: &HostCsr, x: &[f64], width: usize, is_transposed: bool) -> Vec<f64> {
    let n_rows = if is_transposed {
        host.n_columns
    } else {
        host.n_rows()
    };
    let mut y = vec![0.0; n_rows * width];
    for row in 0..host.n_rows() {
        for entry in host.pointers[row] as usize..host.pointers[row + 1] as usize {
            let column = host.columns[entry] as usize;
            let (to, from) = if is_transposed {
                (column, row)
            } else {
                (row, column)
            };
            for c in 0..width {
                y[to * width + c] += f64::from(host.values[entry]) * x[from * width + c];
            }
        }
    }
    y
}

/// Rows of `width` numbers.
pub fn tensor<B: Backend>(values: &[f64], width: usize, dtype: DType) -> Tensor<B, 2> {
    numbers::tensor(values, [values.len() / width, width], dtype)
}

/// Asserts closeness relative to the largest expected value, or to 1.
#[track_caller]
pub fn assert_near<B: Backend>(actual: &Tensor<B, 2>, expected: &[f64], tolerance: f64) {
    let largest = expected.iter().fold(1.0_f64, |m, e| m.max(e.abs()));
    let scaled = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v / largest).collect() };
    assert_close(&scaled(&to_vec(actual)), &scaled(expected), tolerance);
}
