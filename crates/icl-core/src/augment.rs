//! Views that a function makes, without a trait to implement.

use std::marker::PhantomData;

use crate::samples::Views;
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
    /// Creates views made by this function. It must draw from the generator that it is given and from no
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
