//! Warnings about the result of a run, and parameters that no result may have.

use burn::module::Module;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::host_values;

use crate::parameters::for_each_float;

/// Relative change of the parameters from which the learning rate was too high: runs of good rates change them by 0.01 to 100.
const FAR: f64 = 1e3;

/// Returns the warning of parameters that moved too far from the start of a run, if they did.
pub(crate) fn far(parameter_change: f64) -> Option<String> {
    let is_far = parameter_change.is_finite() && parameter_change > FAR;
    is_far.then(|| {
        format!("the parameters moved by {parameter_change:.1e} times their length: the learning rate is too high")
    })
}

/// Returns the warning of statistics that forward passes in training move and no re-estimation has changed, if there
/// are any. `start` are those of the encoder at the start, `evaluated` and `measured` those of the averaged one before
/// and after its re-estimation. `of_copy` are those of the copy on which an inner loop has worked: the forward passes of
/// meta-optimization move no others.
pub(crate) fn stale(
    start: &Statistics,
    of_copy: Option<&Statistics>,
    evaluated: &Statistics,
    measured: &Statistics,
) -> Option<String> {
    let moved = of_copy.unwrap_or(evaluated);
    let is_moved = start
        .0
        .iter()
        .zip(&moved.0)
        .map(|(start, moved)| start != moved);
    let is_kept = evaluated
        .0
        .iter()
        .zip(&measured.0)
        .map(|(evaluated, measured)| evaluated == measured);
    let is_stale = is_moved
        .zip(is_kept)
        .any(|(is_moved, is_kept)| is_moved && is_kept);
    is_stale.then(|| {
        let why = match of_copy {
            None => {
                "training moved normalisation statistics that `Encoder::recalibrated` left as they were: the risk and the \
                 embeddings depend on the last batches"
            }
            Some(_) => {
                "meta-optimization trains on copies, and `Encoder::recalibrated` left the normalisation statistics as they were \
                 before the training: they fit other parameters than those of the result"
            }
        };
        format!("{why}. For Burn's BatchNorm, override it with icl_models::recalibrate_batch_norm")
    })
}

/// Values of the float tensors of an encoder that are not trained, in the order of the module.
pub(crate) struct Statistics(Vec<Vec<f64>>);

impl Statistics {
    /// Reads the statistics of an encoder. `is_trained` tells which of its float tensors are trained.
    pub(crate) fn of<B: Backend, M: Module<B>>(encoder: &M, is_trained: &[bool]) -> Self {
        let mut is_trained = is_trained.iter();
        let mut values = Vec::new();
        for_each_float(encoder, |tensor, _| {
            if is_trained.next() == Some(&false) {
                values.push(host_values(tensor));
            }
        });
        Self(values)
    }
}

/// Returns which float tensors of an encoder are trained, in the order of the module.
pub(crate) fn are_trained<B: AutodiffBackend, M: Module<B>>(encoder: &M) -> Vec<bool> {
    let mut flags = Vec::new();
    for_each_float(encoder, |_, is_trained| flags.push(is_trained));
    flags
}

/// Returns the first value among the trained parameters of an encoder that is NaN or infinite. Others may be: a mask holds −∞.
pub(crate) fn first_not_finite<B: AutodiffBackend, M: Module<B>>(encoder: &M) -> Option<f64> {
    let mut first = None;
    for_each_float(encoder, |tensor, is_trained| {
        if first.is_some() || !is_trained {
            return;
        }
        let value = tensor.inner();
        // 0·x is NaN for every x that is not finite: one number leaves the device.
        let sum = host_values((value.clone() * 0.0).sum());
        if sum.iter().any(|sum| sum.is_nan()) {
            first = host_values(value).into_iter().find(|x| !x.is_finite());
        }
    });
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::Param;
    use burn::tensor::{Tensor, TensorData};
    use icl_core::testing::TestAutodiff;

    #[test]
    fn the_first_value_that_is_no_number_is_found() {
        let of = |values: [f32; 3]| {
            let data = TensorData::new(values.to_vec(), [3]);
            Param::from_tensor(Tensor::<TestAutodiff, 1>::from_data(
                data,
                &Default::default(),
            ))
        };
        let found = |values| first_not_finite::<TestAutodiff, _>(&vec![of([1.0; 3]), of(values)]);
        assert_eq!(found([f32::MAX, -f32::MAX, 0.0]), None);
        assert_eq!(
            found([1.0, f32::NEG_INFINITY, f32::NAN]),
            Some(f64::NEG_INFINITY)
        );
        assert!(found([f32::NAN, 1.0, 2.0]).is_some_and(f64::is_nan));
        let mask = of([f32::NEG_INFINITY; 3]).no_grad();
        assert_eq!(first_not_finite::<TestAutodiff, _>(&mask), None);
    }
}
