//! Linear interpolation between two tensors.

use burn::tensor::{DType, Tensor, backend::Backend};
use rayon::prelude::*;

use crate::backends::is_host_memory;

/// Number of elements per parallel task. Results do not depend on it: every element is updated alone.
pub(super) const CHUNK: usize = 1 << 14;

/// Computes x + weight·(y − x), as for a moving average: in one pass on all threads for `f32` tensors in host memory,
/// and in place if nothing else refers to `x`.
pub fn lerp<B: Backend, const D: usize>(
    x: Tensor<B, D>,
    y: Tensor<B, D>,
    weight: f64,
) -> Tensor<B, D> {
    let device = x.device();
    let is_single = [&x, &y].iter().all(|x| x.dtype() == DType::F32);
    if !is_single || !is_host_memory::<B>() {
        return (y - x.clone()) * weight + x;
    }
    let (mut x, y) = (x.into_data(), y.into_data());
    let weight = weight as f32;
    let elements = x.as_mut_slice::<f32>().expect("single precision");
    let towards = y.as_slice::<f32>().expect("single precision");
    move_elements(elements, towards, weight);
    Tensor::from_data(x, &device)
}

/// Moves elements towards others. It has no type parameters, so that programs need not compile it again.
fn move_elements(elements: &mut [f32], towards: &[f32], weight: f32) {
    elements
        .par_chunks_mut(CHUNK)
        .zip(towards.par_chunks(CHUNK))
        .for_each(|(elements, towards)| {
            for (x, y) in elements.iter_mut().zip(towards) {
                *x += (y - *x) * weight;
            }
        });
}
