//! Products of small matrices whose result is kept in vector registers: what the CPU kernels are made of.
//!
//! A kernel is a [`Tiled`] work, which [`tiled`] runs with the vector instructions of the processor at hand. It
//! multiplies factors that it has packed, tile after tile; the test below is a small one.

use pulp::{Arch, Simd, WithSimd};

/// Number of terms of a sum that are packed together.
pub const DEPTH: usize = 16;
/// Number of vectors in a row of a tile.
const VECTORS: usize = 2;

/// `DEPTH` terms of the left factor for each of `MR` rows of a tile.
pub type Left<const MR: usize> = [[f32; DEPTH]; MR];

/// `DEPTH` terms of the right factor, each `NR` columns wide.
pub type Right<const NR: usize> = [[f32; NR]; DEPTH];

/// Splits `numbers` into matrices of `C` columns and `R` rows each.
#[inline(always)]
pub fn matrices<const C: usize, const R: usize>(numbers: &[f32]) -> &[[[f32; C]; R]] {
    numbers.as_chunks().0.as_chunks().0
}

/// Splits `numbers` into matrices of `C` columns and `R` rows each, to be written.
#[inline(always)]
pub fn matrices_mut<const C: usize, const R: usize>(numbers: &mut [f32]) -> &mut [[[f32; C]; R]] {
    numbers.as_chunks_mut().0.as_chunks_mut().0
}

/// Work on tiles of `MR` rows and `NR` columns.
pub trait Tiled {
    /// Result of the work.
    type Output;

    /// Does the work, in tiles that fill the vector registers of `simd`.
    fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) -> Self::Output;
}

/// Runs `work` with the tiles that suit the vector instructions of this processor.
pub fn tiled<W: Tiled>(work: W) -> W::Output {
    Arch::new().dispatch(Dispatch(work))
}

struct Dispatch<W>(W);

impl<W: Tiled> WithSimd for Dispatch<W> {
    type Output = W::Output;

    // A tile takes 16 of the 32 registers of AVX-512, or 12 of the 16 of AVX; factors are in the rest.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> W::Output {
        match S::F32_LANES {
            16 => self.0.run::<S, 8, 32>(simd),
            8 => self.0.run::<S, 6, 16>(simd),
            4 => self.0.run::<S, 6, 8>(simd),
            _ => self.0.run::<S, 4, 2>(simd),
        }
    }
}

/// A tile in registers.
pub type Tile<S, const MR: usize> = [[<S as Simd>::f32s; VECTORS]; MR];

/// Returns a tile of zeros.
#[inline(always)]
pub fn zeros<S: Simd, const MR: usize>(simd: S) -> Tile<S, MR> {
    [[simd.splat_f32s(0.0); VECTORS]; MR]
}

/// Returns `tile` + left·right, with the terms of the left factor side by side.
#[inline(always)]
pub fn multiply<S: Simd, const MR: usize, const NR: usize>(
    simd: S,
    mut tile: Tile<S, MR>,
    left: &[Left<MR>],
    right: &[Right<NR>],
) -> Tile<S, MR> {
    for (left, right) in left.iter().zip(right) {
        for term in 0..DEPTH {
            let right = vectors::<S, NR>(&right[term]);
            for row in 0..MR {
                let left = simd.splat_f32s(left[row][term]);
                for vector in 0..VECTORS {
                    tile[row][vector] = simd.mul_add_e_f32s(left, right[vector], tile[row][vector]);
                }
            }
        }
    }
    tile
}

/// Returns `tile` + leftᵀ·right, with the rows of each term of the left factor side by side.
#[inline(always)]
pub fn multiply_transposed<S: Simd, const MR: usize, const NR: usize>(
    simd: S,
    mut tile: Tile<S, MR>,
    left: &[[f32; MR]],
    right: &[[f32; NR]],
) -> Tile<S, MR> {
    for (left, right) in left.iter().zip(right) {
        let right = vectors::<S, NR>(right);
        for row in 0..MR {
            let left = simd.splat_f32s(left[row]);
            for vector in 0..VECTORS {
                tile[row][vector] = simd.mul_add_e_f32s(left, right[vector], tile[row][vector]);
            }
        }
    }
    tile
}

/// Returns a row of a tile as numbers.
#[inline(always)]
pub fn row<S: Simd, const NR: usize>(row: [S::f32s; VECTORS]) -> [f32; NR] {
    let mut numbers = [0.0; NR];
    let (vectors, _) = S::as_mut_simd_f32s(&mut numbers);
    vectors.copy_from_slice(&row);
    numbers
}

#[inline(always)]
fn vectors<S: Simd, const NR: usize>(numbers: &[f32; NR]) -> [S::f32s; VECTORS] {
    let (vectors, _) = S::as_simd_f32s(numbers);
    std::array::from_fn(|vector| vectors[vector])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The products of all pairs of two short columns.
    struct Outer([f32; 2], [f32; 2]);

    impl Tiled for Outer {
        type Output = [[f32; 2]; 2];

        #[inline(always)]
        fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) -> [[f32; 2]; 2] {
            let column = |of: [f32; 2], at: usize| of.get(at).copied().unwrap_or(0.0);
            let left: [[f32; MR]; 1] = [std::array::from_fn(|at| column(self.0, at))];
            let right: [[f32; NR]; 1] = [std::array::from_fn(|at| column(self.1, at))];
            let tile = multiply_transposed(simd, zeros::<S, MR>(simd), &left, &right);
            [0, 1].map(|at| {
                let row = row::<S, NR>(tile[at]);
                row[..2].try_into().expect("two columns")
            })
        }
    }

    #[test]
    fn a_tile_is_an_outer_product() {
        let found = tiled(Outer([1.0, 2.0], [3.0, 4.0]));
        assert_eq!(found, [[3.0, 4.0], [6.0, 8.0]]);
    }
}
