//! Adam in one pass over the parameters.

use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{
    Adam, AdamConfig, AdamState, AdaptiveMomentumState, LearningRate, SimpleOptimizer,
};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor};
use rayon::prelude::*;

use super::corrected::{BETA_1, BETA_2, Corrected, EPSILON};
use super::lerp::CHUNK;
#[cfg(feature = "tch")]
use super::libtorch;
use crate::backends::is_host_memory;

/// Adam (Kingma and Ba, 2015) with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8, the authors' values, in one pass
/// over the parameters. Burn's default ε is 1e-5, which halves the steps for gradients of that size.
///
/// ```text
/// m ← β₁·m + (1 − β₁)·g      v ← β₂·v + (1 − β₂)·g²      θ ← θ − lr·(m/(1 − β₁ᵗ)) / (√(v/(1 − β₂ᵗ)) + ε)
/// ```
///
/// Burn's Adam consists of a dozen operations, each a pass over memory, which for the 11 million
/// parameters of a ResNet-18 takes as long as a batch of small images. For `f32` tensors in host memory
/// this optimizer makes one pass on all threads; LibTorch's are updated in place by its own operators
/// (feature `tch`); for other tensors it uses Burn's operations. The state is Burn's in all cases.
///
/// With decoupled weight decay it is AdamW (Loshchilov and Hutter, 2019): θ ← (1 − lr·wd)·θ before the step, in a
/// pass of its own.
#[derive(Clone)]
pub struct OnePassAdam {
    composed: Adam,
    weight_decay: f64,
}

impl std::fmt::Debug for OnePassAdam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnePassAdam").finish_non_exhaustive()
    }
}

impl OnePassAdam {
    /// Creates the optimizer of a module.
    pub fn init<M: AutodiffModule<B>, B: AutodiffBackend>() -> OptimizerAdaptor<Self, M, B> {
        Self::init_with_decay(0.0)
    }

    /// Creates the optimizer of a module with decoupled weight decay, at least 0.
    pub fn init_with_decay<M: AutodiffModule<B>, B: AutodiffBackend>(
        weight_decay: f64,
    ) -> OptimizerAdaptor<Self, M, B> {
        OptimizerAdaptor::from(Self::new(weight_decay))
    }

    fn new(weight_decay: f64) -> Self {
        let config = AdamConfig::new()
            .with_beta_1(BETA_1)
            .with_beta_2(BETA_2)
            .with_epsilon(EPSILON);
        Self {
            composed: config.build(),
            weight_decay,
        }
    }
}

impl<B: Backend> SimpleOptimizer<B> for OnePassAdam {
    type State<const D: usize> = AdamState<B, D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<B, D>,
        grad: Tensor<B, D>,
        state: Option<AdamState<B, D>>,
    ) -> (Tensor<B, D>, Option<AdamState<B, D>>) {
        let tensor = match self.weight_decay {
            0.0 => tensor,
            decay => tensor.mul_scalar(1.0 - lr * decay),
        };
        let is_single = [&tensor, &grad].iter().all(|x| x.dtype() == DType::F32);
        let Some(update) = update_on::<B, D>().filter(|_| is_single) else {
            return self.composed.step(lr, tensor, grad, state);
        };
        // Steps are counted from 1: `Corrected` divides by 1 − βᵗ.
        let (time, first, second) = match state {
            Some(AdamState { momentum }) => {
                (momentum.time + 1, momentum.moment_1, momentum.moment_2)
            }
            None => (1, grad.zeros_like(), grad.zeros_like()),
        };
        let corrected = Corrected::at(lr, time);
        let [tensor, first, second] = update(corrected, [tensor, first, second], grad);
        let momentum = AdaptiveMomentumState::new(time, first, second);
        (tensor, Some(AdamState::new(momentum)))
    }

    fn to_device<const D: usize>(state: AdamState<B, D>, device: &B::Device) -> AdamState<B, D> {
        <Adam as SimpleOptimizer<B>>::to_device(state, device)
    }
}

/// Updates `[θ, m, v]`, all of single precision, by a gradient.
type Update<B, const D: usize> =
    fn(Corrected, [Tensor<B, D>; 3], Tensor<B, D>) -> [Tensor<B, D>; 3];

/// Returns the update of a backend that has one of its own.
fn update_on<B: Backend, const D: usize>() -> Option<Update<B, D>> {
    if is_host_memory::<B>() {
        return Some(one_pass);
    }
    #[cfg(feature = "tch")]
    if libtorch::is_backend::<B>() {
        return Some(libtorch::in_place);
    }
    None
}

