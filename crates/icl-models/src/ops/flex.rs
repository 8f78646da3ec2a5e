//! The operators on the default CPU backend, without any tensor between.
//!
//! Rows are visited in order, by the thread that calls: results do not depend on threads.

use burn::tensor::{Bytes, DType, Int, Shape, Tensor, TensorPrimitive};
use burn_flex::{Flex, FlexTensor, Layout};
use icl_core::graph::{Csr, SparseMatrix};
use pulp::Arch;

use super::{GraphBackend, NormActivation, NormActivationSaved, norm_activation, sparse_product};

impl GraphBackend for Flex {
    fn sparse_product(matrix: &SparseMatrix<Self>, x: Tensor<Self, 2>) -> Tensor<Self, 2> {
        if x.dtype() == DType::F32 {
            sparse_rows(&matrix.forward, x)
        } else {
            sparse_product::composed(&matrix.forward, x)
        }
    }

    fn norm_activation(
        options: NormActivation,
        x: Tensor<Self, 2>,
        mask: Option<Tensor<Self, 2>>,
    ) -> (Tensor<Self, 2>, NormActivationSaved<Self>) {
        if x.dtype() == DType::F32 {
            forward(options, x, mask)
        } else {
            norm_activation::composed(options, x, mask)
        }
    }

    fn norm_activation_backward(
        options: NormActivation,
        saved: NormActivationSaved<Self>,
        gradient: Tensor<Self, 2>,
    ) -> Tensor<Self, 2> {
        if gradient.dtype() == DType::F32 {
            backward(options, saved, gradient)
        } else {
            norm_activation::composed_backward(options, saved, gradient)
        }
    }
}

/// Columns that are worked on at once, in registers.
const LANES: usize = 16;
/// The same for what is left: node features are often only a few columns wide.
const NARROW: usize = 4;

fn sparse_rows(matrix: &Csr<Flex>, x: Tensor<Flex, 2>) -> Tensor<Flex, 2> {
    let [_, width] = x.dims();
    let (x, pointers, columns) = (floats(x), ints(&matrix.pointers), ints(&matrix.columns));
    let values = matrix
        .values
        .clone()
        .into_primitive()
        .tensor()
        .to_contiguous();
    let rows = SparseRows {
        pointers: pointers.storage(),
        columns: columns.storage(),
        values: values.storage(),
        x: x.storage(),
        width,
    };
    let mut out = vec![0.0_f32; matrix.n_rows * width];
    vectorised(
        #[inline(always)]
        || {
            let (n_wide, n_narrow) = (width / LANES * LANES, width / NARROW * NARROW);
            for (row, out) in out.chunks_exact_mut(width).enumerate() {
                for first in (0..n_wide).step_by(LANES) {
                    *lanes_mut(out, first) = rows.sum::<LANES>(row, first);
                }
                for first in (n_wide..n_narrow).step_by(NARROW) {
                    *lanes_mut(out, first) = rows.sum::<NARROW>(row, first);
                }
                for first in n_narrow..width {
                    *lanes_mut(out, first) = rows.sum::<1>(row, first);
                }
            }
        },
    );
    tensor(out, [matrix.n_rows, width])
}

struct SparseRows<'a> {
    pointers: &'a [i32],
    columns: &'a [i32],
    values: &'a [f32],
    x: &'a [f32],
    width: usize,
}

impl SparseRows<'_> {
    /// `L` columns of one row of the product, from column `first` on.
    #[inline(always)]
    fn sum<const L: usize>(&self, row: usize, first: usize) -> [f32; L] {
        let entries = self.pointers[row] as usize..self.pointers[row + 1] as usize;
        let mut sum = [0.0; L];
        for (&column, &value) in self.columns[entries.clone()]
            .iter()
            .zip(&self.values[entries])
        {
            let x = lanes::<L>(self.x, column as usize * self.width + first);
            for lane in 0..L {
                sum[lane] += value * x[lane];
            }
        }
        sum
    }
}

