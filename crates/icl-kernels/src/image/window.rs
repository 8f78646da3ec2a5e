//! Geometry of convolutions and poolings.

use burn::tensor::{Tensor, backend::Backend};

/// Geometry of a square window of a convolution or pooling, the same along both axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Side of the window, in pixels.
    pub size: usize,
    /// Distance between neighbouring windows, in pixels.
    pub stride: usize,
    /// Number of rows and columns added on each side.
    pub padding: usize,
}

impl Window {
    /// Returns the side of the output for an input of side `side`.
    ///
    /// ```text
    /// ⌊(side + 2·padding − size) / stride⌋ + 1
    /// ```
    ///
    /// The window must not be larger than the padded input.
    ///
    /// # Panics
    /// If the stride is 0.
    pub fn output(self, side: usize) -> usize {
        (side + 2 * self.padding - self.size) / self.stride + 1
    }
    /// Returns whether a window is one pixel of the image itself, so that a convolution is a product of each
    /// such pixel by a matrix.
    pub(super) fn is_pixel(self) -> bool {
        self.size == 1 && self.padding == 0
    }
}

/// Returns images `[n, h, w, c]` as Burn's `[n, c, h, w]`.
pub(super) fn channels_first<B: Backend>(x: Tensor<B, 4>) -> Tensor<B, 4> {
    x.permute([0, 3, 1, 2])
}

/// Returns images `[n, c, h, w]` of Burn as `[n, h, w, c]`.
pub(super) fn channels_last<B: Backend>(x: Tensor<B, 4>) -> Tensor<B, 4> {
    x.permute([0, 2, 3, 1])
}
