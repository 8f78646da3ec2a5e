//! Statistics of batch normalisation without affine terms.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::host_values;

/// Mean and biased variance of each column over a population, by which batch normalisation
/// (Ioffe and Szegedy, 2015) normalises in evaluation.
///
/// Training normalises by the statistics of the batch and leaves these unchanged;
/// [`estimate`](BatchStatistics::estimate) sets them at fixed parameters. Burn's own layer keeps
/// moving averages instead, which clones of a module share: they follow the last batches, and
/// changed the exact risk by 0.2 to 0.5 nats.
#[derive(Module, Debug)]
pub struct BatchStatistics<B: Backend> {
    pub(crate) mean: Param<Tensor<B, 1>>,
    pub(crate) variance: Param<Tensor<B, 1>>,
}

impl<B: Backend> BatchStatistics<B> {
    /// Creates statistics of `width` columns with mean 0 and variance 1, which change nothing but
    /// for ε.
    pub fn new(width: usize, device: &B::Device) -> Self {
        Self::with_values(
            Tensor::zeros([width], device),
            Tensor::ones([width], device),
        )
    }

    /// Estimates the statistics over all rows of all `parts` `[n, width]`, as if they were one
    /// matrix. Parts are merged in double precision (Chan, Golub and LeVeque, 1979).
    ///
    /// # Errors
    /// The first error among the parts.
    ///
    /// # Panics
    /// If there are no rows, or a part has another number of columns.
    pub fn estimate<E>(
        self,
        parts: impl Iterator<Item = Result<Tensor<B, 2>, E>>,
    ) -> Result<Self, E> {
        let mut total = Moments::new(self.mean.val().dims()[0]);
        for part in parts {
            total.add(part?);
        }
        Ok(self.of(&total))
    }

    /// Takes over the statistics of `moments`.
    ///
    /// # Panics
    /// If `moments` has no rows.
    pub(crate) fn of(self, moments: &Moments) -> Self {
        assert!(moments.n_rows > 0.0, "statistics need at least one row");
        let (mean, variance) = (moments.mean.clone(), moments.variance());
        let tensor = |values: Vec<f64>, like: Tensor<B, 1>| {
            Tensor::from_data(TensorData::new(values, like.shape()), &like.device())
        };
        // The parameters keep their identity, by which records and optimizers recognise them.
        Self {
            mean: self.mean.map(|like| tensor(mean, like)),
            variance: self.variance.map(|like| tensor(variance, like)),
        }
    }

    /// Combines normalisation and the affine terms γ and β into a scale and a shift of each column.
    ///
    /// ```text
    /// γ·(x − mean)/√(variance + ε) + β = scale·x + shift
    /// ```
    pub(crate) fn scale_shift(
        &self,
        [weight, bias]: [Tensor<B, 1>; 2],
        epsilon: f64,
    ) -> [Tensor<B, 1>; 2] {
        let scale = weight * (self.variance.val() + epsilon).sqrt().recip();
        let shift = bias - self.mean.val() * scale.clone();
        [scale, shift]
    }

    /// Normalises `x` `[n, width]` by these statistics, with `epsilon` for ε.
    ///
    /// ```text
    /// (x − mean) / √(variance + ε)
    /// ```
    pub fn normalize(&self, x: Tensor<B, 2>, epsilon: f64) -> Tensor<B, 2> {
        let scale = (self.variance.val() + epsilon).sqrt().recip();
        (x - self.mean.val().unsqueeze()) * scale.unsqueeze()
    }

    fn with_values(mean: Tensor<B, 1>, variance: Tensor<B, 1>) -> Self {
        // Statistics are recorded with the parameters, but not trained.
        let buffer = |values| Param::from_tensor(values).set_require_grad(false);
        Self {
            mean: buffer(mean),
            variance: buffer(variance),
        }
    }
}

/// Count, mean and sum of squared deviations, merged part by part (Chan, Golub and LeVeque, 1979).
#[derive(Debug)]
pub(crate) struct Moments {
    n_rows: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// The moments of no rows, of `width` columns.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            n_rows: 0.0,
            mean: vec![0.0; width],
            squares: vec![0.0; width],
        }
    }

    /// Adds the rows of one part `[n_rows, width]`, or of several `[n_parts, n_rows, width]`. Parts
    /// are merged in double precision; only sums within a part are in the tensor's own precision.
    pub(crate) fn add<B: Backend, const D: usize>(&mut self, parts: Tensor<B, D>) {
        let dims = parts.dims();
        let (axis, n_rows, width) = (D - 2, dims[D - 2], dims[D - 1]);
        let mean = parts.clone().mean_dim(axis);
        let centred = parts - mean.clone();
        let squares = (centred.clone() * centred).sum_dim(axis);
        let (mean, squares) = (host_values(mean), host_values(squares));
        for (mean, squares) in mean.chunks(width).zip(squares.chunks(width)) {
            self.merge(n_rows as f64, mean, squares);
        }
    }

    /// Mean of each column.
    pub(crate) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Biased variance of each column.
    pub(crate) fn variance(&self) -> Vec<f64> {
        self.squares.iter().map(|s| s / self.n_rows).collect()
    }

    /// Adds `n_rows` rows, given their mean and the sum of squared deviations from it for each
    /// column.
    pub(crate) fn merge(&mut self, n_rows: f64, mean: &[f64], squares: &[f64]) {
        let total = self.n_rows + n_rows;
        for column in 0..self.mean.len() {
            let distance = mean[column] - self.mean[column];
            self.mean[column] += distance * n_rows / total;
            self.squares[column] +=
                squares[column] + distance * distance * self.n_rows * n_rows / total;
        }
        self.n_rows = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::{TestBackend, assert_close, to_vec};

    #[test]
    fn parts_count_as_one_matrix() {
        let device = Default::default();
        let x: Vec<f32> = (0..30).map(|i| ((i * 7) % 11) as f32 - 1000.0).collect();
        let whole =
            Tensor::<TestBackend, 2>::from_data(TensorData::new(x.clone(), [10, 3]), &device);
        let parts = [(0, 1), (1, 6), (7, 3)].map(|(at, n)| whole.clone().narrow(0, at, n));
        let statistics = BatchStatistics::new(3, &device)
            .estimate(parts.into_iter().map(Ok::<_, ()>))
            .unwrap();
        for column in 0..3 {
            let values: Vec<f64> = (0..10).map(|row| f64::from(x[row * 3 + column])).collect();
            let mean = values.iter().sum::<f64>() / 10.0;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 10.0;
            assert_close(
                &to_vec(&statistics.mean.val())[column..=column],
                &[mean],
                1e-5,
            );
            assert_close(
                &to_vec(&statistics.variance.val())[column..=column],
                &[variance],
                1e-5,
            );
        }
    }
}
