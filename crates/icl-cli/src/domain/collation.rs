//! The collation of a kind of data, as the trainer takes it.

use std::marker::PhantomData;

use burn::tensor::backend::Backend;
use icl_core::{Collate, Views};

use crate::domain::Domain;

/// Collates what `D` makes views of.
#[derive(Debug)]
pub struct Collation<D>(PhantomData<fn() -> D>);

impl<D> Collation<D> {
    /// There is one only.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<B: Backend, D: Domain> Collate<B> for Collation<D> {
    type View = <D::Views as Views>::View;
    type Batch = D::Batch<B>;

    fn collate(&self, views: &[Self::View], device: &B::Device) -> Self::Batch {
        D::collate::<B>(views, device)
    }
}
