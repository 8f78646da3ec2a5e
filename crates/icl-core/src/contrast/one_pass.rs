//! The exponentials of all pairs in host memory: one pass, on all threads.

use burn::tensor::{Tensor, TensorData, backend::Backend};
use pulp::Arch;
use rayon::prelude::*;

use super::exponentials::{Exponentials, LeftOut, NEVER};
use super::host_product::{PackedNoise, ROWS};
use super::rivals::Rivals;
use crate::keep_freed_memory;

/// Number of values that are processed at once, in the vector registers of the processor found.
const LANES: usize = 16;

/// Computes what [`Exponentials::composed`] computes from the similarities of anchors `[n, d]` to noise `[m, d]`, in single
/// precision and on no graph. The results of a row depend on that row alone.
pub(super) fn exponentials<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    temperature: f64,
    left_out: LeftOut<'_>,
) -> Exponentials<B> {
    keep_freed_memory();
    let ([n, width], [m, _]) = (anchors.dims(), noise.dims());
    let device = anchors.device();
    let (anchors, noise) = (anchors.into_data(), noise.into_data());
    let noise = PackedNoise::new(single(&noise), width);
    let mut values = vec![0_f32; n * m];
    let mut sums = vec![0_f32; n];
    let mut log_sums = vec![0_f32; n];
    values
        .par_chunks_mut(ROWS * m)
        .zip(single(&anchors).par_chunks(ROWS * width))
        .zip(sums.par_chunks_mut(ROWS))
        .zip(log_sums.par_chunks_mut(ROWS))
        .enumerate()
        .for_each(|(task, (((values, anchors), sums), log_sums))| {
            noise.similarities(anchors, values);
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    let rows = values.chunks_exact_mut(m);
                    for (row, (values, (sum, log_sum))) in
                        rows.zip(sums.iter_mut().zip(log_sums)).enumerate()
                    {
                        leave_out(values, task * ROWS + row, left_out);
                        [*sum, *log_sum] = exponentials_of_row(values, temperature);
                    }
                },
            );
        });
    let column = |values: Vec<f32>| Tensor::from_data(TensorData::new(values, [n, 1]), &device);
    Exponentials {
        values: Tensor::from_data(TensorData::new(values, [n, m]), &device),
        sums: column(sums),
        log_sums: column(log_sums),
    }
}

/// Computes the sums alone, as [`Exponentials::log_sums`], and the noise that scores at least as high as the positives, whose
/// cosines are given. No similarity is kept.
pub(super) fn log_sums_and_rivals<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    positives: &[f32],
    temperature: f64,
    left_out: LeftOut<'_>,
) -> (Tensor<B, 1>, Vec<Rivals>) {
    let ([n, width], [m, _]) = (anchors.dims(), noise.dims());
    let device = anchors.device();
    let (anchors, noise) = (anchors.into_data(), noise.into_data());
    let noise = PackedNoise::new(single(&noise), width);
    let mut log_sums = vec![0_f32; n];
    let mut rivals = vec![Rivals::default(); n];
    log_sums
        .par_chunks_mut(ROWS)
        .zip(rivals.par_chunks_mut(ROWS))
        .zip(positives.par_chunks(ROWS))
        .zip(single(&anchors).par_chunks(ROWS * width))
        .enumerate()
        .for_each_init(
            || vec![0_f32; ROWS * m],
            |values, (task, (((log_sums, rivals), positives), anchors))| {
                let values = &mut values[..log_sums.len() * m];
                noise.similarities(anchors, values);
                Arch::new().dispatch(
                    #[inline(always)]
                    || {
                        let results = log_sums.iter_mut().zip(rivals).zip(positives);
                        let rows = values.chunks_exact_mut(m).zip(results);
                        for (row, (values, ((log_sum, rivals), positive))) in rows.enumerate() {
                            leave_out(values, task * ROWS + row, left_out);
                            *rivals = Rivals::of_row(values, *positive);
                            [_, *log_sum] = exponentials_of_row(values, temperature);
                        }
                    },
                );
            },
        );
    let log_sums = Tensor::from_data(TensorData::new(log_sums, [n]), &device);
    (log_sums, rivals)
}

fn single(data: &TensorData) -> &[f32] {
    data.as_slice().expect("single precision")
}

/// Sets the similarities of a row's pairs that are left out to [`NEVER`].
#[inline(always)]
fn leave_out(values: &mut [f32], row: usize, left_out: LeftOut<'_>) {
    match left_out {
        LeftOut::None => {}
        LeftOut::Own(first) => {
            let column = row.checked_add_signed(-first);
            if let Some(value) = column.and_then(|column| values.get_mut(column)) {
                *value = NEVER;
            }
        }
        LeftOut::Marked(marks) => {
            let marks = &marks[row * values.len()..][..values.len()];
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
    let mut largest = [f32::NEG_INFINITY; LANES];
    for block in blocks.iter() {
        largest = std::array::from_fn(|lane| larger(block[lane], largest[lane]));
    }
    let shift = largest
        .iter()
        .chain(rest.iter())
        .fold(f32::NEG_INFINITY, |largest, value| larger(*value, largest));
    let mut sums = [0.0; LANES];
    for block in blocks {
        *block = std::array::from_fn(|lane| exponential((block[lane] - shift) * scale));
        sums = std::array::from_fn(|lane| sums[lane] + block[lane]);
    }
    let mut sum: f32 = sums.iter().sum();
    for value in rest {
        *value = exponential((*value - shift) * scale);
        sum += *value;
    }
    // Rounded as the positive's logit is, so that equal similarities stay equal.
    [sum, sum.ln() + shift / temperature as f32]
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
    let shifted = bounded * std::f32::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (bounded - k * LN_2_HIGH) - k * LN_2_LOW;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    let series = TAYLOR.iter().rev().fold(0.0, |sum, term| sum * r + term);
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
