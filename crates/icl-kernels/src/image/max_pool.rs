//! The maximum over windows, with the selection of elements at these maxima and its transpose.

use burn::tensor::{IndexingUpdateOp, Int, Tensor, backend::Backend};

use super::kernels::kernels;
use super::window::{Window, channels_first, channels_last};

/// Computes the maximum `[n, h′, w′, c]` over each window of `x` `[n, h, w, c]`. Padding is never the maximum.
pub fn max_pool<B: Backend>(x: Tensor<B, 4>, window: Window) -> Tensor<B, 4> {
    match kernels::<B>(x.dtype()).max_pool {
        Some(kernel) => kernel(x, window),
        None => select_maxima(x.clone(), x, window),
    }
}

/// Selects the elements `[n, h′, w′, c]` of `values` `[n, h, w, c]` at the position of the first maximum of each
/// window of `x` `[n, h, w, c]`. `x` gets no gradient.
pub fn select_maxima<B: Backend>(
    x: Tensor<B, 4>,
    values: Tensor<B, 4>,
    window: Window,
) -> Tensor<B, 4> {
    if let Some(kernel) = kernels::<B>(x.dtype()).select_maxima {
        return kernel(x, values, window);
    }
    let [n, height, width, channels] = x.dims();
    let (sides, positions) = maxima(x, window);
    let selected = channels_first(values)
        .reshape([n, channels, height * width])
        .gather(2, positions);
    channels_last(selected.reshape([n, channels, sides[0], sides[1]]))
}

/// Adds the elements of `gradient` `[n, h′, w′, c]` at the positions of the first maxima of `x` `[n, h, w, c]` to
/// zeros `[n, h, w, c]`: the transpose of [`select_maxima`]. `x` gets no gradient.
pub fn scatter_maxima<B: Backend>(
    x: Tensor<B, 4>,
    gradient: Tensor<B, 4>,
    window: Window,
) -> Tensor<B, 4> {
    if let Some(kernel) = kernels::<B>(x.dtype()).scatter_maxima {
        return kernel(x, gradient, window);
    }
    let [n, height, width, channels] = x.dims();
    let (sides, positions) = maxima(x, window);
    let zeros = Tensor::<B, 3>::zeros(
        [n, channels, height * width],
        (&gradient.device(), gradient.dtype()),
    );
    let gradient = channels_first(gradient).reshape([n, channels, sides[0] * sides[1]]);
    let scattered = zeros.scatter(2, positions, gradient, IndexingUpdateOp::Add);
    channels_last(scattered.reshape([n, channels, height, width]))
}

/// Returns the sides of the output, and the position of each first maximum on the h·w grid
/// `[n, c, h′·w′]`.
fn maxima<B: Backend>(x: Tensor<B, 4>, window: Window) -> ([usize; 2], Tensor<B, 3, Int>) {
    let [n, height, width, channels] = x.dims();
    let sides = [window.output(height), window.output(width)];
    let found = B::max_pool2d_with_indices(
        channels_first(x).into_primitive().tensor(),
        [window.size; 2],
        [window.stride; 2],
        [window.padding; 2],
        [1; 2],
        false,
    );
    let positions = Tensor::<B, 4, Int>::from_primitive(found.indices);
    (sides, positions.reshape([n, channels, sides[0] * sides[1]]))
}
