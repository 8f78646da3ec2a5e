//! CubeCL kernels of the operators; the same code runs on WebGPU, Vulkan and CUDA.
//!
//! Each unit writes elements of its own and nothing is added atomically, so results are bitwise
//! reproducible.

use burn::tensor::{DType, Int, Shape, Tensor, TensorPrimitive};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{BoolElement, CubeBackend, CubeRuntime, FloatElement, IntElement};
use cubecl::prelude::*;
use cubecl::{calculate_cube_count_elemwise, tensor_vector_size_parallel};

use super::kernels::{Graph, Kernels};
use super::sparse_matrix::SparseMatrix;
use super::sparse_product::gathered_product;
use crate::backends::HasKernels;

impl<R, F, I, BT> HasKernels<Graph> for CubeBackend<R, F, I, BT>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    fn kernels(dtype: DType) -> &'static Kernels<Self> {
        match dtype {
            DType::F32 => {
                const {
                    &Kernels {
                        sparse_product: Some(rows),
                        ..Kernels::NONE
                    }
                }
            }
            _ => const { &Kernels::NONE },
        }
    }
}

/// Computes A·x. Each unit adds the entries of its row in their order, so the result does not depend
/// on the schedule of units.
fn rows<R, F, I, BT>(
    matrix: &SparseMatrix<CubeBackend<R, F, I, BT>>,
    x: Tensor<CubeBackend<R, F, I, BT>, 2>,
) -> Tensor<CubeBackend<R, F, I, BT>, 2>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    let ([_, width], matrix) = (x.dims(), &matrix.forward);
    if matrix.values.dtype() != DType::F32 {
        return gathered_product(matrix, x);
    }
    let shape = [matrix.n_rows, width];
    // Drivers reject empty buffers and empty grids.
    if shape.contains(&0) || matrix.columns.dims() == [0] {
        return Tensor::zeros(shape, (&x.device(), DType::F32));
    }
    let x = floats(x);
    let client = x.client.clone();
    let output = empty_device_contiguous_dtype(
        client.clone(),
        x.device.clone(),
        Shape::new(shape),
        DType::F32,
    );
    let n_lanes = tensor_vector_size_parallel(
        client.io_optimized_vector_sizes(size_of::<f32>()),
        output.meta.shape(),
        output.meta.strides(),
        1,
    );
    let (pointers, columns) = (ints(&matrix.pointers), ints(&matrix.columns));
    let values = into_contiguous(matrix.values.clone().into_primitive().tensor());
    let n_units = matrix.n_rows * (width / n_lanes);
    let cube_dim = CubeDim::new(&client, n_units);
    let addresses = [&pointers, &columns, &values, &x, &output]
        .map(CubeTensor::required_address_type)
        .into_iter()
        .max();
    sparse_rows::launch::<R>(
        &client,
        calculate_cube_count_elemwise(&client, n_units, cube_dim),
        cube_dim,
        addresses.unwrap_or_default(),
        n_lanes,
        pointers.into_array_arg(),
        columns.into_array_arg(),
        values.into_array_arg(),
        x.into_array_arg(),
        output.clone().into_array_arg(),
        width / n_lanes,
    );
    wrap(output)
}

/// Computes `N` columns of one row of the product; a row has `n_groups` such groups of columns.
#[cube(launch, address_type = "dynamic")]
fn sparse_rows<N: Size>(
    pointers: &Array<i32>,
    columns: &Array<i32>,
    values: &Array<f32>,
    x: &Array<Vector<f32, N>>,
    output: &mut Array<Vector<f32, N>>,
    n_groups: usize,
) {
    if ABSOLUTE_POS >= output.len() {
        terminate!();
    }
    let row = ABSOLUTE_POS / n_groups;
    let group = ABSOLUTE_POS % n_groups;
    let begin = pointers[row] as usize;
    let end = pointers[row + 1] as usize;
    let mut sum = Vector::<f32, N>::new(0.0);
    for entry in begin..end {
        let value = Vector::<f32, N>::new(values[entry]);
        sum += value * x[columns[entry] as usize * n_groups + group];
    }
    output[ABSOLUTE_POS] = sum;
}

fn ints<R, F, I, BT>(x: &Tensor<CubeBackend<R, F, I, BT>, 1, Int>) -> CubeTensor<R>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    into_contiguous(x.clone().cast(DType::I32).into_primitive())
}

fn floats<R, F, I, BT>(x: Tensor<CubeBackend<R, F, I, BT>, 2>) -> CubeTensor<R>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    into_contiguous(x.into_primitive().tensor())
}

fn wrap<R, F, I, BT>(x: CubeTensor<R>) -> Tensor<CubeBackend<R, F, I, BT>, 2>
where
    R: CubeRuntime,
    F: FloatElement,
    I: IntElement,
    BT: BoolElement,
{
    Tensor::from_primitive(TensorPrimitive::Float(x))
}
