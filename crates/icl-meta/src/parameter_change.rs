//! How far training has moved an encoder.

use std::collections::HashMap;

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::host_values;

/// ‖θ − θ₀‖ / ‖θ₀‖ over all trained parameters; statistics that are kept beside them do not count.
/// NaN without any, infinite if θ₀ = 0 has moved.
///
/// `after` must have come from `before` by training, so that parameters keep their identity. A
/// training method whose change is exactly 0 has not trained.
///
/// # Panics
/// If a parameter of `after` is not in `before`.
pub fn parameter_change<B: AutodiffBackend, M: Module<B>>(before: &M, after: &M) -> f64 {
    let mut start = Values::default();
    before.visit(&mut start);
    let start: HashMap<ParamId, Vec<f64>> = start.0.into_iter().collect();
    let mut end = Values::default();
    after.visit(&mut end);
    let (mut moved, mut length) = (0.0, 0.0);
    for (id, values) in &end.0 {
        let start = start
            .get(id)
            .expect("training keeps the identity of parameters");
        for (after, before) in values.iter().zip(start) {
            moved += (after - before).powi(2);
            length += before.powi(2);
        }
    }
    (moved / length).sqrt()
}

/// The values of the trained parameters, in the order of the module: sums over them repeat to the
/// bit.
#[derive(Default)]
struct Values(Vec<(ParamId, Vec<f64>)>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Values {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let tensor = param.val();
        if tensor.is_require_grad() {
            self.0.push((param.id, host_values(tensor)));
        }
    }
}
