//! The product of a sparse and a dense matrix in one pass over the rows, which threads share.

use burn::tensor::{DType, Int, Tensor};
use burn_flex::{Flex, FlexTensor};

use super::super::sparse_matrix::{Csr, SparseMatrix};
use super::parts::over_parts;
use crate::flex::columns::{LANES, lanes, lanes_mut, vectorised};
use crate::flex::floats::Floats;
use crate::flex::memory::result;

/// Maximum number of columns at once: the few entries of a row are read once for all of them.
const WIDE: usize = 2 * LANES;

/// Number of columns at once of the rest of [`LANES`]: node features are often only a few columns wide.
const NARROW: usize = 4;

/// Number of products in a part, small enough that no thread is left alone with the longest rows.
const PART: usize = 1 << 15;

/// Computes A·x. Each row is summed by one thread in the order of its entries.
pub(super) fn product(matrix: &SparseMatrix<Flex>, x: Tensor<Flex, 2>) -> Tensor<Flex, 2> {
    let ([_, width], matrix) = (x.dims(), &matrix.forward);
    let factors = Factors::new(matrix, x);
    let rows = factors.rows();
    let n_elements = rows.columns.len() * width;
    let n_parts = n_elements.div_ceil(PART).max(1);
    let part_rows = matrix.n_rows.div_ceil(n_parts).max(1);
    result([matrix.n_rows, width], |out| {
        over_parts(out, part_rows * width, n_elements, |part, out| {
            rows.fill(part * part_rows, out);
        });
    })
}

/// Both factors of a product, in this process's memory.
pub(super) struct Factors {
    pointers: FlexTensor,
    columns: FlexTensor,
    values: Floats,
    x: Floats,
    width: usize,
}

impl Factors {
    pub(super) fn new(matrix: &Csr<Flex>, x: Tensor<Flex, 2>) -> Self {
        let [_, width] = x.dims();
        Self {
            pointers: ints(&matrix.pointers),
            columns: ints(&matrix.columns),
            values: Floats::of(matrix.values.clone()),
            x: Floats::of(x),
            width,
        }
    }

    pub(super) fn rows(&self) -> SparseRows<'_> {
        SparseRows {
            pointers: self.pointers.storage(),
            columns: self.columns.storage(),
            values: &self.values,
            x: &self.x,
            width: self.width,
        }
    }
}

/// The rows of a product.
#[derive(Clone, Copy)]
pub(super) struct SparseRows<'a> {
    pointers: &'a [i32],
    pub(super) columns: &'a [i32],
    values: &'a [f32],
    pub(super) x: &'a [f32],
    width: usize,
}

impl SparseRows<'_> {
    /// Writes the rows of the product from `first_row` on, as many as `out` holds.
    pub(super) fn fill(&self, first_row: usize, out: &mut [f32]) {
        let width = self.width;
        vectorised(
            #[inline(always)]
            || {
                let [n_widest, n_wide, n_narrow] =
                    [WIDE, LANES, NARROW].map(|lanes| width / lanes * lanes);
                for (row, out) in (first_row..).zip(out.chunks_exact_mut(width)) {
                    for first in (0..n_widest).step_by(WIDE) {
                        *lanes_mut(out, first) = self.sum::<WIDE>(row, first);
                    }
                    for first in (n_widest..n_wide).step_by(LANES) {
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

    /// Computes `L` columns of one row of the product, from column `first` on.
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
