//! A step along two samples, in the arithmetic of libsvm.

/// Least curvature along a step, as in libsvm.
const LEAST_CURVATURE: f64 = 1e-12;

/// Returns the curvature along a step of two samples with this kernel value.
#[inline(always)]
pub(super) fn curvature(kernel: f32) -> f64 {
    let curvature = 2.0 - 2.0 * f64::from(kernel);
    if curvature > 0.0 {
        curvature
    } else {
        LEAST_CURVATURE
    }
}

/// Returns both α after the step of two samples that minimises the dual problem along them within 0 and C and with
/// Σᵢ yᵢαᵢ unchanged (Chang and Lin, 2011, section 4.1). `is_other` says that they are of different classes; the
/// gradients are those of Qα − 1.
#[inline(always)]
pub(super) fn clipped(
    [mut a, mut b]: [f64; 2],
    is_other: bool,
    [g_i, g_j]: [f64; 2],
    curvature: f64,
    c: f64,
) -> [f64; 2] {
    if is_other {
        let step = (-g_i - g_j) / curvature;
        let difference = a - b;
        a += step;
        b += step;
        if difference > 0.0 {
            if b < 0.0 {
                (a, b) = (difference, 0.0);
            }
            if a > c {
                (a, b) = (c, c - difference);
            }
        } else {
            if a < 0.0 {
                (a, b) = (0.0, -difference);
            }
            if b > c {
                (a, b) = (c + difference, c);
            }
        }
    } else {
        let step = (g_i - g_j) / curvature;
        let sum = a + b;
        a -= step;
        b += step;
        if sum > c {
            if a > c {
                (a, b) = (c, sum - c);
            }
            if b > c {
                (a, b) = (sum - c, c);
            }
        } else {
            if b < 0.0 {
                (a, b) = (sum, 0.0);
            }
            if a < 0.0 {
                (a, b) = (0.0, sum);
            }
        }
    }
    [a, b]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dual along the pair falls by no other point on the segment more than by the step.
    #[test]
    fn a_step_is_the_best_point_of_its_segment() {
        let c = 1.0;
        for is_other in [false, true] {
            for [a, b] in [[0.0, 0.0], [0.2, 0.7], [1.0, 0.1], [0.4, 1.0]] {
                for gradients in [[-1.0, -1.0], [0.3, -0.8], [-2.0, 0.5], [0.01, 0.02]] {
                    let curvature = curvature(0.25);
                    let found = clipped([a, b], is_other, gradients, curvature, c);
                    // Along the segment, α moves by t·(s, 1) with s = ±1.
                    let s = if is_other { 1.0 } else { -1.0 };
                    let value =
                        |t: f64| (s * gradients[0] + gradients[1]) * t + 0.5 * curvature * t * t;
                    let t = found[1] - b;
                    assert!((found[0] - a - s * t).abs() < 1e-12, "on the segment");
                    assert!(found.iter().all(|of| (0.0..=c).contains(of)), "{found:?}");
                    for other in (-100..=100).map(|i| f64::from(i) / 100.0) {
                        let inside = [a + s * other, b + other];
                        if inside.iter().all(|of| (0.0..=c).contains(of)) {
                            assert!(value(t) <= value(other) + 1e-9, "{found:?}, {other}");
                        }
                    }
                }
            }
        }
    }
}