/// Updates `[θ, m, v]` in one pass on all threads.
fn one_pass<B: Backend, const D: usize>(
    Corrected { rate, scale }: Corrected,
    values: [Tensor<B, D>; 3],
    gradient: Tensor<B, D>,
) -> [Tensor<B, D>; 3] {
    let device = gradient.device();
    let mut values = values.map(Tensor::into_data);
    let gradient = gradient.into_data();
    let [parameters, first, second] = values
        .each_mut()
        .map(|data| data.as_mut_slice::<f32>().expect("single precision"));
    let gradient = gradient.as_slice::<f32>().expect("single precision");
    update_elements(rate, scale, [parameters, first, second], gradient);
    values.map(|data| Tensor::from_data(data, &device))
}

/// Updates the elements of `[θ, m, v]`. It has no type parameters, so that programs need not compile it again.
fn update_elements(
    rate: f32,
    scale: f32,
    [parameters, first, second]: [&mut [f32]; 3],
    gradient: &[f32],
) {
    let moments = first
        .par_chunks_mut(CHUNK)
        .zip(second.par_chunks_mut(CHUNK));
    parameters
        .par_chunks_mut(CHUNK)
        .zip(moments)
        .zip(gradient.par_chunks(CHUNK))
        .for_each(|((parameters, (first, second)), gradient)| {
            let moments = first.iter_mut().zip(second);
            for ((parameter, (m, v)), g) in parameters.iter_mut().zip(moments).zip(gradient) {
                *m = BETA_1 * *m + (1.0 - BETA_1) * g;
                *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
                *parameter -= rate * *m / ((*v * scale).sqrt() + EPSILON);
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ComposedBackend, TestBackend, assert_close, to_vec};
    use burn::tensor::TensorData;

    fn tensor<B: Backend>(values: &[f32]) -> Tensor<B, 1> {
        Tensor::from_data(
            TensorData::new(values.to_vec(), [values.len()]),
            &Default::default(),
        )
    }

    /// Against the recursion in double precision, over many steps, more values than a chunk has, and
    /// gradients from tiny to large.
    #[test]
    fn it_is_the_recursion_that_it_says() {
        for weight_decay in [0.0, 0.5] {
            compare_with_recursion::<TestBackend>(weight_decay);
            compare_with_recursion::<ComposedBackend>(weight_decay);
        }
    }

    fn compare_with_recursion<B: Backend>(weight_decay: f64) {
        let optimizer = OnePassAdam::new(weight_decay);
        let n = CHUNK + 3;
        let gradient = |step: usize, at: usize| {
            let scale = 10_f64.powi(-((at % 9) as i32));
            scale * ((at * 7 + step * 13) as f64).sin()
        };
        let start: Vec<f32> = (0..n).map(|at| (at as f32 * 0.1).cos()).collect();
        let mut parameters = tensor(&start);
        let mut state: Option<AdamState<B, 1>> = None;
        let mut expected: Vec<[f64; 3]> = start.iter().map(|x| [f64::from(*x), 0.0, 0.0]).collect();
        for step in 1..=20 {
            let gradients: Vec<f64> = (0..n).map(|at| gradient(step, at)).collect();
            let single: Vec<f32> = gradients.iter().map(|g| *g as f32).collect();
            (parameters, state) = optimizer.step(0.01, parameters, tensor(&single), state);
            for ([x, m, v], g) in expected.iter_mut().zip(&gradients) {
                *m = 0.9 * *m + 0.1 * g;
                *v = 0.999 * *v + 0.001 * g * g;
                let (c1, c2) = (
                    1.0 - 0.9_f64.powi(step as i32),
                    1.0 - 0.999_f64.powi(step as i32),
                );
                *x *= 1.0 - 0.01 * weight_decay;
                *x -= 0.01 * (*m / c1) / ((*v / c2).sqrt() + 1e-8);
            }
        }
        let expected: Vec<f64> = expected.iter().map(|[x, ..]| *x).collect();
        assert_close(&to_vec(&parameters), &expected, 1e-5);
        assert_eq!(state.unwrap().momentum.time, 20);
    }

    #[test]
    fn a_tensor_with_another_reference_is_left_alone() {
        let held = tensor::<TestBackend>(&[1.0, 2.0]);
        let (moved, _) = OnePassAdam::new(0.0).step(0.1, held.clone(), tensor(&[1.0, -1.0]), None);
        assert_eq!(to_vec(&held), [1.0, 2.0]);
        assert_close(&to_vec(&moved), &[0.9, 2.1], 1e-5);
    }
}
