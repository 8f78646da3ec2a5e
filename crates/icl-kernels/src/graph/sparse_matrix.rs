//! Sparse matrices in compressed rows, with their transpose for backward passes.

use burn::tensor::{DType, Int, Tensor, TensorData, backend::Backend};

/// A sparse matrix `[n_rows, n_columns]` in compressed rows, on the host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostCsr {
    /// First entry of each row, followed by the number of entries `[n_rows + 1]`.
    pub pointers: Vec<i32>,
    /// Column of each entry `[n_entries]`.
    pub columns: Vec<i32>,
    /// Value of each entry `[n_entries]`.
    pub values: Vec<f32>,
    /// Number of columns of the matrix.
    pub n_columns: usize,
}

impl HostCsr {
    /// Returns the number of rows. `pointers` must not be empty.
    pub fn n_rows(&self) -> usize {
        self.pointers.len() - 1
    }

    /// Asserts that every entry lies within the matrix, which kernels do not check again.
    ///
    /// # Panics
    /// If the pointers do not rise from 0 to the number of entries, a column is not below
    /// `n_columns`, or columns and values are not equally many.
    fn assert_sound(&self) {
        let n_entries = self.columns.len();
        assert_eq!(
            n_entries,
            self.values.len(),
            "a sparse matrix must hold as many columns as values"
        );
        assert!(
            self.pointers.first() == Some(&0)
                && self.pointers.last() == Some(&(n_entries as i32))
                && self.pointers.is_sorted(),
            "the pointers of a sparse matrix must rise from 0 to its {n_entries} entries"
        );
        let n_columns = self.n_columns;
        let outside = self
            .columns
            .iter()
            .find(|&&column| usize::try_from(column).map_or(true, |column| column >= n_columns));
        assert_eq!(
            outside, None,
            "the columns of a sparse matrix must be below {n_columns}"
        );
    }

    /// Returns the transpose. The entries of each row are in the order of their columns.
    pub fn transposed(&self) -> Self {
        let mut pointers = vec![0; self.n_columns + 1];
        for &column in &self.columns {
            pointers[column as usize + 1] += 1;
        }
        for row in 0..self.n_columns {
            pointers[row + 1] += pointers[row];
        }
        let mut next = pointers.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut values = vec![0.0; self.values.len()];
        for row in 0..self.n_rows() {
            for entry in self.pointers[row] as usize..self.pointers[row + 1] as usize {
                let slot = &mut next[self.columns[entry] as usize];
                columns[*slot as usize] = row as i32;
                values[*slot as usize] = self.values[entry];
                *slot += 1;
            }
        }
        Self {
            pointers,
            columns,
            values,
            n_columns: self.n_rows(),
        }
    }
}

/// A sparse matrix in compressed rows, on a device.
///
/// `rows` holds the same information as `pointers`, for backends that multiply by gathering and
/// scattering.
#[derive(Debug, Clone)]
pub struct Csr<B: Backend> {
    /// First entry of each row, followed by the number of entries `[n_rows + 1]`.
    pub pointers: Tensor<B, 1, Int>,
    /// Row of each entry `[n_entries]`.
    pub rows: Tensor<B, 1, Int>,
    /// Column of each entry `[n_entries]`.
    pub columns: Tensor<B, 1, Int>,
    /// Value of each entry `[n_entries]`.
    pub values: Tensor<B, 1>,
    /// Number of rows.
    pub n_rows: usize,
}

impl<B: Backend> Csr<B> {
    fn upload(host: HostCsr, device: &B::Device) -> Self {
        let n_rows = host.n_rows();
        let mut rows = Vec::with_capacity(host.columns.len());
        for row in 0..n_rows {
            let end = host.pointers[row + 1] as usize;
            rows.resize(end, row as i32);
        }
        let int = |data: Vec<i32>| {
            let len = data.len();
            Tensor::from_data(TensorData::new(data, [len]), (device, DType::I32))
        };
        let n_entries = host.values.len();
        Self {
            pointers: int(host.pointers),
            rows: int(rows),
            columns: int(host.columns),
            values: Tensor::from_data(TensorData::new(host.values, [n_entries]), device),
            n_rows,
        }
    }
}

