//! The residual block of two 3x3 convolutions (He et al., 2016, Fig. 2 and 5 left).

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::Seed;
use icl_kernels::image::Window;

use crate::convolution::Convolution;
use crate::normalization::Statistics;

/// A residual block.
///
/// ```text
/// y = relu(norm(relu(norm(x ∗ W₁)) ∗ W₂) + shortcut(x))
/// ```
///
/// The shortcut is x itself, or a normalised 1x1 convolution of it where the shape changes.
#[derive(Module, Debug)]
pub(crate) struct ResidualBlock<B: Backend> {
    pub(crate) first: Convolution<B>,
    pub(crate) second: Convolution<B>,
    pub(crate) shortcut: Option<Convolution<B>>,
}

impl<B: Backend> ResidualBlock<B> {
    /// Creates a block whose first convolution has this stride, as in torchvision and in the paper.
    pub(crate) fn new(
        [c_in, c_out]: [usize; 2],
        stride: usize,
        epsilon: f64,
        seed: Seed,
        device: &B::Device,
    ) -> Self {
        let convolution = |name, c_in, size: usize, stride| {
            let window = Window {
                size,
                stride,
                padding: size / 2,
            };
            Convolution::new([c_in, c_out], window, epsilon, seed.child(name), device)
        };
        Self {
            first: convolution("first", c_in, 3, stride),
            second: convolution("second", c_out, 3, 1),
            shortcut: (stride != 1 || c_in != c_out)
                .then(|| convolution("shortcut", c_in, 1, stride)),
        }
    }

    /// Maps `[n, h, w, c_in]` to `[n, ⌈h/stride⌉, ⌈w/stride⌉, c_out]`.
    pub(crate) fn forward(&self, x: Tensor<B, 4>, statistics: &mut Statistics<'_>) -> Tensor<B, 4> {
        let residual = match &self.shortcut {
            Some(shortcut) => shortcut.forward(x.clone(), None, false, statistics),
            None => x.clone(),
        };
        let y = self.first.forward(x, None, true, statistics);
        self.second.forward(y, Some(residual), true, statistics)
    }

    /// Iterates over the convolutions.
    pub(crate) fn convolutions_mut(&mut self) -> impl Iterator<Item = &mut Convolution<B>> {
        [&mut self.first, &mut self.second]
            .into_iter()
            .chain(&mut self.shortcut)
    }
}
