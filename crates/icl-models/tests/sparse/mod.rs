//! Sparse matrices, and their products by plain loops in double precision.

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use icl_core::Seed;
use icl_core::graph::HostCsr;
use rand::RngExt;

/// Numbers from −1 to 1 that single precision holds.
pub fn draw(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seed::new(seed).rng();
    let single = |x: f64| f64::from(x as f32);
    (0..n)
        .map(|_| single(rng.random::<f64>() * 2.0 - 1.0))
        .collect()
}

/// `n_rows` rows of 0 to `most` entries, every third of them empty, in no order of columns.
pub fn random(n_rows: usize, n_columns: usize, most: usize, seed: u64) -> HostCsr {
    let mut rng = Seed::new(seed).rng();
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
    let data = TensorData::new(values.to_vec(), [values.len() / width, width]);
    Tensor::from_data(data, (&Default::default(), dtype))
}
