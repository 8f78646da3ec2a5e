//! Layer-wise adaptive rate scaling.

use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{LearningRate, SimpleOptimizer};
use burn::record::Record;
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};

const TRUST: f64 = 0.001;
const MOMENTUM: f64 = 0.9;
pub(super) const WEIGHT_DECAY: f64 = 1e-6;

/// Layer-wise adaptive rate scaling (You et al., 2017) in the form of SimCLR's code (Chen et al., 2020),
/// with trust coefficient η = 0.001, momentum m = 0.9 and weight decay wd = 1e-6, their values. It is the
/// optimizer of DACL's pre-training (Verma et al., 2021, sections 5.1 and 5.2).
///
/// ```text
/// g ← g + wd·w      t = η·‖w‖/‖g‖, or 1 if ‖w‖ or ‖g‖ is 0      v ← m·v + lr·t·g      w ← w − v
/// ```
///
/// w is one parameter tensor, and v begins at 0. Parameters of rank 1 (biases, γ and β of batch
/// normalisation) have neither weight decay nor scaling: wd = 0 and t = 1.
///
/// At a constant lr, a step is at most lr·η/(1 − m) of the length of w, whatever the gradient: 0.001 of it
/// for lr = 0.1. Learning rates of Adam are therefore far too small for this optimizer. The velocity
/// contains the learning rate of its time, so that a rate that falls does not slow down earlier gradients.
///
/// Differences from the published description: You et al. add wd·‖w‖ to the denominator of t and take ‖g‖
/// without the weight decay; SimCLR's code takes the norm of the sum. DACL states no weight decay for its
/// tables, and 1e-6 for images; it is 1e-6 here for both.
#[derive(Debug, Clone)]
pub struct Lars {
    trust: f64,
    momentum: f64,
    weight_decay: f64,
}

impl Lars {
    /// Creates the optimizer of a module.
    pub fn init<M: AutodiffModule<B>, B: AutodiffBackend>() -> OptimizerAdaptor<Self, M, B> {
        Self::init_with_decay(WEIGHT_DECAY)
    }

    /// Creates the optimizer of a module with another weight decay, at least 0.
    pub fn init_with_decay<M: AutodiffModule<B>, B: AutodiffBackend>(
        weight_decay: f64,
    ) -> OptimizerAdaptor<Self, M, B> {
        OptimizerAdaptor::from(Self {
            trust: TRUST,
            momentum: MOMENTUM,
            weight_decay,
        })
    }
}

/// State of [`Lars`] for one parameter.
#[derive(Record, Clone)]
pub struct LarsState<B: Backend, const D: usize> {
    /// Velocity v, with the shape of the parameter.
    pub velocity: Tensor<B, D>,
}

impl<B: Backend> SimpleOptimizer<B> for Lars {
    type State<const D: usize> = LarsState<B, D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<B, D>,
        grad: Tensor<B, D>,
        state: Option<LarsState<B, D>>,
    ) -> (Tensor<B, D>, Option<LarsState<B, D>>) {
        let scaled = if D > 1 {
            let grad = grad + tensor.clone().mul_scalar(self.weight_decay);
            let (w, g) = (length(&tensor), length(&grad));
            let none = w.clone().equal_elem(0).bool_or(g.clone().equal_elem(0));
            let ratio = (w / g).mul_scalar(self.trust).mask_fill(none, 1);
            grad * ratio.reshape([1; D])
        } else {
            grad
        };
        let step = scaled.mul_scalar(lr);
        let velocity = match state {
            Some(LarsState { velocity }) => velocity.mul_scalar(self.momentum) + step,
            None => step,
        };
        (tensor - velocity.clone(), Some(LarsState { velocity }))
    }

    fn to_device<const D: usize>(state: LarsState<B, D>, device: &B::Device) -> LarsState<B, D> {
        LarsState {
            velocity: state.velocity.to_device(device),
        }
    }
}

/// Returns the Euclidean length of all elements together, as a tensor of one element.
fn length<B: Backend, const D: usize>(tensor: &Tensor<B, D>) -> Tensor<B, 1> {
    (tensor.clone() * tensor.clone()).sum().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{DType, TensorData};
    use icl_core::testing::{TestBackend, assert_close, precisions, to_vec};
    use serde::Deserialize;

    const LARS: Lars = Lars {
        trust: TRUST,
        momentum: MOMENTUM,
        weight_decay: WEIGHT_DECAY,
    };

    #[derive(Deserialize)]
    struct Reference {
        trust: f64,
        momentum: f64,
        weight_decay: f64,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        shape: Vec<usize>,
        learning_rate: f64,
        start: Vec<f64>,
        gradients: Vec<Vec<f64>>,
        values: Vec<Vec<f64>>,
    }

    /// Takes the steps of a case and returns the parameter after each.
    fn steps<const D: usize>(case: &Case, dtype: DType) -> Vec<Vec<f64>> {
        let shape: [usize; D] = case.shape.clone().try_into().unwrap();
        let tensor = |values: &[f64]| {
            let data = TensorData::new(values.to_vec(), shape);
            Tensor::<TestBackend, D>::from_data(data, (&Default::default(), dtype))
        };
        let (mut parameter, mut state) = (tensor(&case.start), None);
        let mut found = Vec::new();
        for gradient in &case.gradients {
            (parameter, state) = LARS.step(case.learning_rate, parameter, tensor(gradient), state);
            found.push(to_vec(&parameter));
        }
        found
    }

    #[test]
    fn steps_are_those_of_numpy() {
        let text = include_str!("../../tests/reference/lars.json");
        let reference: Reference = serde_json::from_str(text).unwrap();
        assert_eq!(
            [reference.trust, reference.momentum, reference.weight_decay],
            [TRUST, MOMENTUM, WEIGHT_DECAY]
        );
        for case in &reference.cases {
            for (dtype, tolerance) in precisions(1e-6, 1e-13) {
                let found = match case.shape.len() {
                    1 => steps::<1>(case, dtype),
                    2 => steps::<2>(case, dtype),
                    4 => steps::<4>(case, dtype),
                    rank => panic!("{}: rank {rank}", case.name),
                };
                assert_eq!(found.len(), case.values.len(), "{}", case.name);
                for (found, expected) in found.iter().zip(&case.values) {
                    assert_close(found, expected, tolerance);
                }
            }
        }
    }

    #[test]
    fn the_length_of_a_step_does_not_depend_on_that_of_the_gradient() {
        let tensor = |values: [f32; 4]| {
            Tensor::<TestBackend, 2>::from_data(
                TensorData::new(values.to_vec(), [2, 2]),
                &Default::default(),
            )
        };
        let start = tensor([1.0, -2.0, 0.5, 3.0]);
        for scale in [1e-3, 1.0, 1e6] {
            let gradient = tensor([0.1, 0.2, -0.3, 0.4]).mul_scalar(scale);
            let (moved, _) = LARS.step(0.1, start.clone(), gradient, None);
            let step = to_vec(&length(&(moved - start.clone())));
            let expected = 0.1 * TRUST * to_vec(&length(&start))[0];
            // Differences of numbers near 3 in single precision: 2e-7 of 4e-4.
            assert!((step[0] - expected).abs() < 2e-3 * expected);
        }
    }
}
