//! Warnings about the result of a run, and parameters that no result may have.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::host_values;

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
        let mut read = Untrained {
            is_trained: is_trained.iter(),
            values: Vec::new(),
        };
        encoder.visit(&mut read);
        Self(read.values)
    }
}

struct Untrained<'t> {
    is_trained: std::slice::Iter<'t, bool>,
    values: Vec<Vec<f64>>,
}

impl<B: Backend> ModuleVisitor<B> for Untrained<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        if self.is_trained.next() == Some(&false) {
            self.values.push(host_values(param.val()));
        }
    }
}

/// Returns which float tensors of an encoder are trained, in the order of the module.
pub(crate) fn are_trained<B: AutodiffBackend, M: Module<B>>(encoder: &M) -> Vec<bool> {
    let mut flags = Flags(Vec::new());
    encoder.visit(&mut flags);
    flags.0
}

struct Flags(Vec<bool>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Flags {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        self.0.push(param.val().is_require_grad());
    }
}

/// Returns the first value among the trained parameters of an encoder that is NaN or infinite. Others may be: a mask holds −∞.
pub(crate) fn first_not_finite<B: AutodiffBackend, M: Module<B>>(encoder: &M) -> Option<f64> {
    let mut search = Search(None);
    encoder.visit(&mut search);
    search.0
}

struct Search(Option<f64>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Search {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let value = param.val();
        if self.0.is_some() || !value.is_require_grad() {
            return;
        }
        let value = value.inner();
        // 0·x is NaN for every x that is not finite: one number leaves the device.
        let sum = host_values((value.clone() * 0.0).sum());
        if sum.iter().any(|sum| sum.is_nan()) {
            self.0 = host_values(value).into_iter().find(|x| !x.is_finite());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;
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
