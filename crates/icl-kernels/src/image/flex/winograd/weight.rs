//! The taps of a convolution, transformed and packed as the right factors of its products.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::super::weight::Weight;
use super::transform::{Square, of_taps};
use super::{N_PRODUCTS, N_TAPS};
use crate::tiles::{DEPTH, Right, matrices_mut};

/// Number of values of the right factors: panels of `NR` columns, each with the packs of one product after another.
pub(super) fn packed_length<const NR: usize>(weight: Weight<'_>) -> usize {
    weight.width().div_ceil(NR) * N_PRODUCTS * weight.depth() * NR
}

/// Transforms and packs a weight of 3 x 3 taps, whose terms fill packs. Missing columns are 0.
pub(super) fn pack<S: Simd, const NR: usize>(simd: S, weight: Weight<'_>, panels: &mut [f32]) {
    panels
        .par_chunks_exact_mut(N_PRODUCTS * weight.depth() * NR)
        .enumerate()
        .for_each(|(at, panel)| {
            simd.vectorize(Panel::<NR> {
                weight,
                first: at * NR,
                factors: matrices_mut(panel),
            });
        });
}

/// The factors of `NR` columns.
struct Panel<'a, const NR: usize> {
    weight: Weight<'a>,
    first: usize,
    factors: &'a mut [Right<NR>],
}

impl<const NR: usize> WithSimd for Panel<'_, NR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n_lanes = NR.min(self.weight.width() - self.first);
        let packs = self.weight.depth() / DEPTH;
        let mut taps = [[[0.0; NR]; N_TAPS]; DEPTH];
        for pack in 0..packs {
            self.gather(pack, n_lanes, &mut taps);
            for (term, taps) in taps.iter().enumerate() {
                for vector in 0..NR / S::F32_LANES {
                    let mut square: Square<S, 3> = [[simd.splat_f32s(0.0); 3]; 3];
                    for tap in 0..N_TAPS {
                        square[tap / 3][tap % 3] = S::as_simd_f32s(&taps[tap]).0[vector];
                    }
                    let square = of_taps(simd, &square);
                    for product in 0..N_PRODUCTS {
                        let row = &mut self.factors[product * packs + pack][term];
                        S::as_mut_simd_f32s(row).0[vector] = square[product / 4][product % 4];
                    }
                }
            }
        }
    }
}

impl<const NR: usize> Panel<'_, NR> {
    /// Gathers the taps of a pack of terms. Those of the transposed convolution are in reverse order.
    #[inline(always)]
    fn gather(&self, pack: usize, n_lanes: usize, taps: &mut [[[f32; NR]; N_TAPS]; DEPTH]) {
        let Weight {
            values,
            c_in,
            is_transposed,
            ..
        } = self.weight;
        let (values, _) = values.as_chunks::<N_TAPS>();
        if is_transposed {
            for (term, taps) in taps.iter_mut().enumerate() {
                let from = (pack * DEPTH + term) * c_in + self.first;
                for (lane, values) in values[from..from + n_lanes].iter().enumerate() {
                    for tap in 0..N_TAPS {
                        taps[tap][lane] = values[N_TAPS - 1 - tap];
                    }
                }
            }
        } else {
            for lane in 0..n_lanes {
                let from = (self.first + lane) * c_in + pack * DEPTH;
                for (taps, values) in taps.iter_mut().zip(&values[from..from + DEPTH]) {
                    for tap in 0..N_TAPS {
                        taps[tap][lane] = values[tap];
                    }
                }
            }
        }
    }
}
