//! Geometry of convolutions and poolings.

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
}
