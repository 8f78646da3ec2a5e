//! The standard normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use libm::erfc;

/// Returns the density φ(z).
pub(super) fn density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (2.0 * PI).sqrt()
}

/// Returns the probability Φ(z) of a value below z.
pub(super) fn cumulative(z: f64) -> f64 {
    erfc(-z * FRAC_1_SQRT_2) / 2.0
}

/// Returns ln Φ(z) without cancellation where Φ(z) is close to 1.
pub(super) fn ln_cumulative(z: f64) -> f64 {
    if z > 0.0 {
        (-cumulative(-z)).ln_1p()
    } else {
        cumulative(z).ln()
    }
}

/// Returns the quantile Φ⁻¹(p) of a probability p above 0 and below 1.
///
/// A rational approximation in the tail and in the middle (Acklam, 2003; relative error 1.2e-9) and one step of
/// Halley's method for Φ(z) = p, which leaves an error of the order of its rounding.
pub(super) fn quantile(p: f64) -> f64 {
    // In the upper half 1 - p would have lost digits already, so the lower half is solved.
    if p > 0.5 {
        return -lower_quantile(1.0 - p);
    }
    lower_quantile(p)
}

fn lower_quantile(p: f64) -> f64 {
    const TAIL: f64 = 0.02425;
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    let z = if p < TAIL {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / polynomial(&D, q)
    } else {
        let q = p - 0.5;
        q * polynomial(&A, q * q) / polynomial(&B, q * q)
    };
    let step = (cumulative(z) - p) / density(z);
    z - step / (1.0 + z * step / 2.0)
}

/// Evaluates a polynomial whose coefficients are given from the highest power on.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_inverse() {
        for p in [1e-300, 1e-20, 1e-6, 0.02, 0.025, 0.3, 0.5] {
            let z = quantile(p);
            assert!((cumulative(z) / p - 1.0).abs() < 1e-12, "{p}: {z}");
        }
        for p in [0.6, 0.98, 0.999_999] {
            assert!((cumulative(quantile(p)) - p).abs() < 1e-15, "{p}");
        }
        assert_eq!(quantile(0.5), 0.0);
    }

    #[test]
    fn logarithms_are_those_of_the_probability() {
        for z in [-30.0, -5.0, -1e-3, 0.0, 1e-3, 3.0] {
            let direct = cumulative(z).ln();
            assert!(
                (ln_cumulative(z) - direct).abs() <= 1e-14 * direct.abs(),
                "{z}"
            );
        }
        // 1 - Φ(9) is below the precision of 1.
        assert!((ln_cumulative(9.0) + cumulative(-9.0)).abs() < 1e-33);
    }
}
