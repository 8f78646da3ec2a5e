//! The exponentials of all pairs in host memory: one pass, on all threads.

use burn::tensor::{Tensor, TensorData, backend::Backend};
use pulp::Arch;
use rayon::prelude::*;

use super::exponentials::{Exponentials, LeftOut, NEVER};
use super::host_product::{PackedKeys, ROWS, STRIP};
use super::rivals::Rivals;
use crate::device::keep_freed_memory;

/// Number of values that are processed at once, in the vector registers of the processor found.
const LANES: usize = 16;

/// Computes what [`Exponentials::composed`] computes from the similarities of queries `[n, d]` to keys `[m, d]`, in
/// single precision and on no graph. The results of a row depend on that row alone.
pub(super) fn exponentials<B: Backend>(
    queries: Tensor<B, 2>,
    keys: Tensor<B, 2>,
    temperature: f64,
    left_out: LeftOut<'_>,
) -> Exponentials<B> {
    keep_freed_memory();
    let ([n, width], [m, _]) = (queries.dims(), keys.dims());
    let device = queries.device();
    let (queries, keys) = (queries.into_data(), keys.into_data());
    let [values, sums, log_sums] = exponentials_of_rows(
        single(&queries),
        single(&keys),
        [n, m, width],
        temperature,
        left_out,
    );
    let column = |values: Vec<f32>| Tensor::from_data(TensorData::new(values, [n, 1]), &device);
    Exponentials {
        values: Tensor::from_data(TensorData::new(values, [n, m]), &device),
        sums: column(sums),
        log_sums: column(log_sums),
    }
}

/// Computes `[values, sums, log_sums]` of [`exponentials`]. It has no type parameters, so that programs need not
/// compile it again, once for each kind of vector registers.
fn exponentials_of_rows(
    queries: &[f32],
    keys: &[f32],
    [n, m, width]: [usize; 3],
    temperature: f64,
    left_out: LeftOut<'_>,
) -> [Vec<f32>; 3] {
    let keys = PackedKeys::new(keys, width);
    let mut values = vec![0_f32; n * m];
    let mut sums = vec![0_f32; n];
    let mut log_sums = vec![0_f32; n];
    values
        .par_chunks_mut(ROWS * m)
        .zip(queries.par_chunks(ROWS * width))
        .zip(sums.par_chunks_mut(ROWS))
        .zip(log_sums.par_chunks_mut(ROWS))
        .enumerate()
        .for_each(|(task, (((values, queries), sums), log_sums))| {
            keys.similarities(queries, values);
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    let rows = values.chunks_exact_mut(m);
                    for (row, (values, (sum, log_sum))) in
                        rows.zip(sums.iter_mut().zip(log_sums)).enumerate()
                    {
                        leave_out(values, (task * ROWS + row, 0), m, left_out);
                        [*sum, *log_sum] = exponentials_of_row(values, temperature);
                    }
                },
            );
        });
    [values, sums, log_sums]
}

/// Computes the sums alone, as [`Exponentials::log_sums`], and the keys that score at least as high as the `targets`.
/// No similarity is kept.
pub(super) fn log_sums_and_rivals<B: Backend>(
    queries: Tensor<B, 2>,
    keys: Tensor<B, 2>,
    targets: &[f32],
    temperature: f64,
    left_out: LeftOut<'_>,
) -> (Tensor<B, 1>, Vec<Rivals>) {
    let ([n, width], [m, _]) = (queries.dims(), keys.dims());
    let device = queries.device();
    let (queries, keys) = (queries.into_data(), keys.into_data());
    let (log_sums, rivals) = log_sums_and_rivals_of_rows(
        single(&queries),
        single(&keys),
        [n, m, width],
        targets,
        temperature,
        left_out,
    );
    let log_sums = Tensor::from_data(TensorData::new(log_sums, [n]), &device);
    (log_sums, rivals)
}

/// Computes [`log_sums_and_rivals`]. It has no type parameters, so that programs need not compile it again.
fn log_sums_and_rivals_of_rows(
    queries: &[f32],
    keys: &[f32],
    [n, m, width]: [usize; 3],
    targets: &[f32],
    temperature: f64,
    left_out: LeftOut<'_>,
) -> (Vec<f32>, Vec<Rivals>) {
    let keys = PackedKeys::new(keys, width);
    let mut log_sums = vec![0_f32; n];
    let mut rivals = vec![Rivals::default(); n];
    log_sums
        .par_chunks_mut(MANY_ROWS)
        .zip(rivals.par_chunks_mut(MANY_ROWS))
        .zip(targets.par_chunks(MANY_ROWS))
        .zip(queries.par_chunks(MANY_ROWS * width))
        .enumerate()
        .for_each_init(
            || vec![0_f32; MANY_ROWS * STRIP],
            |buffer, (task, (((log_sums, rivals), targets), queries))| {
                let first_row = task * MANY_ROWS;
                let mut sums = [LogSum::EMPTY; MANY_ROWS];
                keys.by_strips(
                    queries,
                    STRIP,
                    buffer,
                    #[inline(always)]
                    |row, first_column, values| {
                        leave_out(values, (first_row + row, first_column), m, left_out);
                        rivals[row].add(Rivals::of_row(values, targets[row]));
                        sums[row].add(values, temperature);
                        if first_column + values.len() == m {
                            log_sums[row] = sums[row].log(temperature);
                        }
                    },
                );
            },
        );
    (log_sums, rivals)
}

/// Number of queries that are computed at once where no similarity is kept. The more there are, the less often the keys
/// are read.
const MANY_ROWS: usize = 2 * ROWS;

