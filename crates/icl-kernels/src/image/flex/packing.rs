//! Patches as the left factor of a product, in blocks of as many pixels as a tile has rows.

use std::ops::Range;

use super::patches::{Patches, Pixel};
use crate::tiles::{DEPTH, Left};

/// The layout of a left factor.
pub(super) struct PatchPacking<'a, const MR: usize> {
    patches: &'a Patches<'a>,
    pub blocks: Vec<PackedBlock>,
    /// Consecutive groups that are not padding for all pixels of a block.
    pub runs: Vec<Range<usize>>,
    /// Start of each group of the current block, none if it is padding.
    starts: Vec<Option<usize>>,
    patch: Vec<f32>,
}

/// Start of a block, and its range among the runs.
pub(super) struct PackedBlock {
    pub start: usize,
    pub runs: Range<usize>,
}

impl<'a, const MR: usize> PatchPacking<'a, MR> {
    pub(super) fn new(patches: &'a Patches<'a>) -> Self {
        let layout = patches.layout();
        // Whole patches are copied in steps that may end beyond them.
        let patch = if layout.is_split() {
            0
        } else {
            layout.packs() + 2
        };
        Self {
            patches,
            blocks: Vec::new(),
            runs: Vec::new(),
            starts: vec![None; layout.n_groups()],
            patch: vec![0.0; patch * DEPTH],
        }
    }

    /// Packs the patches of `pixels`. The rest of a block that is not full is never read.
    #[inline(always)]
    pub(super) fn fill(&mut self, pixels: &[Pixel], left: &mut [Left<MR>]) {
        self.blocks.clear();
        self.runs.clear();
        let mut end = 0;
        for block in pixels.chunks(MR) {
            let (start, first_run) = (end, self.runs.len());
            if self.patches.layout().is_split() {
                end = self.find_taps(block, start);
                self.fill_taps(block, &mut left[..end]);
            } else {
                self.runs.push(0..1);
                end += self.patches.layout().packs();
                self.fill_whole(block, &mut left[start..end]);
            }
            let runs = first_run..self.runs.len();
            self.blocks.push(PackedBlock { start, runs });
        }
    }

    /// Finds the taps that any of the pixels sees, assigns them places from `end` on, and returns the
    /// end of the last.
    #[inline(always)]
    fn find_taps(&mut self, pixels: &[Pixel], mut end: usize) -> usize {
        let layout = self.patches.layout();
        let first_run = self.runs.len();
        for (group, start) in self.starts.iter_mut().enumerate() {
            let tap = [group / layout.size(), group % layout.size()];
            *start = None;
            if pixels.iter().any(|pixel| self.patches.sees(*pixel, tap)) {
                *start = Some(end);
                end += layout.packs();
                match self.runs[first_run..].last_mut() {
                    Some(run) if run.end == group => run.end += 1,
                    _ => self.runs.push(group..group + 1),
                }
            }
        }
        end
    }

    #[inline(always)]
    fn fill_taps(&mut self, pixels: &[Pixel], left: &mut [Left<MR>]) {
        let packs = self.patches.layout().packs();
        let start = self.starts.iter().flatten().next().copied();
        let n_packs = left.len() - start.unwrap_or(left.len());
        for (row, pixel) in pixels.iter().enumerate() {
            let mut n_seen = 0;
            for (tap, channels) in self.patches.seen(*pixel) {
                // A block has every tap of its pixels, so consecutive taps are consecutive there, too.
                let start = self.starts[tap].unwrap_or_default();
                let (channels, _) = channels.as_chunks::<DEPTH>();
                for (left, channels) in left[start..].iter_mut().zip(channels) {
                    left[row] = *channels;
                }
                n_seen += channels.len();
            }
            if n_seen < n_packs {
                for (group, start) in self.starts.iter().enumerate() {
                    let size = self.patches.layout().size();
                    let Some(start) = *start else { continue };
                    if !self.patches.sees(*pixel, [group / size, group % size]) {
                        for left in &mut left[start..start + packs] {
                            left[row] = [0.0; DEPTH];
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn fill_whole(&mut self, pixels: &[Pixel], left: &mut [Left<MR>]) {
        for (row, pixel) in pixels.iter().enumerate() {
            self.patches.whole(*pixel, &mut self.patch);
            let (patch, _) = self.patch.as_chunks::<DEPTH>();
            for (left, patch) in left.iter_mut().zip(patch) {
                left[row] = *patch;
            }
        }
    }
}
