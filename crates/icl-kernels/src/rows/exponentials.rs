//! The exponentials of the logits of all pairs, row by row relative to the largest.

use burn::tensor::{Bool, Int, Tensor, TensorData, backend::Backend};

/// Logit of a pair that is left out.
///
/// Its exponential is 0 next to that of any cosine over a temperature. It is finite, so that no
/// difference of two logits is undefined.
pub const NEVER: f32 = -1e30;

/// Pairs of queries and keys that are left out of the sums.
#[derive(Debug, Clone, Copy)]
pub enum LeftOut<'a> {
    /// No pair.
    None,
    /// Pairs with i = first + j: each query has one key that is its own.
    Own(isize),
    /// Pairs that are marked, of `[n, m]`, row after row.
    Marked(&'a [bool]),
}

/// exp(xᵢⱼ − maxⱼ xᵢⱼ) of logits x, with the sums of its rows.
pub(super) struct Exponentials<B: Backend> {
    /// The exponentials `[n, m]`; 0 where a pair is left out.
    pub(super) values: Tensor<B, 2>,
    /// Their sums `[n, 1]`, at least 1.
    pub(super) sums: Tensor<B, 2>,
    /// log Σⱼ exp(xᵢⱼ) `[n, 1]`.
    pub(super) log_sums: Tensor<B, 2>,
}

impl<B: Backend> Exponentials<B> {
    /// Computes the exponentials of `similarities` `[n, m]` over the temperature by Burn's
    /// operations, on any backend.
    pub(super) fn composed(
        similarities: Tensor<B, 2>,
        temperature: f64,
        left_out: LeftOut<'_>,
    ) -> Self {
        let logits = similarities / temperature;
        let logits = match left_out {
            LeftOut::None => logits,
            LeftOut::Own(first) => without_own(logits, first),
            LeftOut::Marked(marks) => {
                let marks = TensorData::new(marks.to_vec(), logits.dims());
                let marks = Tensor::<B, 2, Bool>::from_data(marks, &logits.device());
                logits.mask_fill(marks, NEVER)
            }
        };
        // Relative to the largest of a row, so that no exponential overflows.
        let shift = logits.clone().max_dim(1);
        let values = (logits - shift.clone()).exp();
        let sums = values.clone().sum_dim(1);
        let log_sums = sums.clone().log() + shift;
        Self {
            values,
            sums,
            log_sums,
        }
    }
}

/// Sets the logits with i = `first` + j to [`NEVER`].
pub(super) fn without_own<B: Backend>(logits: Tensor<B, 2>, first: isize) -> Tensor<B, 2> {
    let [n, m] = logits.dims();
    let device = logits.device();
    let ids = |first: i64, n: usize| Tensor::<B, 1, Int>::arange(first..first + n as i64, &device);
    let rows = ids(0, n).reshape([n, 1]).expand([n, m]);
    let columns = ids(first as i64, m).reshape([1, m]).expand([n, m]);
    logits.mask_fill(rows.equal(columns), NEVER)
}