fn forward(
    options: NormActivation,
    x: Tensor<Flex, 2>,
    mask: Option<Tensor<Flex, 2>>,
) -> (Tensor<Flex, 2>, NormActivationSaved<Flex>) {
    let [n, width] = x.dims();
    let (input, mask) = (floats(x), mask.map(floats));
    let mut pass = Forward {
        rows: input.storage(),
        mask: mask.as_ref().map(FlexTensor::storage),
        width,
        options,
        out: vec![0.0; n * width],
        mean: vec![0.0; width],
        scale: vec![0.0; width],
    };
    vectorised(
        #[inline(always)]
        || {
            let n_wide = width / LANES * LANES;
            for first in (0..n_wide).step_by(LANES) {
                pass.columns::<LANES>(first);
            }
            for first in n_wide..width {
                pass.columns::<1>(first);
            }
        },
    );
    let (out, mean, scale) = (pass.out, pass.mean, pass.scale);
    let saved = NormActivationSaved {
        mean: tensor(mean, [1, width]),
        scale: tensor(scale, [1, width]),
        input: wrap(input),
        mask: mask.map(wrap),
    };
    (tensor(out, [n, width]), saved)
}

struct Forward<'a> {
    rows: &'a [f32],
    mask: Option<&'a [f32]>,
    width: usize,
    options: NormActivation,
    out: Vec<f32>,
    mean: Vec<f32>,
    scale: Vec<f32>,
}

impl Forward<'_> {
    /// `L` columns from `first` on: their statistics, then their output.
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let n = self.rows.len() / self.width;
        // Shifted by the first row, so that the squares lose no digits to a large mean.
        let shift = *lanes::<L>(self.rows, first);
        let mut sums = ColumnSums::<L>::default();
        for row in 0..n {
            let x = lanes::<L>(self.rows, row * self.width + first);
            let centred: [f32; L] = std::array::from_fn(|lane| x[lane] - shift[lane]);
            sums.add(
                &centred,
                &std::array::from_fn(|lane| centred[lane] * centred[lane]),
            );
        }
        let (offset, square) = sums.means(n);
        let mut mean = [0.0; L];
        let mut scale = [0.0; L];
        for lane in 0..L {
            let variance = (square[lane] - offset[lane] * offset[lane]).max(0.0);
            mean[lane] = (f64::from(shift[lane]) + offset[lane]) as f32;
            scale[lane] = (1.0 / (variance + self.options.epsilon).sqrt()) as f32;
        }
        let slope = self.options.negative_slope as f32;
        for row in 0..n {
            let at = row * self.width + first;
            let x = lanes::<L>(self.rows, at);
            let normal: [f32; L] = std::array::from_fn(|lane| (x[lane] - mean[lane]) * scale[lane]);
            let mut out = normal.map(|x| x * if x > 0.0 { 1.0 } else { slope });
            if let Some(mask) = self.mask {
                let mask = lanes::<L>(mask, at);
                out = std::array::from_fn(|lane| out[lane] * mask[lane]);
            }
            *lanes_mut(&mut self.out, at) = out;
        }
        *lanes_mut(&mut self.mean, first) = mean;
        *lanes_mut(&mut self.scale, first) = scale;
    }
}

fn backward(
    options: NormActivation,
    saved: NormActivationSaved<Flex>,
    gradient: Tensor<Flex, 2>,
) -> Tensor<Flex, 2> {
    let [n, width] = gradient.dims();
    let [input, gradient, mean, scale] =
        [saved.input, gradient, saved.mean, saved.scale].map(floats);
    let mask = saved.mask.map(floats);
    let mut pass = Backward {
        rows: input.storage(),
        gradient: gradient.storage(),
        mask: mask.as_ref().map(FlexTensor::storage),
        mean: mean.storage(),
        scale: scale.storage(),
        width,
        slope: options.negative_slope as f32,
        out: vec![0.0; n * width],
    };
    vectorised(
        #[inline(always)]
        || {
            let n_wide = width / LANES * LANES;
            for first in (0..n_wide).step_by(LANES) {
                pass.columns::<LANES>(first);
            }
            for first in n_wide..width {
                pass.columns::<1>(first);
            }
        },
    );
    let out = pass.out;
    tensor(out, [n, width])
}

struct Backward<'a> {
    rows: &'a [f32],
    gradient: &'a [f32],
    mask: Option<&'a [f32]>,
    mean: &'a [f32],
    scale: &'a [f32],
    width: usize,
    slope: f32,
    out: Vec<f32>,
}

