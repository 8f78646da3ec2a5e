//! Selecting and scattering the maxima of windows.

use burn::tensor::Tensor;
use burn_flex::Flex;
use rayon::prelude::*;

use super::super::window::Window;
use super::axis::Axis;
use super::channels::over_channels;
use crate::flex::columns::{ColumnPass, lanes, lanes_mut};
use crate::flex::floats::Floats;
use crate::flex::memory::result;

pub(super) fn select(
    x: Tensor<Flex, 4>,
    values: Tensor<Flex, 4>,
    window: Window,
) -> Tensor<Flex, 4> {
    let [n, ..] = x.dims();
    let windows = Windows::new(&x, window);
    let (x, values) = (Floats::of(x), Floats::of(values));
    let (inputs, outputs) = (windows.n_inputs, windows.n_outputs());
    let (x, values): (&[f32], &[f32]) = (&x, &values);
    let [rows, columns] = windows.sides;
    result([n, rows, columns, windows.width], |out| {
        out.par_chunks_mut(outputs)
            .zip(x.par_chunks(inputs).zip(values.par_chunks(inputs)))
            .for_each(|(out, (x, values))| {
                let mut pass = Select {
                    windows: &windows,
                    x,
                    values,
                    out,
                };
                over_channels(&mut pass, windows.width);
            });
    })
}

pub(super) fn scatter(
    x: Tensor<Flex, 4>,
    gradient: Tensor<Flex, 4>,
    window: Window,
) -> Tensor<Flex, 4> {
    let shape = x.dims();
    let windows = Windows::new(&x, window);
    let (x, gradient) = (Floats::of(x), Floats::of(gradient));
    let (inputs, outputs) = (windows.n_inputs, windows.n_outputs());
    let (x, gradient): (&[f32], &[f32]) = (&x, &gradient);
    result(shape, |out| {
        out.par_chunks_mut(inputs)
            .zip(x.par_chunks(inputs).zip(gradient.par_chunks(outputs)))
            .for_each(|(out, (x, gradient))| {
                // Reused memory holds an earlier result.
                out.fill(0.0);
                let mut pass = Scatter {
                    windows: &windows,
                    x,
                    gradient,
                    out,
                };
                over_channels(&mut pass, windows.width);
            });
    })
}

/// The windows of one image.
struct Windows {
    sides: [usize; 2],
    /// Positions of the elements of all windows in the input, one window after another.
    elements: Vec<usize>,
    /// End of each window among the elements.
    ends: Vec<usize>,
    n_inputs: usize,
    width: usize,
}

impl Windows {
    fn new(x: &Tensor<Flex, 4>, window: Window) -> Self {
        let [_, n_rows, n_columns, width] = x.dims();
        let [rows, columns] = [n_rows, n_columns].map(|side| Axis::forward(side, window));
        let sides = [rows.n_outputs(), columns.n_outputs()];
        let (mut elements, mut ends) = (Vec::new(), Vec::new());
        for output in 0..sides[0] * sides[1] {
            for row in rows.sources(output / sides[1]).iter().flatten() {
                let columns = columns.sources(output % sides[1]).iter().flatten();
                elements.extend(columns.map(|column| (row * n_columns + column) * width));
            }
            ends.push(elements.len());
        }
        Self {
            sides,
            elements,
            ends,
            n_inputs: n_rows * n_columns * width,
            width,
        }
    }

    /// Number of values in an output image.
    fn n_outputs(&self) -> usize {
        self.ends.len() * self.width
    }

    /// Returns for each window the position of its output and those of its elements.
    #[inline(always)]
    fn each(&self) -> impl Iterator<Item = (usize, &[usize])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let windows = starts
            .zip(&self.ends)
            .map(|(start, end)| &self.elements[start..*end]);
        (0..).step_by(self.width).zip(windows)
    }
}

/// Returns the index in a window of the first maximum among its elements, for each of `L` channels from
/// `first` on. NaN counts as a maximum, as in Burn.
#[inline(always)]
fn first_maximum<const L: usize>(x: &[f32], elements: &[usize], first: usize) -> [u32; L] {
    let mut best = [f32::NEG_INFINITY; L];
    let mut number = [0; L];
    for (candidate, element) in (0..).zip(elements) {
        let x = lanes::<L>(x, element + first);
        for lane in 0..L {
            let is_better = x[lane] > best[lane] || x[lane].is_nan();
            best[lane] = if is_better { x[lane] } else { best[lane] };
            number[lane] = if is_better { candidate } else { number[lane] };
        }
    }
    number
}

struct Select<'a> {
    windows: &'a Windows,
    x: &'a [f32],
    values: &'a [f32],
    out: &'a mut [f32],
}

impl ColumnPass for Select<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        for (to, elements) in self.windows.each() {
            let number = first_maximum::<L>(self.x, elements, first);
            let mut selected = [0.0; L];
            for (candidate, element) in (0..).zip(elements) {
                let values = lanes::<L>(self.values, element + first);
                for lane in 0..L {
                    let is_it = number[lane] == candidate;
                    selected[lane] = if is_it { values[lane] } else { selected[lane] };
                }
            }
            *lanes_mut(self.out, to + first) = selected;
        }
    }
}

struct Scatter<'a> {
    windows: &'a Windows,
    x: &'a [f32],
    gradient: &'a [f32],
    out: &'a mut [f32],
}

impl ColumnPass for Scatter<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        for (from, elements) in self.windows.each() {
            let number = first_maximum::<L>(self.x, elements, first);
            let gradient = lanes::<L>(self.gradient, from + first);
            for (candidate, element) in (0..).zip(elements) {
                let out = lanes_mut::<L>(self.out, element + first);
                for lane in 0..L {
                    let is_it = number[lane] == candidate;
                    out[lane] += if is_it { gradient[lane] } else { 0.0 };
                }
            }
        }
    }
}
