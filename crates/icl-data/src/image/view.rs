//! One view of one image, before collation.

/// A view of an image: normalised values `[channels, size, size]`, one plane after the other.
///
/// The default is an empty slot, of no channels, which
/// [`ImageViews::apply`](super::ImageViews::apply) and
/// [`view_into`](icl_core::Views::view_into) fill in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImageView {
    values: Vec<f32>,
    channels: usize,
    size: usize,
}

impl ImageView {
    /// The normalised values `[channels, size, size]`, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// 1 for a grey image, 3 for RGB.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The number of rows, and of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Takes another shape and gives the values to be overwritten; the buffer is kept.
    pub(super) fn reshape(&mut self, channels: usize, size: usize) -> &mut [f32] {
        self.channels = channels;
        self.size = size;
        self.values.resize(channels * size * size, 0.0);
        &mut self.values
    }
}
