//! Similarities in host memory, some queries at a time, so that a pass over them finds them in the cache.

use pulp::Simd;
use rayon::prelude::*;

use crate::tiles::{Tiled, multiply_transposed, row, tiled, zeros};

/// Number of queries whose similarities are computed at once.
pub(super) const ROWS: usize = 48;

/// The number of columns of a strip is a multiple of this number. The width of every tile divides it, so that a strip
/// consists of whole tiles.
pub(super) const STRIP: usize = 256;

/// Keys as the right factor of products.
pub(super) struct PackedKeys {
    /// Panels of as many keys as a tile has columns, term after term. Missing rows are 0.
    panels: Vec<f32>,
    n_rows: usize,
    width: usize,
}

impl PackedKeys {
    /// Packs rows of this width.
    pub(super) fn new(rows: &[f32], width: usize) -> Self {
        Self {
            panels: tiled(Packing { rows, width }),
            n_rows: rows.len() / width,
            width,
        }
    }

    /// Computes the products of some queries with all keys. They do not depend on what other queries there are.
    pub(super) fn similarities(&self, queries: &[f32], out: &mut [f32]) {
        let n_columns = self.n_rows;
        self.by_strips(queries, n_columns, out, |_, _, _| {});
    }

    /// Computes the same products some columns at a time, `strip` of them, a multiple of [`STRIP`] or all. Gives the
    /// products of each query to `each` while they are in the cache, with the index of the query and that of the first
    /// column. `buffer` holds a strip of all queries.
    #[inline(always)]
    pub(super) fn by_strips(
        &self,
        queries: &[f32],
        strip: usize,
        buffer: &mut [f32],
        each: impl FnMut(usize, usize, &mut [f32]),
    ) {
        let keys = self;
        tiled(Product {
            queries,
            keys,
            strip,
            buffer,
            each,
        });
    }
}

/// The work of packing rows.
struct Packing<'a> {
    rows: &'a [f32],
    width: usize,
}

impl Tiled for Packing<'_> {
    type Output = Vec<f32>;

    fn run<S: Simd, const MR: usize, const NR: usize>(self, _: S) -> Vec<f32> {
        let size = NR * self.width;
        let mut panels = vec![0.0; (self.rows.len() / self.width).div_ceil(NR) * size];
        panels
            .par_chunks_exact_mut(size)
            .zip(self.rows.par_chunks(size))
            .for_each(|(panel, rows)| pack::<NR>(rows, self.width, panel));
        panels
    }
}

/// Packs up to `R` rows, term after term.
#[inline(always)]
fn pack<const R: usize>(rows: &[f32], width: usize, packed: &mut [f32]) {
    let (packed, _) = packed.as_chunks_mut::<R>();
    for (lane, row) in rows.chunks_exact(width).enumerate() {
        for (term, value) in packed.iter_mut().zip(row) {
            term[lane] = *value;
        }
    }
}

/// The work of multiplying some queries with packed keys.
struct Product<'a, F> {
    queries: &'a [f32],
    keys: &'a PackedKeys,
    /// Number of columns at a time.
    strip: usize,
    buffer: &'a mut [f32],
    each: F,
}

impl<F: FnMut(usize, usize, &mut [f32])> Tiled for Product<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const MR: usize, const NR: usize>(mut self, simd: S) {
        let PackedKeys {
            panels,
            n_rows: n_columns,
            width,
        } = self.keys;
        let (n_columns, width) = (*n_columns, *width);
        let n_rows = self.queries.len() / width;
        let mut left = vec![0.0; n_rows.div_ceil(MR) * MR * width];
        let rows = self.queries.chunks(MR * width);
        for (left, rows) in left.chunks_exact_mut(MR * width).zip(rows) {
            pack::<MR>(rows, width, left);
        }
        let (left, _) = left.as_chunks::<MR>();
        let (panels, _) = panels.as_chunks::<NR>();
        let strips = panels.chunks(self.strip.div_ceil(NR) * width);
        for (panels, first_column) in strips.zip((0..n_columns).step_by(self.strip)) {
            let n_columns = self.strip.min(n_columns - first_column);
            for (panel, column) in panels.chunks_exact(width).zip((0..n_columns).step_by(NR)) {
                let n_lanes = NR.min(n_columns - column);
                for (left, first) in left.chunks_exact(width).zip((0..n_rows).step_by(MR)) {
                    let tile = multiply_transposed(simd, zeros::<S, MR>(simd), left, panel);
                    for (at, tile) in (first..n_rows).zip(tile) {
                        let values = row::<S, NR>(tile);
                        let out = &mut self.buffer[at * n_columns + column..];
                        match out.first_chunk_mut() {
                            Some(out) if n_lanes == NR => *out = values,
                            _ => out[..n_lanes].copy_from_slice(&values[..n_lanes]),
                        }
                    }
                }
            }
            let rows = self.buffer.chunks_exact_mut(n_columns).take(n_rows);
            for (row, products) in rows.enumerate() {
                (self.each)(row, first_column, products);
            }
        }
    }
}
