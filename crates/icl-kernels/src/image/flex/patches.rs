//! The parts of images that the outputs of a convolution see.

use super::axis::Axis;
use crate::tiles::DEPTH;

/// Images `[n, h, w, c]` seen through a window. An output sees a patch: the taps of the window one after
/// another, the channels side by side.
///
/// If the channels fill whole packs, taps are packed one by one and left out where they see only
/// padding. Otherwise the whole patch is packed as one, with zeros for padding.
pub(super) struct Patches<'a> {
    images: &'a [f32],
    sides: [usize; 2],
    n_channels: usize,
    rows: Axis,
    columns: Axis,
}

/// One output of a convolution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pixel {
    pub image: usize,
    pub row: usize,
    pub column: usize,
}

impl<'a> Patches<'a> {
    pub(super) fn new(
        images: &'a [f32],
        [_, height, width, n_channels]: [usize; 4],
        [rows, columns]: [Axis; 2],
    ) -> Self {
        Self {
            images,
            sides: [height, width],
            n_channels,
            rows,
            columns,
        }
    }

    pub(super) fn layout(&self) -> PatchLayout {
        PatchLayout::new(self.rows.sources(0).len(), self.n_channels)
    }

    /// Returns the sides of the output.
    pub(super) fn outputs(&self) -> [usize; 2] {
        [self.rows.n_outputs(), self.columns.n_outputs()]
    }

    /// Returns the outputs of `rows`, which are counted through all images.
    pub(super) fn pixels(&self, rows: std::ops::Range<usize>) -> Vec<Pixel> {
        let [n_rows, n_columns] = self.outputs();
        rows.flat_map(|row| {
            (0..n_columns).map(move |column| Pixel {
                image: row / n_rows,
                row: row % n_rows,
                column,
            })
        })
        .collect()
    }

    /// Sorts pixels so that those which see padding through the same taps are neighbours, if padding
    /// can be left out.
    pub(super) fn sort(&self, pixels: &mut [Pixel]) {
        if self.layout().is_split() {
            pixels.sort_by_key(|at| (self.rows.class(at.row), self.columns.class(at.column)));
        }
    }

    /// Returns the channels that `pixel` sees through the tap `[row, column]`, none for padding.
    #[inline(always)]
    pub(super) fn tap(&self, pixel: Pixel, [row, column]: [usize; 2]) -> Option<&[f32]> {
        let row = self.rows.sources(pixel.row)[row]?;
        let column = self.columns.sources(pixel.column)[column]?;
        let at = self.start(pixel.image, row, column);
        Some(&self.images[at..at + self.n_channels])
    }

    /// Returns whether `pixel` sees a part of the image through the tap `[row, column]`.
    #[inline(always)]
    pub(super) fn sees(&self, pixel: Pixel, [row, column]: [usize; 2]) -> bool {
        self.rows.sources(pixel.row)[row].is_some()
            && self.columns.sources(pixel.column)[column].is_some()
    }

    /// Returns the taps that `pixel` sees, as runs within each row of the window, with their channels.
    #[inline(always)]
    pub(super) fn seen(&self, pixel: Pixel) -> impl Iterator<Item = (usize, &[f32])> {
        let rows = self.rows.sources(pixel.row);
        let runs = self.columns.runs(pixel.column);
        rows.iter().enumerate().flat_map(move |(tap, row)| {
            let runs = row.map_or(&[][..], |_| runs);
            runs.iter().map(move |run| {
                let from = self.start(pixel.image, row.unwrap_or_default(), run.first_source);
                let channels = &self.images[from..from + run.length * self.n_channels];
                (tap * rows.len() + run.first_tap, channels)
            })
        })
    }

    /// Copies the whole patch of `pixel`, with zeros for padding and beyond its end.
    #[inline(always)]
    pub(super) fn whole(&self, pixel: Pixel, patch: &mut [f32]) {
        if self.whole_inside(pixel, patch).is_none() {
            patch.fill(0.0);
            for (tap, channels) in self.seen(pixel) {
                patch[tap * self.n_channels..][..channels.len()].copy_from_slice(channels);
            }
        }
    }

    /// Copies a narrow patch without padding in steps of a fixed size, which may reach beyond the row
    /// that they copy. Returns none where they would leave the image or the patch.
    #[inline(always)]
    fn whole_inside(&self, pixel: Pixel, patch: &mut [f32]) -> Option<()> {
        const STEP: usize = 32;
        let rows = self.rows.sources(pixel.row);
        let [run] = self.columns.runs(pixel.column) else {
            return None;
        };
        let length = rows.len() * self.n_channels;
        if run.length < rows.len() || length > STEP {
            return None;
        }
        for (tap, row) in rows.iter().enumerate() {
            let from = self.start(pixel.image, (*row)?, run.first_source);
            let row = self.images[from..].first_chunk::<STEP>()?;
            *patch[tap * length..].first_chunk_mut::<STEP>()? = *row;
        }
        patch[rows.len() * length..].fill(0.0);
        Some(())
    }

    #[inline(always)]
    fn start(&self, image: usize, row: usize, column: usize) -> usize {
        let [height, width] = self.sides;
        ((image * height + row) * width + column) * self.n_channels
    }
}

/// Division of patches into groups that are packed, left out and multiplied as one.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatchLayout {
    size: usize,
    n_channels: usize,
}

impl PatchLayout {
    /// The layout of patches through a window of side `size`.
    pub(super) fn new(size: usize, n_channels: usize) -> Self {
        Self { size, n_channels }
    }

    /// Returns whether each tap is a group.
    pub(super) fn is_split(self) -> bool {
        self.n_channels.is_multiple_of(DEPTH)
    }

    pub(super) fn size(self) -> usize {
        self.size
    }

    pub(super) fn n_channels(self) -> usize {
        self.n_channels
    }

    pub(super) fn n_taps(self) -> usize {
        self.size * self.size
    }

    pub(super) fn n_groups(self) -> usize {
        if self.is_split() { self.n_taps() } else { 1 }
    }

    /// Number of values in a group.
    pub(super) fn depth(self) -> usize {
        self.n_taps() * self.n_channels / self.n_groups()
    }

    /// Number of packs in a group.
    pub(super) fn packs(self) -> usize {
        self.depth().div_ceil(DEPTH)
    }

    /// Returns the tap and the channel of a value of a group.
    #[inline(always)]
    pub(super) fn tap_and_channel(self, group: usize, at: usize) -> [usize; 2] {
        if self.is_split() {
            [group, at]
        } else {
            [at / self.n_channels, at % self.n_channels]
        }
    }
}