impl Backward<'_> {
    /// `L` columns from `first` on: the gradient by the normalised input, then less its mean and
    /// its projection on that input.
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let n = self.rows.len() / self.width;
        let (mean, scale) = (
            *lanes::<L>(self.mean, first),
            *lanes::<L>(self.scale, first),
        );
        let rows = self.rows;
        let normal = |at| -> [f32; L] {
            let x = lanes::<L>(rows, at);
            std::array::from_fn(|lane| (x[lane] - mean[lane]) * scale[lane])
        };
        let mut sums = ColumnSums::<L>::default();
        for row in 0..n {
            let at = row * self.width + first;
            let normal = normal(at);
            let slope = normal.map(|x| if x > 0.0 { 1.0 } else { self.slope });
            let gradient = lanes::<L>(self.gradient, at);
            let mut out: [f32; L] = std::array::from_fn(|lane| gradient[lane] * slope[lane]);
            if let Some(mask) = self.mask {
                let mask = lanes::<L>(mask, at);
                out = std::array::from_fn(|lane| out[lane] * mask[lane]);
            }
            sums.add(&out, &std::array::from_fn(|lane| out[lane] * normal[lane]));
            *lanes_mut(&mut self.out, at) = out;
        }
        let (sum, projection) = sums.means(n);
        let (sum, projection) = (sum.map(|x| x as f32), projection.map(|x| x as f32));
        for row in 0..n {
            let at = row * self.width + first;
            let normal = normal(at);
            let out = lanes_mut::<L>(&mut self.out, at);
            for lane in 0..L {
                out[lane] = (out[lane] - sum[lane] - normal[lane] * projection[lane]) * scale[lane];
            }
        }
    }
}

/// Two sums of each of `L` columns. Sums over a few rows stay in single precision, which is fast;
/// their totals in double precision lose nothing.
struct ColumnSums<const L: usize> {
    n_rows: usize,
    sums: [[f32; L]; 2],
    totals: [[f64; L]; 2],
}

impl<const L: usize> Default for ColumnSums<L> {
    fn default() -> Self {
        Self {
            n_rows: 0,
            sums: [[0.0; L]; 2],
            totals: [[0.0; L]; 2],
        }
    }
}

impl<const L: usize> ColumnSums<L> {
    /// Rows whose sums stay in single precision.
    const BLOCK: usize = 64;

    #[inline(always)]
    fn add(&mut self, first: &[f32; L], second: &[f32; L]) {
        for lane in 0..L {
            self.sums[0][lane] += first[lane];
            self.sums[1][lane] += second[lane];
        }
        self.n_rows += 1;
        if self.n_rows == Self::BLOCK {
            self.end_block();
        }
    }

    #[inline(always)]
    fn end_block(&mut self) {
        for (total, sum) in self.totals.iter_mut().zip(&mut self.sums) {
            for lane in 0..L {
                total[lane] += f64::from(sum[lane]);
            }
            *sum = [0.0; L];
        }
        self.n_rows = 0;
    }

    #[inline(always)]
    fn means(mut self, n: usize) -> ([f64; L], [f64; L]) {
        self.end_block();
        let [first, second] = self.totals.map(|total| total.map(|sum| sum / n as f64));
        (first, second)
    }
}

/// Runs `kernel`, which must be inlined, compiled for the vector instructions that are found.
fn vectorised<R>(kernel: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(kernel)
}

#[inline(always)]
fn lanes<const L: usize>(values: &[f32], first: usize) -> &[f32; L] {
    values[first..]
        .first_chunk()
        .expect("columns within the row")
}

#[inline(always)]
fn lanes_mut<const L: usize>(values: &mut [f32], first: usize) -> &mut [f32; L] {
    values[first..]
        .first_chunk_mut()
        .expect("columns within the row")
}

fn floats(x: Tensor<Flex, 2>) -> FlexTensor {
    x.into_primitive().tensor().to_contiguous()
}

fn ints(x: &Tensor<Flex, 1, Int>) -> FlexTensor {
    x.clone().cast(DType::I32).into_primitive().to_contiguous()
}

fn tensor(values: Vec<f32>, shape: [usize; 2]) -> Tensor<Flex, 2> {
    wrap(FlexTensor::new(
        Bytes::from_elems(values),
        Layout::contiguous(Shape::new(shape)),
        DType::F32,
    ))
}

fn wrap(x: FlexTensor) -> Tensor<Flex, 2> {
    Tensor::from_primitive(TensorPrimitive::Float(x))
}
