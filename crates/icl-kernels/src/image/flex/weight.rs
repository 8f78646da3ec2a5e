//! The weight of a convolution, packed for products with patches.

use std::ops::Range;

use rayon::prelude::*;

use super::patches::PatchLayout;
use crate::tiles::{DEPTH, Right, matrices_mut};

/// A weight `[c_out, c_in, size, size]` as the right factor of a product with patches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight<'a> {
    pub values: &'a [f32],
    pub c_out: usize,
    pub c_in: usize,
    /// Whether it multiplies patches of the output, for the gradient by the input.
    pub is_transposed: bool,
}

impl Weight<'_> {
    /// Number of columns of the factor.
    pub(super) fn width(self) -> usize {
        if self.is_transposed {
            self.c_in
        } else {
            self.c_out
        }
    }

    /// Number of terms of a column for each tap.
    pub(super) fn depth(self) -> usize {
        if self.is_transposed {
            self.c_out
        } else {
            self.c_in
        }
    }

    /// Number of values of the factor in panels of `NR` columns.
    pub(super) fn packed_length<const NR: usize>(self, layout: PatchLayout) -> usize {
        self.width().div_ceil(NR) * layout.n_groups() * layout.packs() * DEPTH * NR
    }

    /// Packs the factor in panels of `NR` columns, each group after group. Missing columns and terms
    /// are 0.
    pub(super) fn pack<const NR: usize>(self, layout: PatchLayout, panels: &mut [f32]) {
        panels
            .par_chunks_exact_mut(layout.n_groups() * layout.packs() * DEPTH * NR)
            .zip((0..self.width()).into_par_iter().step_by(NR))
            .for_each(|(panel, first)| {
                let panel = matrices_mut(panel);
                let columns = first..self.width().min(first + NR);
                // A number of taps known at compile time is twice as fast; most convolutions have it.
                match layout.n_taps() {
                    1 => self.pack_panel::<NR, 1>(layout, columns, panel),
                    9 => self.pack_panel::<NR, 9>(layout, columns, panel),
                    _ => self.pack_any(layout, columns, panel),
                }
            });
    }

    fn pack_panel<const NR: usize, const TAPS: usize>(
        self,
        layout: PatchLayout,
        columns: Range<usize>,
        panel: &mut [Right<NR>],
    ) {
        if !layout.is_split() || columns.len() < NR {
            self.pack_any(layout, columns, panel);
        } else if self.is_transposed {
            self.pack_columns::<NR, TAPS>(layout, columns, panel);
        } else {
            self.pack_rows::<NR, TAPS>(layout, columns, panel);
        }
    }

    /// Packs columns that are rows of the weight, one pack of terms at a time for the cache's sake.
    fn pack_rows<const NR: usize, const TAPS: usize>(
        self,
        layout: PatchLayout,
        columns: Range<usize>,
        panel: &mut [Right<NR>],
    ) {
        let packs = layout.packs();
        let (values, _) = self.values.as_chunks::<TAPS>();
        for pack in 0..packs {
            for (lane, column) in columns.clone().enumerate() {
                let from = column * self.c_in + pack * DEPTH;
                let values = values[from..].first_chunk::<DEPTH>();
                let values = values.expect("as many channels as the packs hold");
                for tap in 0..TAPS {
                    let panel = &mut panel[tap * packs + pack];
                    for term in 0..DEPTH {
                        panel[term][lane] = values[term][tap];
                    }
                }
            }
        }
    }

    /// Packs terms that are rows of the weight.
    fn pack_columns<const NR: usize, const TAPS: usize>(
        self,
        layout: PatchLayout,
        columns: Range<usize>,
        panel: &mut [Right<NR>],
    ) {
        let packs = layout.packs();
        let (values, _) = self.values.as_chunks::<TAPS>();
        for row in 0..self.c_out {
            let values = values[row * self.c_in + columns.start..].first_chunk::<NR>();
            let values = values.expect("as many channels as columns");
            for tap in 0..TAPS {
                let panel = &mut panel[tap * packs + row / DEPTH][row % DEPTH];
                for lane in 0..NR {
                    panel[lane] = values[lane][tap];
                }
            }
        }
    }

    fn pack_any<const NR: usize>(
        self,
        layout: PatchLayout,
        columns: Range<usize>,
        panel: &mut [Right<NR>],
    ) {
        panel.fill([[0.0; NR]; DEPTH]);
        for group in 0..layout.n_groups() {
            for at in 0..layout.depth() {
                let [tap, channel] = layout.tap_and_channel(group, at);
                let panel = &mut panel[group * layout.packs() + at / DEPTH][at % DEPTH];
                for (value, column) in panel.iter_mut().zip(columns.clone()) {
                    let [c_out, c_in] = if self.is_transposed {
                        [channel, column]
                    } else {
                        [column, channel]
                    };
                    *value = self.values[(c_out * self.c_in + c_in) * layout.n_taps() + tap];
                }
            }
        }
    }
}
