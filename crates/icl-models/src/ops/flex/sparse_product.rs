//! Sparse times dense, one pass over the rows of the matrix, which threads share.

use burn::tensor::{DType, Int, Tensor};
use burn_flex::{Flex, FlexTensor};
use icl_core::graph::Csr;

use super::lanes::{LANES, lanes, lanes_mut, vectorised};
use super::parts::over_parts;
use super::{floats, tensor};

/// Columns at once of what [`LANES`] leaves: node features are often only a few columns wide.
const NARROW: usize = 4;

/// Products that a part is cut for: enough parts that one thread is not left with the fullest rows.
const PART: usize = 1 << 15;

/// A·x. Each row is summed by one thread in the order of its entries.
pub(super) fn rows(matrix: &Csr<Flex>, x: Tensor<Flex, 2>) -> Tensor<Flex, 2> {
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
    let n_elements = columns.storage::<i32>().len() * width;
    let n_parts = n_elements.div_ceil(PART).max(1);
    let part_rows = matrix.n_rows.div_ceil(n_parts).max(1);
    let mut out = vec![0.0_f32; matrix.n_rows * width];
    over_parts(&mut out, part_rows * width, n_elements, |part, out| {
        rows.fill(part * part_rows, out);
    });
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
    /// The rows of the product from `first_row` on, as many as `out` holds.
    fn fill(&self, first_row: usize, out: &mut [f32]) {
        let width = self.width;
        vectorised(
            #[inline(always)]
            || {
                let (n_wide, n_narrow) = (width / LANES * LANES, width / NARROW * NARROW);
                for (row, out) in (first_row..).zip(out.chunks_exact_mut(width)) {
                    for first in (0..n_wide).step_by(LANES) {
                        *lanes_mut(out, first) = self.sum::<LANES>(row, first);
                    }
                    for first in (n_wide..n_narrow).step_by(NARROW) {
                        *lanes_mut(out, first) = self.sum::<NARROW>(row, first);
                    }
                    for first in n_narrow..width {
                        *lanes_mut(out, first) = self.sum::<1>(row, first);
                    }
                }
            },
        );
    }

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

fn ints(x: &Tensor<Flex, 1, Int>) -> FlexTensor {
    x.clone().cast(DType::I32).into_primitive().to_contiguous()
}
