//! The quads of outputs of a convolution, and the inputs that they see.

use std::ops::Range;

use super::super::super::window::Window;
use super::N_PRODUCTS;
use crate::tiles::DEPTH;

/// Side of a window for which there are quads.
const SIZE: usize = 3;

/// The division of the outputs `[n, h′, w′]` of a convolution of images `[n, h, w, channels]` into quads of 2 x 2
/// pixels. Those at the lower and the right border may reach beyond it.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Quads {
    sides: [usize; 2],
    n_channels: usize,
    padding: usize,
}

/// One quad.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quad {
    image: usize,
    row: usize,
    column: usize,
}

impl Quads {
    /// Returns the quads of a convolution of images of `sides` `[h, w]`, or none where it is computed better tap by
    /// tap: for other windows, for channels that do not fill packs, and where the products that a sum over taps leaves
    /// out at padding are more than a quad saves.
    pub(in super::super) fn of(
        window: Window,
        sides: [usize; 2],
        n_channels: usize,
    ) -> Option<Self> {
        let Window {
            size,
            stride,
            padding,
        } = window;
        if size != SIZE || stride != 1 || padding >= SIZE || !n_channels.is_multiple_of(DEPTH) {
            return None;
        }
        let quads = Self {
            sides,
            n_channels,
            padding,
        };
        let n_by_taps: usize = sides.map(|side| n_seen(side, padding)).iter().product();
        let n_by_quads = quads.counts().iter().product::<usize>() * N_PRODUCTS;
        // A fifth fewer products pay for the transformations.
        (5 * n_by_quads <= 4 * n_by_taps).then_some(quads)
    }

    /// Returns the quads of the transposed convolution, whose outputs are the inputs `[h, w]` of the convolution.
    pub(in super::super) fn transposed(
        window: Window,
        sides: [usize; 2],
        n_channels: usize,
    ) -> Option<Self> {
        if window.size != SIZE {
            return None;
        }
        // With this padding the outputs have the sides of the convolution's inputs.
        let padding = (SIZE - 1).checked_sub(window.padding)?;
        let sources = sides.map(|side| window.output(side));
        Self::of(Window { padding, ..window }, sources, n_channels)
    }

    /// Number of channels of the images.
    pub(super) fn n_channels(&self) -> usize {
        self.n_channels
    }

    /// Number of packs of channels.
    pub(super) fn packs(&self) -> usize {
        self.n_channels / DEPTH
    }

    /// Returns the sides of the output.
    pub(in super::super) fn outputs(&self) -> [usize; 2] {
        self.sides.map(|side| side + 2 * self.padding + 1 - SIZE)
    }

    /// Returns the numbers of rows and columns of quads of an image.
    pub(super) fn counts(&self) -> [usize; 2] {
        self.outputs().map(|side| side.div_ceil(2))
    }

    /// Returns the quads of `rows`, which are counted through all images.
    pub(super) fn of_rows(&self, rows: Range<usize>) -> Vec<Quad> {
        let [n_rows, n_columns] = self.counts();
        rows.flat_map(|row| {
            (0..n_columns).map(move |column| Quad {
                image: row / n_rows,
                row: row % n_rows,
                column,
            })
        })
        .collect()
    }

    /// Returns the number of rows of pixels before row `row` of quads, which are counted through all images.
    pub(super) fn pixel_rows_before(&self, row: usize) -> usize {
        let ([n_rows, _], [height, _]) = (self.counts(), self.outputs());
        row / n_rows * height + row % n_rows * 2
    }

    /// Returns where the channels of the 4 x 4 inputs of `quad` begin, none for padding.
    #[inline(always)]
    pub(super) fn inputs(&self, quad: Quad) -> [[Option<usize>; 4]; 4] {
        let [height, width] = self.sides;
        let mut inputs = [[None; 4]; 4];
        for (i, inputs) in inputs.iter_mut().enumerate() {
            let Some(row) = (2 * quad.row + i).checked_sub(self.padding) else {
                continue;
            };
            for (j, input) in inputs.iter_mut().enumerate() {
                let Some(column) = (2 * quad.column + j).checked_sub(self.padding) else {
                    continue;
                };
                if row < height && column < width {
                    let pixel = (quad.image * height + row) * width + column;
                    *input = Some(pixel * self.n_channels);
                }
            }
        }
        inputs
    }

    /// Returns the 2 x 2 pixels of `quad`, counted through all images, none beyond the border.
    #[inline(always)]
    pub(super) fn pixels(&self, quad: Quad) -> [[Option<usize>; 2]; 2] {
        let [height, width] = self.outputs();
        let mut pixels = [[None; 2]; 2];
        for (i, pixels) in pixels.iter_mut().enumerate() {
            let row = 2 * quad.row + i;
            for (j, pixel) in pixels.iter_mut().enumerate() {
                let column = 2 * quad.column + j;
                if row < height && column < width {
                    *pixel = Some((quad.image * height + row) * width + column);
                }
            }
        }
        pixels
    }
}

/// Number of pairs of an output and a tap along an axis that see an input.
fn n_seen(side: usize, padding: usize) -> usize {
    let n_outputs = side + 2 * padding + 1 - SIZE;
    let sees = |at: usize| (padding..padding + side).contains(&at);
    (0..n_outputs)
        .map(|output| (output..output + SIZE).filter(|at| sees(*at)).count())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: Window = Window {
        size: 3,
        stride: 1,
        padding: 1,
    };

    #[test]
    fn quads_are_taken_where_they_need_fewer_products() {
        let is_taken = |side| Quads::of(SAME, [side; 2], 64).is_some();
        // By taps 16, 49, 100, 169, 256 and 361 products; by quads 16, 64, 64, 144, 144 and 256.
        assert_eq!(
            [2, 3, 4, 5, 6, 7].map(is_taken),
            [false, false, true, false, true, true]
        );
        assert!(Quads::of(SAME, [8; 2], 20).is_none());
        assert!(Quads::of(Window { stride: 2, ..SAME }, [8; 2], 64).is_none());
        assert!(Quads::of(Window { padding: 3, ..SAME }, [8; 2], 64).is_none());
        assert!(Quads::transposed(Window { padding: 3, ..SAME }, [8; 2], 64).is_none());
    }

    #[test]
    fn every_pixel_is_in_one_quad_which_sees_what_its_taps_see() {
        let quads = Quads::of(SAME, [7, 6], 16).unwrap();
        let all = quads.of_rows(0..2 * quads.counts()[0]);
        let mut n_quads = vec![0; 2 * 7 * 6];
        for quad in all {
            let (inputs, pixels) = (quads.inputs(quad), quads.pixels(quad));
            for (i, j) in (0..2).flat_map(|i| (0..2).map(move |j| (i, j))) {
                let Some(pixel) = pixels[i][j] else { continue };
                n_quads[pixel] += 1;
                // With a padding of 1 the tap in the middle sees the pixel itself.
                assert_eq!(inputs[i + 1][j + 1], Some(pixel * 16));
            }
        }
        assert_eq!(n_quads, vec![1; 2 * 7 * 6]);
        assert_eq!(
            [0, 1, 4, 5].map(|row| quads.pixel_rows_before(row)),
            [0, 2, 7, 9]
        );
    }
}
