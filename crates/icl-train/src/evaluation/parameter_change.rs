//! How far training has moved an encoder.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::host_values;

/// ‖θ − θ₀‖ / ‖θ₀‖ over all trained parameters; statistics that are kept beside them do not count.
/// NaN without any, infinite if θ₀ = 0 has moved.
///
/// A training method whose change is exactly 0 has not trained.
///
/// # Panics
/// If the two are not encoders of one architecture.
pub fn parameter_change<B: AutodiffBackend, M: Module<B>>(before: &M, after: &M) -> f64 {
    let (mut start, mut end) = (Values::default(), Values::default());
    before.visit(&mut start);
    after.visit(&mut end);
    let (start, end) = (start.0, end.0);
    let lengths = |values: &[(bool, Vec<f64>)]| -> Vec<usize> {
        values.iter().map(|(_, values)| values.len()).collect()
    };
    assert_eq!(lengths(&start), lengths(&end), "one architecture");
    let (mut moved, mut length) = (0.0, 0.0);
    for ((_, before), (is_trained, after)) in start.iter().zip(&end) {
        for (before, after) in before.iter().zip(after).filter(|_| *is_trained) {
            moved += (after - before).powi(2);
            length += before.powi(2);
        }
    }
    (moved / length).sqrt()
}

/// The values of the float parameters and whether each is trained, in the order of the module: sums
/// over them repeat to the bit.
#[derive(Default)]
struct Values(Vec<(bool, Vec<f64>)>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Values {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let tensor = param.val();
        self.0.push((tensor.is_require_grad(), host_values(tensor)));
    }
}
