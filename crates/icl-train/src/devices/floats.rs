//! Values of tensors in host memory, in their own precision, for exchange between members.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Element, Tensor, TensorData};
use icl_core::{Error, Gathered, Group};

/// Precision in which members exchange values: double for tensors of double precision, single for all others.
pub(crate) trait Float: Element {
    /// Gathers values, see [`Group::gather`].
    fn gather(group: &dyn Group, own: &[Self]) -> Result<Gathered<Self>, Error>;

    /// Sums values, see [`Group::sum`].
    fn sum(group: &dyn Group, values: &mut [Self]) -> Result<(), Error>;
}

impl Float for f32 {
    fn gather(group: &dyn Group, own: &[Self]) -> Result<Gathered<Self>, Error> {
        group.gather(own)
    }

    fn sum(group: &dyn Group, values: &mut [Self]) -> Result<(), Error> {
        group.sum(values)
    }
}

impl Float for f64 {
    fn gather(group: &dyn Group, own: &[Self]) -> Result<Gathered<Self>, Error> {
        group.gather_f64(own)
    }

    fn sum(group: &dyn Group, values: &mut [Self]) -> Result<(), Error> {
        group.sum_f64(values)
    }
}

/// Returns the elements of a float tensor, row after row.
pub(crate) fn elements<F: Float, B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<F> {
    let values = tensor.into_data().convert::<F>().into_vec();
    values.expect("float data converts to a float")
}

/// Returns the sum of the tensors of all members, which have one shape and precision. It has the same bits at every member.
pub(crate) fn summed_elements<B: Backend, const D: usize>(
    group: &dyn Group,
    own: Tensor<B, D>,
) -> Result<Tensor<B, D>, Error> {
    match own.dtype() {
        DType::F64 => sum_in::<f64, B, D>(group, own),
        _ => sum_in::<f32, B, D>(group, own),
    }
}

fn sum_in<F: Float, B: Backend, const D: usize>(
    group: &dyn Group,
    own: Tensor<B, D>,
) -> Result<Tensor<B, D>, Error> {
    let (shape, device, dtype) = (own.shape(), own.device(), own.dtype());
    let mut values = elements::<F, B, D>(own);
    F::sum(group, &mut values)?;
    Ok(Tensor::from_data(
        TensorData::new(values, shape),
        (&device, dtype),
    ))
}

/// Gathers rows `[m, d]` that members hold, and returns all of them as `[n, d]` on `device`: row i of a member goes to
/// `places[member][i]`. A member without rows gives `None`; one member at least has some.
pub(crate) fn gathered_rows<B: Backend>(
    group: &dyn Group,
    own: Option<Tensor<B, 2>>,
    places: &[Vec<usize>],
    device: &B::Device,
) -> Result<Tensor<B, 2>, Error> {
    // A member without rows learns the precision from the others.
    let dtype = own.as_ref().map_or(DType::F32, Tensor::dtype);
    match group.any(dtype == DType::F64)? {
        true => rows_in::<f64, B>(group, own, places, (device, DType::F64)),
        false => rows_in::<f32, B>(group, own, places, (device, dtype)),
    }
}

fn rows_in<F: Float, B: Backend>(
    group: &dyn Group,
    own: Option<Tensor<B, 2>>,
    places: &[Vec<usize>],
    (device, dtype): (&B::Device, DType),
) -> Result<Tensor<B, 2>, Error> {
    let own = own.map(elements::<F, B, 2>).unwrap_or_default();
    let gathered = F::gather(group, &own)?;
    let n: usize = places.iter().map(Vec::len).sum();
    let width = gathered.values().len() / n;
    let mut rows = vec![F::from_elem(0.0); n * width];
    for (rank, places) in places.iter().enumerate() {
        for (row, &place) in gathered.of(rank).chunks(width).zip(places) {
            rows[place * width..][..width].copy_from_slice(row);
        }
    }
    Ok(Tensor::from_data(
        TensorData::new(rows, [n, width]),
        (device, dtype),
    ))
}
