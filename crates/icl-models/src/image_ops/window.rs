//! The geometry of convolutions and poolings.

/// The geometry of a square convolution or pooling window, the same along both axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The side of the window.
    pub size: usize,
    /// The distance between windows.
    pub stride: usize,
    /// Rows and columns added on each side.
    pub padding: usize,
}

impl Window {
    /// The side of the output for an input of side `side`: ⌊(side + 2·padding − size)/stride⌋ + 1.
    pub fn output(self, side: usize) -> usize {
        (side + 2 * self.padding - self.size) / self.stride + 1
    }
}
