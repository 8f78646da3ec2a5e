//! The operators on the default CPU backend, in one pass over the rows each.
//!
//! Rows are visited in order and each is written by one thread: results do not depend on threads.

use burn::tensor::{Bytes, DType, Int, Shape, Tensor, TensorPrimitive};
use burn_flex::{Flex, FlexTensor, Layout};
use icl_core::graph::{Csr, SparseMatrix};

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

fn sparse_rows(matrix: &Csr<Flex>, x: Tensor<Flex, 2>) -> Tensor<Flex, 2> {
    let [_, width] = x.dims();
    let (x, pointers, columns) = (floats(x), ints(&matrix.pointers), ints(&matrix.columns));
    let values = matrix
        .values
        .clone()
        .into_primitive()
        .tensor()
        .to_contiguous();
    let (x, values) = (x.storage::<f32>(), values.storage::<f32>());
    let (pointers, columns) = (pointers.storage::<i32>(), columns.storage::<i32>());
    let mut out = vec![0.0_f32; matrix.n_rows * width];
    for (bounds, out) in pointers.windows(2).zip(out.chunks_exact_mut(width.max(1))) {
        let entries = bounds[0] as usize..bounds[1] as usize;
        for (&column, &value) in columns[entries.clone()].iter().zip(&values[entries]) {
            let from = column as usize * width;
            for (out, x) in out.iter_mut().zip(&x[from..from + width]) {
                *out += value * x;
            }
        }
    }
    tensor(out, [matrix.n_rows, width])
}

fn forward(
    options: NormActivation,
    x: Tensor<Flex, 2>,
    mask: Option<Tensor<Flex, 2>>,
) -> (Tensor<Flex, 2>, NormActivationSaved<Flex>) {
    let [n, width] = x.dims();
    let input = floats(x);
    let rows = input.storage::<f32>();
    let count = n as f64;
    // Shifted by the first row, so that the squares lose no digits to a large mean.
    let shift: Vec<f32> = rows[..width].to_vec();
    let mut sum = vec![0.0_f32; width];
    let mut square = vec![0.0_f32; width];
    let mut total = vec![[0.0_f64; 2]; width];
    // Partial sums of a few rows stay in f32, which is fast; their totals in f64 lose nothing.
    for block in rows.chunks(64 * width) {
        sum.fill(0.0);
        square.fill(0.0);
        for row in block.chunks_exact(width) {
            for c in 0..width {
                let centred = row[c] - shift[c];
                sum[c] += centred;
                square[c] += centred * centred;
            }
        }
        for c in 0..width {
            total[c][0] += f64::from(sum[c]);
            total[c][1] += f64::from(square[c]);
        }
    }
    let mut mean = vec![0.0_f32; width];
    let mut scale = vec![0.0_f32; width];
    for c in 0..width {
        let offset = total[c][0] / count;
        let variance = (total[c][1] / count - offset * offset).max(0.0);
        mean[c] = (f64::from(shift[c]) + offset) as f32;
        scale[c] = (1.0 / (variance + options.epsilon).sqrt()) as f32;
    }
    let slope = options.negative_slope as f32;
    let mut out = vec![0.0_f32; rows.len()];
    for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        for c in 0..width {
            let normal = (row[c] - mean[c]) * scale[c];
            out[c] = if normal > 0.0 { normal } else { slope * normal };
        }
    }
    let mask = mask.map(floats);
    if let Some(mask) = &mask {
        for (out, mask) in out.iter_mut().zip(mask.storage::<f32>()) {
            *out *= mask;
        }
    }
    let saved = NormActivationSaved {
        mean: tensor(mean, [1, width]),
        scale: tensor(scale, [1, width]),
        input: wrap(input),
        mask: mask.map(wrap),
    };
    (tensor(out, [n, width]), saved)
}

fn backward(
    options: NormActivation,
    saved: NormActivationSaved<Flex>,
    gradient: Tensor<Flex, 2>,
) -> Tensor<Flex, 2> {
    let [n, width] = gradient.dims();
    let [input, gradient, mean, scale] =
        [saved.input, gradient, saved.mean, saved.scale].map(floats);
    let (rows, gradient) = (input.storage::<f32>(), gradient.storage::<f32>());
    let (mean, scale) = (mean.storage::<f32>(), scale.storage::<f32>());
    let slope = options.negative_slope as f32;
    // The gradient by the normalised input, with its mean and its projection on that input.
    let mut out = vec![0.0_f32; rows.len()];
    match saved.mask.map(floats) {
        Some(mask) => {
            let mask = mask.storage::<f32>();
            for ((out, gradient), mask) in out.iter_mut().zip(gradient).zip(mask) {
                *out = gradient * mask;
            }
        }
        None => out.copy_from_slice(gradient),
    }
    let mut sum = vec![0.0_f32; width];
    let mut projection = vec![0.0_f32; width];
    let mut total = vec![[0.0_f64; 2]; width];
    for (block, out) in rows.chunks(64 * width).zip(out.chunks_mut(64 * width)) {
        sum.fill(0.0);
        projection.fill(0.0);
        for (row, out) in block.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            for c in 0..width {
                let normal = (row[c] - mean[c]) * scale[c];
                out[c] *= if normal > 0.0 { 1.0 } else { slope };
                sum[c] += out[c];
                projection[c] += out[c] * normal;
            }
        }
        for c in 0..width {
            total[c][0] += f64::from(sum[c]);
            total[c][1] += f64::from(projection[c]);
        }
    }
    for c in 0..width {
        sum[c] = (total[c][0] / n as f64) as f32;
        projection[c] = (total[c][1] / n as f64) as f32;
    }
    for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        for c in 0..width {
            let normal = (row[c] - mean[c]) * scale[c];
            out[c] = (out[c] - sum[c] - normal * projection[c]) * scale[c];
        }
    }
    tensor(out, [n, width])
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
