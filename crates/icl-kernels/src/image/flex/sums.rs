//! Sums of products over pixels, and their layout as a weight.

use pulp::Simd;

use super::patches::PatchLayout;
use crate::flex::columns::vectorised;
use crate::tiles::{Tile, row};

/// Layout of sums: the groups of a patch in panels of `NR` numbers, each panel with a row for each
/// channel of the gradient.
#[derive(Debug, Clone, Copy)]
pub(super) struct SumsLayout {
    patches: PatchLayout,
    n_panels: usize,
    rows_per_panel: usize,
    width: usize,
}

impl SumsLayout {
    pub(super) fn new<const MR: usize, const NR: usize>(
        patches: PatchLayout,
        n_channels: usize,
    ) -> Self {
        Self {
            patches,
            n_panels: patches.depth().div_ceil(NR),
            rows_per_panel: n_channels.next_multiple_of(MR),
            width: NR,
        }
    }

    pub(super) fn length(self) -> usize {
        self.patches.n_groups() * self.n_panels * self.rows_per_panel * self.width
    }

    /// Adds the parts `sums` in order, into rows of a weight `[c_out, c_in, size, size]`.
    pub(super) fn total<const NR: usize>(self, sums: &[f32], out: &mut [f32]) {
        vectorised(
            #[inline(always)]
            || match (self.patches.is_split(), self.patches.n_taps()) {
                (true, 1) => self.total_split::<NR, 1>(sums, out),
                (true, 9) => self.total_split::<NR, 9>(sums, out),
                _ => self.total_any::<NR>(sums, out),
            },
        );
    }

    /// Numbers of taps that are known at compile time are rearranged in registers.
    #[inline(always)]
    fn total_split<const NR: usize, const TAPS: usize>(self, sums: &[f32], out: &mut [f32]) {
        let (out, _) = out.as_chunks_mut::<TAPS>();
        for (row, out) in out.chunks_exact_mut(self.patches.n_channels()).enumerate() {
            for (panel, out) in out.chunks_mut(NR).enumerate() {
                let taps: [[f32; NR]; TAPS] =
                    std::array::from_fn(|tap| self.row_total(sums, [tap, panel, row]));
                for (lane, out) in out.iter_mut().enumerate() {
                    for tap in 0..TAPS {
                        out[tap] = taps[tap][lane];
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn total_any<const NR: usize>(self, sums: &[f32], out: &mut [f32]) {
        let n_taps = self.patches.n_taps();
        let row_length = n_taps * self.patches.n_channels();
        for (row, out) in out.chunks_exact_mut(row_length).enumerate() {
            for group in 0..self.patches.n_groups() {
                for panel in 0..self.n_panels {
                    let total = self.row_total::<NR>(sums, [group, panel, row]);
                    let n_lanes = NR.min(self.patches.depth() - panel * NR);
                    for (lane, total) in total[..n_lanes].iter().enumerate() {
                        let [tap, channel] = self.patches.tap_and_channel(group, panel * NR + lane);
                        out[channel * n_taps + tap] = *total;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn row_total<const NR: usize>(self, sums: &[f32], at: [usize; 3]) -> [f32; NR] {
        let mut total = [0.0; NR];
        for sums in sums.chunks_exact(self.length()) {
            let (rows, _) = sums.as_chunks::<NR>();
            let row = &rows[self.row(at)];
            for lane in 0..NR {
                total[lane] += row[lane];
            }
        }
        total
    }

    /// Returns the index of a row of a panel of a group.
    #[inline(always)]
    fn row(self, [group, panel, row]: [usize; 3]) -> usize {
        (group * self.n_panels + panel) * self.rows_per_panel + row
    }
}

/// The sums of one part.
pub(super) struct TileSums<'a, const MR: usize, const NR: usize> {
    layout: SumsLayout,
    rows: &'a mut [[f32; NR]],
    /// Whether every sum has its first term; until then the sums are undefined.
    pub are_begun: bool,
}

impl<'a, const MR: usize, const NR: usize> TileSums<'a, MR, NR> {
    pub(super) fn new(layout: SumsLayout, numbers: &'a mut [f32]) -> Self {
        Self {
            layout,
            rows: numbers.as_chunks_mut().0,
            are_begun: false,
        }
    }

    /// Adds the tile of a block of `MR` rows.
    #[inline(always)]
    pub(super) fn add<S: Simd>(
        &mut self,
        _simd: S,
        [group, panel, block]: [usize; 3],
        tile: Tile<S, MR>,
    ) {
        let first = self.layout.row([group, panel, block * MR]);
        for (sums, tile) in self.rows[first..first + MR].iter_mut().zip(tile) {
            let tile = row::<S, NR>(tile);
            if self.are_begun {
                for lane in 0..NR {
                    sums[lane] += tile[lane];
                }
            } else {
                *sums = tile;
            }
        }
    }
}
