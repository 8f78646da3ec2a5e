//! The number of negatives of an update, from two measured AUCs.

use crate::Error;
use crate::negatives::optimum::{Optimum, course, effectiveness_by_k};
use crate::negatives::reliability::separation;

/// Largest number of negatives that [`advise`] returns: 1000.
pub const MAX_ADVISED: usize = 1000;

/// Returns the number K* of negatives for the update of an encoder that ranks old data with an AUC of `auc_old` and new
/// data with one of `auc_new`.
///
/// Labels are as reliable as the encoder ranks old data, and its predictions on new data rise to that from where they
/// are.
///
/// ```text
/// K* = argmax over K of P(μ_old, K) − mean over t of P(μ_old − (μ_old − μ_new)·e^{−t}, K),  t from 0 to 3
/// ```
///
/// New data that are ranked as well as old data contain no information on a course; it begins at 0 then, as that of a
/// new encoder. An AUC below ½ counts as ½.
///
/// ```
/// use icl_core::negatives::advise;
///
/// assert_eq!(advise(0.95, 0.5)?.k, 20);
/// // Better predictions at the start need more negatives.
/// assert!(advise(0.95, 0.9)?.k > 20);
/// # Ok::<(), icl_core::Error>(())
/// ```
///
/// # Errors
/// [`Error`] unless both AUCs are above 0 and below 1.
pub fn advise(auc_old: f64, auc_new: f64) -> Result<Optimum, Error> {
    let values = effectiveness(auc_old, auc_new)?;
    Ok(Optimum::of(&values).expect("there is a value for each K"))
}

/// Returns the effectiveness at K = 1, 2, …, [`MAX_ADVISED`].
fn effectiveness(auc_old: f64, auc_new: f64) -> Result<Vec<f64>, Error> {
    let label = separation(auc_old)?.max(0.0);
    let start = separation(auc_new)?.max(0.0);
    let start = if start < label { start } else { 0.0 };
    // The course of a whole training leads from 0 to 1.
    let course = course(1.0, 3.0);
    let predictions: Vec<f64> = course.iter().map(|t| start + (label - start) * t).collect();
    effectiveness_by_k(label, &predictions, 1.0, MAX_ADVISED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aucs_without_a_separation_are_rejected() {
        for [old, new] in [[1.0, 0.5], [0.9, 0.0], [f64::NAN, 0.5]] {
            assert!(advise(old, new).is_err(), "{old} {new}");
        }
    }

    #[test]
    fn labels_that_are_no_better_than_chance_advise_one_negative() {
        assert_eq!(advise(0.4, 0.3).unwrap().k, 1);
    }

    /// The effectiveness has one maximum over K, so that the best of fewer K is the smaller of K* and their number.
    #[test]
    fn effectiveness_rises_to_its_optimum() {
        for [old, new] in [[0.55, 0.5], [0.95, 0.9], [0.999, 0.6], [1.0 - 1e-6, 0.99]] {
            let values = effectiveness(old, new).unwrap();
            let k = advise(old, new).unwrap().k;
            let rises = values[..k].windows(2).all(|pair| pair[0] < pair[1]);
            assert!(rises, "{old} {new}: {k}");
        }
    }
}
