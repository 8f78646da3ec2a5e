//! The exponentials of all pairs' similarities, row by row relative to the largest.

use burn::tensor::{DType, Int, Tensor, backend::Backend};

use super::host;

/// A logit whose exponential is 0 beside every cosine over a temperature, and finite, so that no
/// difference of two is undefined.
pub(crate) const NEVER: f32 = -1e30;

/// Backends whose tensors lie in this process's memory and can be taken out of them without a copy.
/// Gradients may be followed on one level: a second one must see every operation.
const ON_HOST: [&str; 2] = ["flex", "autodiff<flex>"];

/// exp(xᵢⱼ − maxⱼ xᵢⱼ) of logits x, and what belongs to it.
pub(super) struct Exponentials<B: Backend> {
    /// The exponentials, 0 where a pair is left out `[n, m]`.
    pub(super) values: Tensor<B, 2>,
    /// Their sums `[n, 1]`, at least 1.
    pub(super) sums: Tensor<B, 2>,
    /// log Σⱼ exp(xᵢⱼ) `[n, 1]`.
    pub(super) log_sums: Tensor<B, 2>,
}

impl<B: Backend> Exponentials<B> {
    /// Of the logits ⟨aᵢ, nⱼ⟩/τ, those with i = `own` + j left out. Neither factor has a graph.
    ///
    /// One pass over the pairs where they lie in this process's memory, Burn's operations elsewhere.
    pub(super) fn of(
        anchors: Tensor<B, 2>,
        noise: Tensor<B, 2>,
        temperature: f64,
        own: Option<isize>,
    ) -> Self {
        let device = anchors.device();
        let similarities = anchors.matmul(noise.transpose());
        let is_single = similarities.dtype() == DType::F32;
        if is_single && ON_HOST.contains(&B::name(&device).as_str()) {
            return host::exponentials(similarities, temperature, own);
        }
        let logits = similarities / temperature;
        Self::composed(match own {
            Some(first) => without_self(logits, first),
            None => logits,
        })
    }

    fn composed(logits: Tensor<B, 2>) -> Self {
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

fn without_self<B: Backend>(logits: Tensor<B, 2>, first: isize) -> Tensor<B, 2> {
    let [n, m] = logits.dims();
    let device = logits.device();
    let ids = |first: i64, n: usize| Tensor::<B, 1, Int>::arange(first..first + n as i64, &device);
    let rows = ids(0, n).reshape([n, 1]).expand([n, m]);
    let columns = ids(first as i64, m).reshape([1, m]).expand([n, m]);
    logits.mask_fill(rows.equal(columns), NEVER)
}
