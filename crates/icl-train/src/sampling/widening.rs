//! The widening share of old data in a run.

/// Largest share of new data in the first epochs, unless α is larger.
const FIRST_NEW: f64 = 0.4;
/// Smallest share of the old data in the first epochs. With less, a short run ends with a higher risk on old data than
/// θ₀ has (MNIST, docs/results/methods.md).
const FIRST_OLD: f64 = 0.5;
/// Cost at which the share doubles for the first time, in epochs over all data.
const FIRST_DOUBLING: f64 = 12.0;
/// Ratio of the costs of two successive doublings.
const COST_RATIO: f64 = 4.0;

/// Returns the share of the old data with which a run begins: half of them, or as many as leave 0.4 of an epoch to new
/// data if that is more.
///
/// ```text
/// f₀ = min(1, max(1/2, α/(1 − α) · (1 − 0.4)/0.4))
/// ```
pub(crate) fn first_share(alpha: f64) -> f64 {
    (alpha / (1.0 - alpha) * (1.0 - FIRST_NEW) / FIRST_NEW).clamp(FIRST_OLD, 1.0)
}

/// Returns the share of the old data at the cost of `epochs` epochs over all data: it grows with the square root
/// of the cost, in doublings.
///
/// A small share makes epochs cheap and gives new data more weight than they have in X′: the risk on new data
/// falls quickly at first, and that on old data rises later. The schedule needs no evaluation. With all of X the loss
/// is that of retraining, without bias.
///
/// ```text
/// f = min(1, f₀·2ᵏ)        k doublings, at the cost of 12, 48, 192, … epochs over all data
/// ```
pub(crate) fn share(first: f64, epochs: f64) -> f64 {
    let mut share = first;
    let mut next = FIRST_DOUBLING;
    while epochs >= next && share < 1.0 {
        share *= 2.0;
        next *= COST_RATIO;
    }
    share.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_epochs_hold_half_of_the_old_data_and_at_most_two_fifths_of_new_data() {
        for alpha in [0.02, 0.1, 0.25] {
            assert_eq!(first_share(alpha), 0.5);
        }
        for alpha in [0.3, 0.35] {
            let old = first_share(alpha) * (1.0 - alpha);
            assert!((alpha / (alpha + old) - 0.4).abs() < 1e-12);
        }
        assert_eq!(first_share(0.4), 1.0);
        assert_eq!(first_share(0.9), 1.0);
    }

    #[test]
    fn the_share_doubles_as_the_cost_quadruples() {
        let shares = [0.0, 11.9, 12.0, 47.9, 48.0, 192.0, 768.0].map(|at| share(0.1, at));
        assert_eq!(shares, [0.1, 0.1, 0.2, 0.2, 0.4, 0.8, 1.0]);
        assert_eq!(share(0.1, 1e9), 1.0);
        assert_eq!(share(1.0, 100.0), 1.0);
    }
}
