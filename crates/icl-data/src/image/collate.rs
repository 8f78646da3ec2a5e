//! Collation of image views into one tensor.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::Collate;

use super::views::ImageView;

/// Collation of image views into a tensor `[n, channels, size, size]`.
///
/// The values are copied once, into the buffer that is uploaded to the device.
///
/// # Panics
/// [`collate`](Collate::collate) panics if there are no views, or if the views differ in their number
/// of channels or in their size.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImageCollate;

impl<B: Backend> Collate<B, ImageView, Tensor<B, 4>> for ImageCollate {
    fn collate(&self, views: &[ImageView], device: &B::Device) -> Tensor<B, 4> {
        let (values, channels, size) = stacked(views);
        Tensor::from_data(
            TensorData::new(values, [views.len(), channels, size, size]),
            device,
        )
    }
}

/// Collation of image views into a tensor `[n, channels · size · size]`, a row for each view, for an encoder
/// that takes the pixels of an image as one list.
///
/// # Panics
/// [`collate`](Collate::collate) panics if there are no views, or if the views differ in their number
/// of channels or in their size.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlatImageCollate;

impl<B: Backend> Collate<B, ImageView, Tensor<B, 2>> for FlatImageCollate {
    fn collate(&self, views: &[ImageView], device: &B::Device) -> Tensor<B, 2> {
        let (values, channels, size) = stacked(views);
        Tensor::from_data(
            TensorData::new(values, [views.len(), channels * size * size]),
            device,
        )
    }
}

/// Returns the values of all views, one after the other, the number of channels and the size.
fn stacked(views: &[ImageView]) -> (Vec<f32>, usize, usize) {
    let Some(first) = views.first() else {
        panic!("an image batch must hold at least one view, found none");
    };
    let (channels, size) = (first.channels(), first.size());
    let mut values = Vec::with_capacity(views.len() * first.values().len());
    for (at, view) in views.iter().enumerate() {
        assert!(
            (view.channels(), view.size()) == (channels, size),
            "views of a batch must have equal shapes, found {} x {} x {} at position {at}, \
             expected {channels} x {size} x {size}",
            view.channels(),
            view.size(),
            view.size()
        );
        values.extend_from_slice(view.values());
    }
    (values, channels, size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::{TestBackend, to_vec};

    fn view(channels: usize, size: usize, first: f32) -> ImageView {
        let mut view = ImageView::default();
        for (at, value) in view.reshape(channels, size).iter_mut().enumerate() {
            *value = first + at as f32;
        }
        view
    }

    fn collate(views: &[ImageView]) -> Tensor<TestBackend, 4> {
        ImageCollate.collate(views, &Default::default())
    }

    #[test]
    fn views_follow_each_other_in_their_order() {
        let batch = collate(&[view(3, 2, 0.0), view(3, 2, 100.0)]);
        assert_eq!(batch.dims(), [2, 3, 2, 2]);
        let expected: Vec<f64> = (0..12).chain(100..112).map(f64::from).collect();
        assert_eq!(to_vec(&batch), expected);
    }

    #[test]
    fn flat_views_are_rows() {
        let views = [view(3, 2, 0.0), view(3, 2, 100.0)];
        let rows: Tensor<TestBackend, 2> = FlatImageCollate.collate(&views, &Default::default());
        assert_eq!(rows.dims(), [2, 12]);
        assert_eq!(to_vec(&rows), to_vec(&collate(&views)));
    }

    #[test]
    #[should_panic = "an image batch must hold at least one view, found none"]
    fn an_empty_batch_panics() {
        collate(&[]);
    }

    #[test]
    #[should_panic = "found 1 x 2 x 2 at position 1, expected 3 x 2 x 2"]
    fn unequal_channels_panic() {
        collate(&[view(3, 2, 0.0), view(1, 2, 0.0)]);
    }

    #[test]
    #[should_panic = "found 3 x 4 x 4 at position 2, expected 3 x 2 x 2"]
    fn unequal_sizes_panic() {
        collate(&[view(3, 2, 0.0), view(3, 2, 0.0), view(3, 4, 0.0)]);
    }
}
