//! Pooling against plain loops.

use burn::tensor::backend::AutodiffBackend;
use icl_kernels::image::{Window, max_pool};
use icl_kernels::testing::{ComposedBackend, TestAutodiff, assert_close, precisions, to_vec};

use crate::numbers::{DOUBLE, SINGLE, draw, tensor};

#[test]
fn pooling_takes_the_first_maximum_and_gives_it_the_gradient() {
    compare_with_loops::<TestAutodiff>();
    compare_with_loops::<ComposedBackend>();
}

fn compare_with_loops<A: AutodiffBackend>() {
    let geometries = [[3, 2, 1], [2, 2, 0], [3, 1, 1], [1, 1, 0]];
    for ([size, stride, padding], (shape, seed)) in geometries
        .into_iter()
        .flat_map(|g| [([2, 7, 5, 3], 1), ([1, 4, 6, 64], 2), ([3, 3, 3, 17], 3)].map(|s| (g, s)))
    {
        let window = Window {
            size,
            stride,
            padding,
        };
        let [n, height, width, channels] = shape;
        // Few different values, so that there are ties everywhere; all of them negative, so that
        // padding would win if it could.
        let x: Vec<_> = draw(n * height * width * channels, seed)
            .iter()
            .map(|x| (x * 2.0).round() - 5.0)
            .collect();
        let (rows, columns) = (window.output(height), window.output(width));
        let gradient = draw(n * rows * columns * channels, seed + 10);
        let mut y = vec![0.0; gradient.len()];
        let mut expected = vec![0.0; x.len()];
        for to in 0..gradient.len() {
            let (c, column) = (to % channels, to / channels % columns);
            let (row, image) = (
                to / channels / columns % rows,
                to / channels / columns / rows,
            );
            let mut best: Option<usize> = None;
            for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                let (i, j) = (row * stride + i, column * stride + j);
                if i < padding || j < padding || i - padding >= height || j - padding >= width {
                    continue;
                }
                let at = ((image * height + i - padding) * width + j - padding) * channels + c;
                if best.is_none_or(|best| x[at] > x[best]) {
                    best = Some(at);
                }
            }
            y[to] = x[best.unwrap()];
            expected[best.unwrap()] += gradient[to];
        }
        for (dtype, _) in precisions(SINGLE, DOUBLE) {
            let operand = tensor::<A, 4>(&x, shape, dtype).require_grad();
            let found = max_pool(operand.clone(), window);
            assert_eq!(to_vec(&found), y);
            let weights = tensor(&gradient, [n, rows, columns, channels], dtype);
            let grads = (found * weights).sum().backward();
            assert_close(&to_vec(&operand.grad(&grads).unwrap()), &expected, 1e-6);
        }
    }
}
