//! The transformations of inputs, taps and outputs, and their transposes, each of which a gradient needs.

use pulp::Simd;

/// A square of vectors, each of which holds the same element for several channels.
pub(super) type Square<S, const N: usize> = [[<S as Simd>::f32s; N]; N];

/// Applies `along` to the columns of a square, then to the rows of what comes of it.
#[inline(always)]
fn both_ways<S: Simd, const N: usize, const M: usize>(
    simd: S,
    square: &Square<S, N>,
    along: impl Fn(&[S::f32s; N]) -> [S::f32s; M],
) -> Square<S, M> {
    let zero = simd.splat_f32s(0.0);
    let mut half = [[zero; N]; M];
    for column in 0..N {
        let mut line = [zero; N];
        for row in 0..N {
            line[row] = square[row][column];
        }
        let line = along(&line);
        for row in 0..M {
            half[row][column] = line[row];
        }
    }
    let mut whole = [[zero; M]; M];
    for row in 0..M {
        whole[row] = along(&half[row]);
    }
    whole
}

/// Computes Bᵀ·d·B of the inputs d.
#[inline(always)]
pub(super) fn of_inputs<S: Simd>(simd: S, inputs: &Square<S, 4>) -> Square<S, 4> {
    both_ways(
        simd,
        inputs,
        #[inline(always)]
        |[a, b, c, d]| {
            [
                simd.sub_f32s(*a, *c),
                simd.add_f32s(*b, *c),
                simd.sub_f32s(*c, *b),
                simd.sub_f32s(*b, *d),
            ]
        },
    )
}

/// Computes Aᵀ·m·A of the sums m: the outputs.
#[inline(always)]
pub(super) fn outputs<S: Simd>(simd: S, sums: &Square<S, 4>) -> Square<S, 2> {
    both_ways(
        simd,
        sums,
        #[inline(always)]
        |[a, b, c, d]| {
            [
                simd.add_f32s(*a, simd.add_f32s(*b, *c)),
                simd.sub_f32s(simd.sub_f32s(*b, *c), *d),
            ]
        },
    )
}

/// Computes A·y·Aᵀ of gradients y by the outputs: the gradients by the sums.
#[inline(always)]
pub(super) fn of_gradients<S: Simd>(simd: S, gradients: &Square<S, 2>) -> Square<S, 4> {
    let zero = simd.splat_f32s(0.0);
    both_ways(
        simd,
        gradients,
        #[inline(always)]
        |[a, b]| {
            [
                *a,
                simd.add_f32s(*a, *b),
                simd.sub_f32s(*a, *b),
                simd.sub_f32s(zero, *b),
            ]
        },
    )
}

/// Computes G·g·Gᵀ of the taps g.
#[inline(always)]
pub(super) fn of_taps<S: Simd>(simd: S, taps: &Square<S, 3>) -> Square<S, 4> {
    let half = simd.splat_f32s(0.5);
    both_ways(
        simd,
        taps,
        #[inline(always)]
        |[a, b, c]| {
            let (outer, middle) = (
                simd.mul_f32s(half, simd.add_f32s(*a, *c)),
                simd.mul_f32s(half, *b),
            );
            [
                *a,
                simd.add_f32s(outer, middle),
                simd.sub_f32s(outer, middle),
                *c,
            ]
        },
    )
}

/// Computes Gᵀ·u·G of gradients u by the transformed taps: the gradients by the taps.
#[inline(always)]
pub(super) fn taps<S: Simd>(simd: S, gradients: &Square<S, 4>) -> Square<S, 3> {
    let half = simd.splat_f32s(0.5);
    both_ways(
        simd,
        gradients,
        #[inline(always)]
        |[a, b, c, d]| {
            let sum = simd.mul_f32s(half, simd.add_f32s(*b, *c));
            [
                simd.add_f32s(*a, sum),
                simd.mul_f32s(half, simd.sub_f32s(*b, *c)),
                simd.add_f32s(sum, *d),
            ]
        },
    )
}
