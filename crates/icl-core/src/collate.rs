//! Collation: views become a batch.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};

/// Collation: a list of views `V` becomes one batch `T` on a device of the backend `B`.
///
/// It is Burn's `Batcher` but for one difference: it borrows the views, so that the next batch reuses their memory.
/// `FromBatcher` (feature `dataset`) makes a collation of any batcher.
///
/// ```
/// use burn::tensor::{Tensor, TensorData, backend::Backend};
/// use icl_core::Collate;
///
/// struct Points;
///
/// impl<B: Backend> Collate<B, [f32; 2], Tensor<B, 2>> for Points {
///     fn collate(&self, views: &[[f32; 2]], device: &B::Device) -> Tensor<B, 2> {
///         Tensor::from_data(TensorData::new(views.concat(), [views.len(), 2]), device)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make batches `{T}` of views `{V}`",
    note = "implement `Collate<B, {V}, {T}>` for every `B: Backend`, or wrap a `Batcher` of Burn in `FromBatcher` (feature \
            `dataset`)"
)]
pub trait Collate<B: Backend, V, T>: Send + Sync {
    /// Makes the batch of these views, in their order.
    fn collate(&self, views: &[V], device: &B::Device) -> T;
}

impl<B: Backend, V, T, C: Collate<B, V, T>> Collate<B, V, T> for &C {
    fn collate(&self, views: &[V], device: &B::Device) -> T {
        (**self).collate(views, device)
    }
}

/// Collation of arrays, or `Vec`s of equal lengths, into a tensor `[n, d]`, a row for each view.
///
/// # Panics
/// [`collate`](Collate::collate) panics if there are no views, or if they differ in their lengths.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stack;

impl<B: Backend, V: AsRef<[f32]>> Collate<B, V, Tensor<B, 2>> for Stack {
    fn collate(&self, views: &[V], device: &B::Device) -> Tensor<B, 2> {
        let Some(first) = views.first() else {
            panic!("a batch must hold at least one view, found none");
        };
        let width = first.as_ref().len();
        let mut values = Vec::with_capacity(views.len() * width);
        for (at, view) in views.iter().enumerate() {
            let view = view.as_ref();
            assert!(
                view.len() == width,
                "views of a batch must have equal lengths, found {} at position {at}, expected {width}",
                view.len()
            );
            values.extend_from_slice(view);
        }
        Tensor::from_data(TensorData::new(values, [views.len(), width]), device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestBackend, to_vec};

    #[test]
    fn arrays_and_vectors_become_rows() {
        let device = Default::default();
        let arrays: Tensor<TestBackend, 2> = Stack.collate(&[[1.0, 2.0], [3.0, 4.0]], &device);
        assert_eq!(arrays.dims(), [2, 2]);
        assert_eq!(to_vec(&arrays), [1.0, 2.0, 3.0, 4.0]);
        let vectors: Tensor<TestBackend, 2> = Stack.collate(&[vec![1.0; 3], vec![2.0; 3]], &device);
        assert_eq!(to_vec(&vectors), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    #[should_panic = "found 1 at position 1, expected 2"]
    fn unequal_lengths_panic() {
        let _: Tensor<TestBackend, 2> =
            Stack.collate(&[vec![1.0; 2], vec![2.0]], &Default::default());
    }
}
