//! Clipping of gradients by their norm over all parameters.

use burn::module::{AutodiffModule, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{FloatDType, Tensor};

/// Added to the norm, as by PyTorch's `clip_grad_norm_`.
const EPSILON: f64 = 1e-6;

/// Scales the gradients of a module so that their Euclidean norm over all parameters is at most `max_norm`, above 0.
///
/// ```text
/// g ← g·min(1, max_norm/(‖g‖ + 1e-6))        ‖g‖² = Σ over all parameters of ‖gₚ‖²
/// ```
///
/// It is PyTorch's `torch.nn.utils.clip_grad_norm_`. Burn's own clipping is by the norm of each parameter alone,
/// which changes the direction of the gradient. Nothing is read back from the device.
pub fn clip_norm<B: AutodiffBackend, M: AutodiffModule<B>>(
    module: &M,
    gradients: GradientsParams,
    max_norm: f64,
) -> GradientsParams {
    let mut clip = Clip::<B> {
        from: gradients,
        to: GradientsParams::new(),
        sum: None,
        factor: None,
    };
    module.visit(&mut clip);
    if let Some(sum) = clip.sum.take() {
        let factor = (sum.sqrt() + EPSILON).recip().mul_scalar(max_norm);
        clip.factor = Some(factor.clamp_max(1.0));
        clip.from = std::mem::take(&mut clip.to);
        module.visit(&mut clip);
    }
    clip.to
}

/// The norm at the first visit of a module, and the scaled gradients at the second. Gradients move from one place to
/// the other: a parameter that a module has twice counts once.
struct Clip<B: AutodiffBackend> {
    from: GradientsParams,
    to: GradientsParams,
    /// Sum of squares `[1]`.
    sum: Option<Tensor<B::InnerBackend, 1>>,
    /// Factor of the gradients `[1]`.
    factor: Option<Tensor<B::InnerBackend, 1>>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Clip<B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let gradient = self.from.remove::<B::InnerBackend, D>(param.id);
        let Some(gradient) = gradient else {
            return;
        };
        let in_dtype_of = |of: &Tensor<_, 1>, dtype: FloatDType| of.clone().cast(dtype);
        let gradient = match &self.factor {
            Some(factor) => {
                let factor = in_dtype_of(factor, gradient.dtype().into());
                gradient * factor.reshape([1; D])
            }
            None => {
                let own = gradient.clone().square().sum();
                // Parameters may have several precisions, a sum has one.
                self.sum = Some(match self.sum.take() {
                    Some(sum) => in_dtype_of(&own, sum.dtype().into()) + sum,
                    None => own,
                });
                gradient
            }
        };
        self.to.register(param.id, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::Module;
    use burn::tensor::TensorData;
    use burn::tensor::backend::Backend;
    use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};

    #[derive(Module, Debug)]
    struct Two<B: Backend> {
        matrix: Param<Tensor<B, 2>>,
        vector: Param<Tensor<B, 1>>,
        /// The same parameter as the vector.
        again: Param<Tensor<B, 1>>,
        without: Param<Tensor<B, 1>>,
    }

    /// Clips two gradients, and returns them in a list.
    fn clipped(of: [&[f64]; 2], max_norm: f64) -> Vec<f64> {
        let device = Default::default();
        let zeros = |n| Tensor::<TestAutodiff, 1>::zeros([n], &device);
        let vector = Param::from_tensor(zeros(3));
        let two = Two {
            matrix: Param::from_tensor(zeros(4).reshape([2, 2])),
            again: vector.clone(),
            vector,
            without: Param::from_tensor(zeros(1)),
        };
        let tensor = |values: &[f64], n: usize| {
            Tensor::<TestBackend, 1>::from_data(TensorData::new(values.to_vec(), [n]), &device)
        };
        let mut gradients = GradientsParams::new();
        gradients.register(two.matrix.id, tensor(of[0], 4).reshape([2, 2]));
        gradients.register(two.vector.id, tensor(of[1], 3));
        let clipped = clip_norm::<TestAutodiff, _>(&two, gradients, max_norm);
        assert_eq!(clipped.len(), 2);
        let matrix = clipped.get::<TestBackend, 2>(two.matrix.id).unwrap();
        let vector = clipped.get::<TestBackend, 1>(two.vector.id).unwrap();
        [to_vec(&matrix), to_vec(&vector)].concat()
    }

    #[test]
    fn the_norm_is_that_over_all_parameters() {
        let of = [&[0.5, -1.0, 0.25, 2.0][..], &[3.0, -0.125, 1.5]];
        let mut squares = 0.0;
        for values in of {
            for value in values {
                squares += value * value;
            }
        }
        for max_norm in [0.1, 1.0, 4.0, 4.2, 1e3] {
            let factor = f64::min(1.0, max_norm / (f64::sqrt(squares) + 1e-6));
            let expected: Vec<f64> = of.concat().iter().map(|value| factor * value).collect();
            assert_close(&clipped(of, max_norm), &expected, 1e-6);
        }
        assert_eq!(clipped(of, 1e3), of.concat());
        assert_eq!(clipped([&[0.0; 4], &[0.0; 3]], 1.0), [0.0; 7]);
    }
}
