//! Adam by LibTorch's operators that write in place.

use std::any::{Any, TypeId};

use burn::backend::LibTorch;
use burn::backend::libtorch::TchTensor;
use burn::tensor::{Tensor, TensorPrimitive, backend::Backend};

use super::corrected::{BETA_1, BETA_2, Corrected, EPSILON};

/// Returns whether `B` is LibTorch in single precision.
pub(super) fn is_backend<B: Backend>() -> bool {
    TypeId::of::<B>() == TypeId::of::<LibTorch<f32>>()
}

/// Updates `[θ, m, v]` of LibTorch. The results have the gradient's layout in memory, so that only the first step has
/// to change it.
pub(super) fn in_place<B: Backend, const D: usize>(
    corrected: Corrected,
    values: [Tensor<B, D>; 3],
    gradient: Tensor<B, D>,
) -> [Tensor<B, D>; 3] {
    let gradient = as_backend::<_, Tensor<LibTorch<f32>, D>>(gradient);
    let values = values.map(as_backend::<_, Tensor<LibTorch<f32>, D>>);
    update(corrected, values, gradient).map(as_backend)
}

/// Returns a value as the type that it is of: a function of any backend can have a form for one of them only by asking
/// for the type.
fn as_backend<T: 'static, U: 'static>(value: T) -> U {
    let mut value = Some(value);
    let any: &mut dyn Any = &mut value;
    let same = any.downcast_mut::<Option<U>>().and_then(Option::take);
    same.expect("the backend is LibTorch")
}

fn update<const D: usize>(
    Corrected { rate, scale }: Corrected,
    values: [Tensor<LibTorch<f32>, D>; 3],
    gradient: Tensor<LibTorch<f32>, D>,
) -> [Tensor<LibTorch<f32>, D>; 3] {
    let gradient = gradient.into_primitive().tensor();
    let g = &gradient.tensor;
    let [mut parameter, mut first, mut second] =
        values.map(|x| writable(x.into_primitive().tensor(), g));
    let _ = first.lerp_(g, f64::from(1.0 - BETA_1));
    let mut divisor = g * g;
    let _ = second.lerp_(&divisor, f64::from(1.0 - BETA_2));
    // The divisor √(v·scale) + ε reuses the memory of g².
    let _ = second.sqrt_out(&divisor);
    let _ = divisor.g_mul_scalar_(f64::from(scale.sqrt()));
    let _ = divisor.g_add_scalar_(f64::from(EPSILON));
    let step = first.g_mul_scalar(-f64::from(rate));
    let _ = parameter.addcdiv_(&step, &divisor);
    [parameter, first, second]
        .map(|x| Tensor::from_primitive(TensorPrimitive::Float(TchTensor::new(x))))
}

/// Returns a tensor in the layout of `gradient` that nothing else refers to: `x` itself where it is one, or a copy.
fn writable(x: TchTensor, gradient: &tch::Tensor) -> tch::Tensor {
    let strides = x.tensor.stride();
    if x.storage.can_mut() && strides == gradient.stride() && !strides.contains(&0) {
        return x.tensor;
    }
    let mut copy = gradient.empty_like();
    copy.copy_(&x.tensor);
    copy
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;

    const N: usize = 24;

    fn tensor(value: impl Fn(usize) -> f64) -> Tensor<LibTorch<f32>, 3> {
        let values: Vec<f32> = (0..N).map(|at| value(at) as f32).collect();
        Tensor::from_data(TensorData::new(values, [2, 3, 4]), &Default::default())
    }

    fn elements(x: &Tensor<LibTorch<f32>, 3>) -> Vec<f64> {
        crate::host_values(x.clone())
    }

    /// Against the recursion in double precision, with gradients whose last dimension is not the one that lies side by
    /// side.
    #[test]
    fn it_is_the_recursion_in_any_layout() {
        let gradient = |step: i32, at: usize| (at as f64 * 0.7 + f64::from(step)).sin();
        let start = tensor(|at| at as f64);
        let mut values = [start.clone(), tensor(|_| 0.0), tensor(|_| 0.0)];
        let mut expected: Vec<[f64; 3]> = (0..N).map(|at| [at as f64, 0.0, 0.0]).collect();
        for step in 1..=5 {
            let in_rows = tensor(|at| gradient(step, at));
            let by_columns = in_rows.swap_dims(0, 2).into_data();
            let permuted = Tensor::from_data(by_columns, &Default::default()).swap_dims(0, 2);
            let corrected = Corrected::at(0.01, step as usize);
            values = in_place(corrected, values, permuted);
            let [c1, c2] = [0.9_f64, 0.999].map(|beta| 1.0 - beta.powi(step));
            for (at, [x, m, v]) in expected.iter_mut().enumerate() {
                let g = gradient(step, at);
                *m = 0.9 * *m + 0.1 * g;
                *v = 0.999 * *v + 0.001 * g * g;
                *x -= 0.01 * (*m / c1) / ((*v / c2).sqrt() + 1e-8);
            }
        }
        for (place, values) in values.iter().enumerate() {
            for (found, expected) in elements(values).into_iter().zip(&expected) {
                let expected = expected[place];
                // 1 − β₂ of single precision differs from 0.001 by 1.3e-5 of it.
                assert!((found - expected).abs() <= 3e-5 * expected.abs().max(1e-3));
            }
        }
        let strides = values[0].clone().into_primitive().tensor().tensor.stride();
        assert_eq!(strides, [1, 2, 6]);
        assert_eq!(elements(&start)[1], 1.0, "another reference is left alone");
    }
}