fn single(data: &TensorData) -> &[f32] {
    data.as_slice().expect("single precision")
}

/// Sets the similarities of some of a row's pairs that are left out to [`NEVER`]: those of `row` from `first_column`
/// on, of `m` in all.
#[inline(always)]
fn leave_out(
    values: &mut [f32],
    (row, first_column): (usize, usize),
    m: usize,
    left_out: LeftOut<'_>,
) {
    match left_out {
        LeftOut::None => {}
        LeftOut::Own(first) => {
            let column = row.checked_add_signed(-first);
            let column = column.and_then(|column| column.checked_sub(first_column));
            if let Some(value) = column.and_then(|column| values.get_mut(column)) {
                *value = NEVER;
            }
        }
        LeftOut::Marked(marks) => {
            let marks = &marks[row * m + first_column..][..values.len()];
            for (value, is_left_out) in values.iter_mut().zip(marks) {
                *value = if *is_left_out { NEVER } else { *value };
            }
        }
    }
}

/// Replaces each x by exp((x − max x)/τ). Returns the sum of these and log Σ exp(x/τ).
#[inline(always)]
fn exponentials_of_row(values: &mut [f32], temperature: f64) -> [f32; 2] {
    let scale = temperature.recip() as f32;
    let (blocks, rest) = values.as_chunks_mut::<LANES>();
    let mut largest = [NEVER; LANES];
    for block in blocks.iter() {
        largest_of_lanes(&mut largest, block);
    }
    let all = largest.iter().chain(rest.iter());
    let shift = all.fold(NEVER, |largest, value| larger(*value, largest));
    let mut sums = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            block[lane] = exponential((block[lane] - shift) * scale);
            sums[lane] += block[lane];
        }
    }
    let mut sum: f32 = sums.iter().sum();
    for value in rest {
        *value = exponential((*value - shift) * scale);
        sum += *value;
    }
    [sum, log_sum(sum, shift, temperature)]
}

/// Sums of exp((x − max x)/τ) over the similarities x so far, and their maxima: `LANES` of each, over every 16th
/// similarity, which are combined only at the end.
#[derive(Clone, Copy)]
struct LogSum {
    largest: [f32; LANES],
    sums: [f32; LANES],
}

impl LogSum {
    const EMPTY: Self = Self {
        largest: [NEVER; LANES],
        sums: [0.0; LANES],
    };

    /// Adds similarities.
    #[inline(always)]
    fn add(&mut self, values: &[f32], temperature: f64) {
        let scale = temperature.recip() as f32;
        let (blocks, rest) = values.as_chunks::<LANES>();
        let mut last = [NEVER; LANES];
        last[..rest.len()].copy_from_slice(rest);
        let mut largest = self.largest;
        for block in blocks {
            largest_of_lanes(&mut largest, block);
        }
        largest_of_lanes(&mut largest, &last);
        // The sums so far are relative to the earlier maxima.
        let mut sums = self.sums;
        for lane in 0..LANES {
            sums[lane] *= exponential((self.largest[lane] - largest[lane]) * scale);
        }
        for block in blocks {
            for lane in 0..LANES {
                sums[lane] += exponential((block[lane] - largest[lane]) * scale);
            }
        }
        for lane in 0..rest.len() {
            sums[lane] += exponential((last[lane] - largest[lane]) * scale);
        }
        *self = Self { largest, sums };
    }

    /// Returns log Σ exp(x/τ).
    #[inline(always)]
    fn log(self, temperature: f64) -> f32 {
        let scale = temperature.recip() as f32;
        let mut shift = NEVER;
        for largest in self.largest {
            shift = larger(largest, shift);
        }
        let mut sum = 0.0;
        for lane in 0..LANES {
            sum += self.sums[lane] * exponential((self.largest[lane] - shift) * scale);
        }
        log_sum(sum, shift, temperature)
    }
}

/// Returns log Σ exp(x/τ) from Σ exp((x − `shift`)/τ).
#[inline(always)]
fn log_sum(sum: f32, shift: f32, temperature: f64) -> f32 {
    // Rounded as the logit of a target is, so that equal similarities stay equal.
    sum.ln() + shift / temperature as f32
}

// Plain loops over lanes are vectorised; closures over them may stay functions of their own, without vectors.
#[inline(always)]
fn largest_of_lanes(largest: &mut [f32; LANES], values: &[f32; LANES]) {
    for lane in 0..LANES {
        largest[lane] = larger(values[lane], largest[lane]);
    }
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Returns eˣ for x ≤ 0, or 0 below e⁻⁸⁷. The standard library's function is a call that the compiler
/// does not vectorise.
///
/// ```text
/// eˣ = 2ᵏ·eʳ      k = x/ln 2 rounded      |r| ≤ ln 2/2
/// ```
#[inline(always)]
fn exponential(x: f32) -> f32 {
    // Adding this rounds to a whole number, which is then in the last bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, the first of which has few enough digits that its multiples are exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let bounded = if x < -87.0 { -87.0 } else { x };
    let shifted = bounded.mul_add(std::f32::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN_2_LOW, k.mul_add(-LN_2_HIGH, bounded));
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    let mut series = TAYLOR[TAYLOR.len() - 1];
    for term in TAYLOR.iter().rev().skip(1) {
        series = series.mul_add(r, *term);
    }
    let value = power * series;
    if x < -87.0 { 0.0 } else { value }
}

/// Coefficients 1/i! of the exponential series, enough for single precision on ±ln 2/2.
const TAYLOR: [f32; 8] = [
    1.0,
    1.0,
    0.5,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
];
