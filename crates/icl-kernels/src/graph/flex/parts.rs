//! Parts of rows, which threads share, and sums of columns over them.

use rayon::prelude::*;

use crate::flex::columns::ColumnSums;

/// Number of elements from which the threads of the pool share the work that one of them has, as in training
/// ([`beside_kernels`](crate::beside_kernels)): it works on while it wakes others. Measured on two cores, training
/// steps on 32 graphs took 0.85 of the time that they took with 2¹⁸.
const PARALLEL: usize = 1 << 16;

/// Number of elements from which the pool works for a thread outside, which sleeps meanwhile. One thread takes 25 µs
/// for so many of a sparse product and 80 µs of a normalisation; waking others costs about 20 µs. Measured on two
/// cores: a sparse product of 190,000 elements took 18 µs on one thread and 36 µs when shared, one of 440,000 took 81
/// µs and 56 µs.
const PARALLEL_FROM_OUTSIDE: usize = 1 << 18;

/// Returns whether threads share work on so many elements.
fn is_shared(n_elements: usize) -> bool {
    n_elements
        >= match rayon::current_thread_index() {
            Some(_) => PARALLEL,
            None => PARALLEL_FROM_OUTSIDE,
        }
}

/// Calls `work` with the index and the elements of each part of `out` and returns its results in the
/// order of the parts. Every part but the last has `length` elements, whatever the number of threads;
/// threads share the parts if `n_elements`, the amount of work, is large.
pub(super) fn over_parts<T: Send>(
    out: &mut [f32],
    length: usize,
    n_elements: usize,
    work: impl Fn(usize, &mut [f32]) -> T + Sync,
) -> Vec<T> {
    if is_shared(n_elements) {
        let parts = out.par_chunks_mut(length).enumerate();
        parts.map(|(part, out)| work(part, out)).collect()
    } else {
        let parts = out.chunks_mut(length).enumerate();
        parts.map(|(part, out)| work(part, out)).collect()
    }
}

/// Calls `work` with the index of each part and returns its results in the order of the parts.
pub(super) fn sums_of_parts<T: Send>(
    n_parts: usize,
    n_elements: usize,
    work: impl Fn(usize) -> T + Send + Sync,
) -> Vec<T> {
    if is_shared(n_elements) {
        (0..n_parts).into_par_iter().map(work).collect()
    } else {
        (0..n_parts).map(work).collect()
    }
}

/// Two sums for each column over the rows of a part.
pub(super) struct Totals([Vec<f64>; 2]);

impl Totals {
    pub(super) fn new(width: usize) -> Self {
        Self([vec![0.0; width], vec![0.0; width]])
    }

    #[inline(always)]
    pub(super) fn set<const L: usize>(&mut self, first: usize, sums: ColumnSums<L>) {
        for (totals, sums) in self.0.iter_mut().zip(sums.totals()) {
            totals[first..first + L].copy_from_slice(&sums);
        }
    }
}

/// Returns the means over `n` rows of the two sums of each column, added in the order of the parts.
pub(super) fn means(parts: &[Totals], n: usize) -> impl Iterator<Item = [f64; 2]> {
    let width = parts.first().map_or(0, |part| part.0[0].len());
    (0..width).map(move |column| {
        [0, 1].map(|which| {
            let sums = parts.iter().map(|part| part.0[which][column]);
            sums.sum::<f64>() / n as f64
        })
    })
}
