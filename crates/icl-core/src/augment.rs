//! Views and collation of samples that are lists of numbers, without a trait to implement.

use std::marker::PhantomData;

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};

use crate::samples::{Collate, Views};
use crate::seed::Rng;

/// Views made by a function: `augment(sample, rng)` returns a view, which is of the samples' own type.
/// The plain view is the sample itself.
///
/// ```
/// use icl_core::{Augment, Seed, Views};
/// use rand::RngExt;
///
/// let views = Augment::new(|sample: &[f32; 2], rng| sample.map(|x| x + 0.1 * rng.random::<f32>()));
/// let view = views.view(&[1.0, 2.0], &mut Seed::new(7).rng());
/// assert!((1.0..1.1).contains(&view[0]));
/// assert_eq!(views.plain(&[1.0, 2.0]), [1.0, 2.0]);
/// ```
pub struct Augment<S, F> {
    augment: F,
    sample: PhantomData<fn(&S)>,
}

impl<S, F: Fn(&S, &mut Rng) -> S> Augment<S, F> {
    /// Creates views of this function. It must draw from the generator that it is given and from no
    /// other, so that a run can be repeated.
    pub fn new(augment: F) -> Self {
        Self {
            augment,
            sample: PhantomData,
        }
    }
}

impl<S, F> std::fmt::Debug for Augment<S, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Augment").finish_non_exhaustive()
    }
}

impl<S: Clone + Send + Sync, F: Fn(&S, &mut Rng) -> S + Send + Sync> Views for Augment<S, F> {
    type Sample = S;
    type View = S;

    fn view(&self, sample: &S, rng: &mut Rng) -> S {
        (self.augment)(sample, rng)
    }

    fn plain(&self, sample: &S) -> S {
        sample.clone()
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
