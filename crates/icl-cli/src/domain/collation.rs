//! Collation of the views of a [`Domain`](crate::domain::Domain) into batches, on whichever backend the user chose.

use std::fmt::Debug;

use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use icl_core::bags::{HistoryBatch, TextBatch};
use icl_core::graph::GraphBatch;
use icl_core::{Collate, Stack};
use icl_data::{
    FlatImageCollate, GraphCollate, GraphView, ImageCollate, ImageView, NextItemCollate,
    NextItemView, TextPairCollate, TextPairView,
};
use icl_models::{HiddenBatch, HiddenCollate, HiddenView};

/// Collation that works on every backend. [`Collate`] has the backend as a parameter, and no bound in Rust says "for
/// every backend".
pub trait OnEveryBackend: Debug + Send + Sync {
    /// View of a sample, the input.
    type View;
    /// Batch of these views.
    type Batch<B: Backend>: Clone + Send;

    /// Makes the batch of these views, in their order.
    fn batch<B: Backend>(&self, views: &[Self::View], device: &B::Device) -> Self::Batch<B>;
}

/// Collation of a domain, as the library takes it.
#[derive(Debug, Clone, Copy)]
pub struct Collated<C>(pub C);

impl<B: Backend, C: OnEveryBackend> Collate<B, C::View, C::Batch<B>> for Collated<C> {
    fn collate(&self, views: &[C::View], device: &B::Device) -> C::Batch<B> {
        self.0.batch(views, device)
    }
}

macro_rules! on_every_backend {
    ($($collate:ty, $view:ty, $batch:ty;)*) => {$(
        impl OnEveryBackend for $collate {
            type View = $view;
            type Batch<B: Backend> = $batch;

            fn batch<B: Backend>(&self, views: &[$view], device: &B::Device) -> $batch {
                self.collate(views, device)
            }
        }
    )*};
}

on_every_backend! {
    GraphCollate, GraphView, GraphBatch<B>;
    HiddenCollate<GraphCollate>, HiddenView<GraphView>, HiddenBatch<B, GraphBatch<B>>;
    ImageCollate, ImageView, Tensor<B, 4>;
    FlatImageCollate, ImageView, Tensor<B, 2>;
    Stack, Vec<f32>, Tensor<B, 2>;
    NextItemCollate, NextItemView, HistoryBatch<B>;
    TextPairCollate, TextPairView, TextBatch<B>;
}
