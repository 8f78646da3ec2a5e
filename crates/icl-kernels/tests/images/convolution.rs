//! The convolution and its gradients against plain loops in double precision.

use burn::tensor::backend::Backend;
use icl_kernels::image::{Window, convolution};
use icl_kernels::internals::{
    convolution_gradients, convolution_input_gradient, convolution_weight_gradient,
};
use icl_kernels::testing::{ComposedBackend, TestBackend, precisions, to_vec};

use crate::numbers::{DOUBLE, SINGLE, assert_near, draw, tensor};

/// A convolution of `n` images, and where everything of it stands.
#[derive(Debug, Clone, Copy)]
struct Case {
    n: usize,
    sides: [usize; 2],
    c_in: usize,
    c_out: usize,
    window: Window,
}

impl Case {
    fn input(self) -> [usize; 4] {
        [self.n, self.sides[0], self.sides[1], self.c_in]
    }

    fn weight(self) -> [usize; 4] {
        [self.c_out, self.c_in, self.window.size, self.window.size]
    }

    fn output(self) -> [usize; 4] {
        let [height, width] = self.sides.map(|side| self.window.output(side));
        [self.n, height, width, self.c_out]
    }

    /// Calls `visit` with the positions in input, weight and output of each product.
    fn each_product(self, mut visit: impl FnMut(usize, usize, usize)) {
        let Window {
            size,
            stride,
            padding,
        } = self.window;
        let [_, out_height, out_width, _] = self.output();
        let [height, width] = self.sides;
        for image in 0..self.n {
            for (row, column) in (0..out_height).flat_map(|r| (0..out_width).map(move |c| (r, c))) {
                for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                    let (y, x) = (row * stride + i, column * stride + j);
                    if y < padding || x < padding || y - padding >= height || x - padding >= width {
                        continue;
                    }
                    let pixel = (image * height + y - padding) * width + x - padding;
                    let output = (image * out_height + row) * out_width + column;
                    for ci in 0..self.c_in {
                        for co in 0..self.c_out {
                            visit(
                                pixel * self.c_in + ci,
                                ((co * self.c_in + ci) * size + i) * size + j,
                                output * self.c_out + co,
                            );
                        }
                    }
                }
            }
        }
    }
}

fn cases() -> Vec<Case> {
    let case = |n, sides, [c_in, c_out]: [usize; 2], [size, stride, padding]: [usize; 3]| Case {
        n,
        sides,
        c_in,
        c_out,
        window: Window {
            size,
            stride,
            padding,
        },
    };
    vec![
        case(2, [9, 7], [3, 64], [7, 2, 3]),
        case(1, [28, 28], [1, 16], [3, 1, 1]),
        case(2, [5, 5], [5, 3], [3, 1, 0]),
        case(3, [6, 5], [16, 5], [3, 2, 1]),
        case(1, [16, 12], [16, 64], [3, 1, 1]),
        case(9, [2, 2], [64, 64], [3, 1, 1]),
        case(3, [4, 4], [64, 80], [3, 2, 1]),
        case(2, [7, 5], [64, 16], [1, 2, 0]),
        case(1, [1, 1], [32, 48], [3, 1, 1]),
        case(2, [2, 3], [16, 1], [5, 2, 2]),
        case(1, [3, 2], [1, 1], [7, 2, 3]),
        case(17, [3, 3], [48, 33], [3, 1, 2]),
        case(1, [40, 33], [16, 16], [3, 1, 1]),
        case(1, [8, 8], [20, 100], [2, 2, 0]),
        case(3, [7, 6], [32, 48], [3, 1, 1]),
        case(2, [9, 8], [16, 33], [3, 1, 0]),
        case(2, [12, 11], [48, 16], [3, 1, 2]),
        case(9, [4, 4], [64, 80], [3, 1, 1]),
        case(1, [6, 130], [96, 16], [3, 1, 1]),
    ]
}

#[test]
fn the_convolution_and_its_gradients_are_double_loops() {
    compare_with_loops::<TestBackend>();
    compare_with_loops::<ComposedBackend>();
}

fn compare_with_loops<B: Backend>() {
    for (seed, case) in (0..).zip(cases()) {
        let length = |shape: [usize; 4]| shape.iter().product::<usize>();
        let x = draw(length(case.input()), 3 * seed);
        let weight = draw(length(case.weight()), 3 * seed + 1);
        let gradient = draw(length(case.output()), 3 * seed + 2);
        let mut y = vec![0.0; gradient.len()];
        let (mut by_input, mut by_weight) = (vec![0.0; x.len()], vec![0.0; weight.len()]);
        case.each_product(|i, w, o| {
            y[o] += x[i] * weight[w];
            by_input[i] += gradient[o] * weight[w];
            by_weight[w] += gradient[o] * x[i];
        });
        // Shown where it fails.
        eprintln!("{case:?}");
        for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
            let (x, weight, gradient) = (
                tensor::<B, 4>(&x, case.input(), dtype),
                tensor::<B, 4>(&weight, case.weight(), dtype),
                tensor::<B, 4>(&gradient, case.output(), dtype),
            );
            let found = convolution(x.clone(), weight.clone(), case.window);
            assert_eq!(found.dims(), case.output(), "{case:?}");
            assert_near(&to_vec(&found), &y, tolerance);
            let [found_input, found_weight] =
                convolution_gradients(x.clone(), weight.clone(), gradient.clone(), case.window);
            assert_near(&to_vec(&found_input), &by_input, tolerance);
            assert_near(&to_vec(&found_weight), &by_weight, tolerance);
            let found = convolution_weight_gradient(x, gradient.clone(), case.window);
            assert_eq!(found.dims(), case.weight(), "{case:?}");
            assert_near(&to_vec(&found), &by_weight, tolerance);
            let found = convolution_input_gradient(gradient, weight, case.window, case.sides);
            assert_eq!(found.dims(), case.input(), "{case:?}");
            assert_near(&to_vec(&found), &by_input, tolerance);
        }
    }
}
