//! The norm of an encoder's parameters.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::host_values;

/// Computes the Euclidean norm ‖θ‖ over all parameters of an encoder that are trained. Normalisation statistics and
/// frozen parameters do not count.
pub fn parameter_norm<B: AutodiffBackend, M: Module<B>>(encoder: &M) -> f64 {
    let mut squares = Squares(0.0);
    encoder.visit(&mut squares);
    squares.0.sqrt()
}

struct Squares(f64);

impl<B: AutodiffBackend> ModuleVisitor<B> for Squares {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let value = param.val();
        if value.is_require_grad() {
            let squares = host_values(value).into_iter().map(|x| x * x);
            self.0 += squares.sum::<f64>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;
    use icl_core::testing::TestAutodiff;

    #[test]
    fn frozen_parameters_do_not_count() {
        let tensor = |values: Vec<f64>| {
            let data = TensorData::new(values, [2]);
            Param::from_tensor(Tensor::<TestAutodiff, 1>::from_data(
                data,
                &Default::default(),
            ))
        };
        let (first, second) = (tensor(vec![3.0, 4.0]), tensor(vec![12.0, 0.0]));
        let both = vec![first.clone(), second.clone()];
        assert!((parameter_norm::<TestAutodiff, _>(&both) - 13.0).abs() < 1e-6);
        let frozen = vec![first, second.no_grad()];
        assert!((parameter_norm::<TestAutodiff, _>(&frozen) - 5.0).abs() < 1e-6);
    }
}