/// A sparse matrix A on a device, with its transpose Aᵀ.
#[derive(Debug, Clone)]
pub struct SparseMatrix<B: Backend> {
    /// A in compressed rows.
    pub forward: Csr<B>,
    /// Aᵀ in compressed rows; the same tensors as `forward` if A is symmetric.
    pub transposed: Csr<B>,
}

impl<B: Backend> SparseMatrix<B> {
    /// Uploads a matrix and its transpose to a device.
    ///
    /// # Panics
    /// If the pointers do not rise from 0 to the number of entries, a column is not below
    /// `n_columns`, or columns and values are not equally many.
    pub fn new(host: HostCsr, device: &B::Device) -> Self {
        host.assert_sound();
        let transposed = Csr::upload(host.transposed(), device);
        Self {
            forward: Csr::upload(host, device),
            transposed,
        }
    }

    /// Exchanges A and Aᵀ. The tensors are not copied.
    pub fn transpose(self) -> Self {
        Self {
            forward: self.transposed,
            transposed: self.forward,
        }
    }

    /// Uploads a symmetric matrix to a device, once for A and Aᵀ.
    ///
    /// The caller guarantees that the matrix is symmetric, which is not checked: with another matrix the
    /// backward pass is wrong.
    ///
    /// # Panics
    /// If [`new`](Self::new) panics, or if the matrix is not square.
    pub fn symmetric(host: HostCsr, device: &B::Device) -> Self {
        host.assert_sound();
        assert_eq!(
            host.n_rows(),
            host.n_columns,
            "a symmetric matrix must be square"
        );
        let forward = Csr::upload(host, device);
        Self {
            transposed: forward.clone(),
            forward,
        }
    }

    /// Returns the number of rows of A.
    pub fn n_rows(&self) -> usize {
        self.forward.n_rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_swaps_rows_and_columns() {
        // [[1, 0, 2],
        //  [0, 3, 4]]
        let matrix = HostCsr {
            pointers: vec![0, 2, 4],
            columns: vec![0, 2, 1, 2],
            values: vec![1.0, 2.0, 3.0, 4.0],
            n_columns: 3,
        };
        let transposed = HostCsr {
            pointers: vec![0, 1, 2, 4],
            columns: vec![0, 1, 0, 1],
            values: vec![1.0, 3.0, 2.0, 4.0],
            n_columns: 2,
        };
        assert_eq!(matrix.transposed(), transposed);
        assert_eq!(transposed.transposed(), matrix);
    }

    fn upload(pointers: &[i32], columns: &[i32], values: &[f32]) {
        let host = HostCsr {
            pointers: pointers.to_vec(),
            columns: columns.to_vec(),
            values: values.to_vec(),
            n_columns: 2,
        };
        SparseMatrix::<crate::testing::TestBackend>::symmetric(host, &Default::default());
    }

    #[test]
    #[should_panic(expected = "the columns of a sparse matrix must be below 2")]
    fn a_column_outside_is_misuse() {
        upload(&[0, 1, 2], &[0, 2], &[1.0, 1.0]);
    }

    #[test]
    #[should_panic(expected = "the columns of a sparse matrix must be below 2")]
    fn a_negative_column_is_misuse() {
        upload(&[0, 1, 2], &[0, -1], &[1.0, 1.0]);
    }

    #[test]
    #[should_panic(expected = "the pointers of a sparse matrix must rise from 0 to its 2 entries")]
    fn pointers_that_fall_are_misuse() {
        upload(&[0, 3, 2], &[0, 1], &[1.0, 1.0]);
    }

    #[test]
    #[should_panic(expected = "as many columns as values")]
    fn entries_without_values_are_misuse() {
        upload(&[0, 1, 2], &[0, 1], &[1.0]);
    }

    #[test]
    #[should_panic(expected = "a symmetric matrix must be square")]
    fn a_symmetric_matrix_is_square() {
        upload(&[0, 2], &[0, 1], &[1.0, 1.0]);
    }
}
