//! Statistics of batch normalisation without affine terms.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::{Batches, SampleError, host_values};

/// Mean and biased variance of each column over a population, by which batch normalisation
/// (Ioffe and Szegedy, 2015) normalises in evaluation.
///
/// Training normalises by the statistics of the batch and leaves these unchanged;
/// [`estimate`](BatchStatistics::estimate) sets them at fixed parameters, unless they are
/// [frozen](BatchStatistics::frozen). Burn's own layer keeps
/// moving averages instead, which clones of a module share: they follow the last batches, and
/// changed the exact risk by 0.2 to 0.5 nats.
#[derive(Module, Debug)]
pub struct BatchStatistics<B: Backend> {
    pub(crate) mean: Param<Tensor<B, 1>>,
    pub(crate) variance: Param<Tensor<B, 1>>,
    #[module(skip)]
    is_frozen: bool,
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

    /// Freezes the statistics: an encoder normalises by them in training, too, and they are not estimated again.
    /// If `is_frozen` is false, frees them. Statistics that were never estimated stay free.
    #[must_use]
    pub fn frozen(self, is_frozen: bool) -> Self {
        let is_new = || {
            let is_all =
                |values, value: f64| host_values::<B, 1>(values).iter().all(|&it| it == value);
            is_all(self.mean.val(), 0.0) && is_all(self.variance.val(), 1.0)
        };
        Self {
            is_frozen: is_frozen && !is_new(),
            ..self
        }
    }

    /// Returns whether the statistics are frozen.
    pub fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    /// Estimates the statistics over all rows that `rows_of` makes of the batches, each `[n, width]`, as if they were one
    /// matrix. Batches are merged in double precision (Chan, Golub and LeVeque, 1979). Members of a group share them.
    /// Frozen statistics stay as they are, and no batch is passed.
    ///
    /// # Errors
    /// The error of a batch that could not be made, or of a member that has left the group.
    ///
    /// # Panics
    /// If there are no rows, or they have another number of columns.
    pub fn estimate<T>(
        self,
        batches: &Batches<'_, T>,
        rows_of: impl Fn(T) -> Tensor<B, 2>,
    ) -> Result<Self, SampleError> {
        if self.is_frozen {
            return Ok(self);
        }
        let mut own = Moments::new(self.width());
        for batch in batches.own() {
            own.add(rows_of(batch?));
        }
        Ok(self.of(&own.of_all(batches)?))
    }

    /// Returns the number of columns.
    pub(crate) fn width(&self) -> usize {
        self.mean.val().dims()[0]
    }

    /// Takes over the statistics of `moments`.
    ///
    /// # Panics
    /// If `moments` has no rows.
    pub(crate) fn of(self, moments: &Moments) -> Self {
        assert!(
            moments.n_rows > 0.0,
            "statistics need at least one batch with rows"
        );
        let (mean, variance) = (moments.mean.clone(), moments.variance());
        let tensor = |values: Vec<f64>, like: Tensor<B, 1>| {
            Tensor::from_data(TensorData::new(values, like.shape()), &like.device())
        };
        // The parameters keep their identity, by which records and optimizers recognise them.
        Self {
            mean: self.mean.map(|like| tensor(mean, like)),
            variance: self.variance.map(|like| tensor(variance, like)),
            is_frozen: false,
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
            is_frozen: false,
        }
    }
}

/// Count, mean and sum of squared deviations, merged part by part (Chan, Golub and LeVeque, 1979).
#[derive(Debug, Clone)]
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
        // Centred before they are squared: Σx² − n·mean² would cancel where the mean is large.
        let centred = parts - mean.clone();
        let squares = (centred.clone() * centred).sum_dim(axis);
        let (mean, squares) = (host_values(mean), host_values(squares));
        for (mean, squares) in mean.chunks(width).zip(squares.chunks(width)) {
            self.merge(n_rows as f64, mean, squares);
        }
    }

    /// Returns the moments over the batches of all members of which these are one member's, with the same bits at each.
    pub(crate) fn of_all<T>(&self, batches: &Batches<'_, T>) -> Result<Self, SampleError> {
        if !batches.is_shared() {
            return Ok(self.clone());
        }
        let own = [&[self.n_rows], &self.mean[..], &self.squares[..]].concat();
        let width = self.mean.len();
        let mut all = Self::new(width);
        // All members merge in the order of ranks, so that the sums round alike.
        for member in batches.gather(own)?.values().chunks(1 + 2 * width) {
            let (mean, squares) = member[1..].split_at(width);
            // A member may have no batch.
            if member[0] > 0.0 {
                all.merge(member[0], mean, squares);
            }
        }
        Ok(all)
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
    use icl_core::Threads;
    use icl_core::testing::{TestBackend, assert_close, to_vec};

    #[test]
    fn parts_count_as_one_matrix() {
        let device = Default::default();
        let x: Vec<f32> = (0..30).map(|i| ((i * 7) % 11) as f32 - 1000.0).collect();
        let whole =
            Tensor::<TestBackend, 2>::from_data(TensorData::new(x.clone(), [10, 3]), &device);
        let parts = [(0, 1), (1, 6), (7, 3)].map(|(at, n)| whole.clone().narrow(0, at, n));
        let estimate = |batches: Batches<'_, Tensor<TestBackend, 2>>| {
            let statistics = BatchStatistics::new(3, &device);
            statistics.estimate(&batches, |batch| batch).unwrap()
        };
        let make = |index: usize| Ok(parts[index].clone());
        let statistics = estimate(Batches::new(3, make));
        // Members of a group share the parts, and the last of four has none.
        let of_members: Vec<_> = std::thread::scope(|scope| {
            let members = Threads::group(4).into_iter();
            let estimate = &estimate;
            let threads: Vec<_> = members
                .map(|member| {
                    scope.spawn(move || estimate(Batches::new(3, make).shared_by(&member)))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        for member in &of_members {
            let values =
                |of: &BatchStatistics<_>| [&of.mean, &of.variance].map(|it| to_vec(&it.val()));
            assert_eq!(values(member), values(&of_members[0]));
            for (found, expected) in values(member).iter().zip(values(&statistics)) {
                assert_close(found, &expected, 1e-6);
            }
        }
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
