//! The classifiers that evaluate features of graphs by cross-validation.

use crate::pages::dacl::DaclAccuracies;
use icl_cli::parts::Failure;
use icl_core::Seed;
use icl_eval::{EvalError, KnnProtocolConfig, KnnVotes, LinearProbeConfig, Matrix, Protocol};

use crate::commands::dacl::classifiers::N_NEIGHBOURS;
use crate::descent::DescentProbe;

/// Number of folds.
const FOLDS: usize = 10;

/// Evaluates features by cross-validation, with folds of the seed.
///
/// # Errors
/// If a fit fails.
pub fn accuracies(
    labels: &[usize],
    features: &Matrix,
    seed: Seed,
) -> Result<DaclAccuracies, Failure> {
    let printed = DescentProbe::info_graph(seed.child("printed"))
        .evaluate(features, labels, seed)
        .map_err(other)?;
    let mean = |protocol: &dyn Protocol| {
        let accuracy = protocol.evaluate(features, labels, seed).map_err(other)?;
        Ok::<_, Failure>(accuracy.map(|of| of.mean))
    };
    let probe = LinearProbeConfig::default().with_n_folds(FOLDS);
    let neighbours = KnnProtocolConfig::default()
        .with_k(N_NEIGHBOURS)
        .with_votes(KnnVotes::Uniform)
        .with_n_folds(FOLDS);
    Ok(DaclAccuracies {
        printed: printed.as_ref().map(|of| of.chosen.mean),
        printed_best: printed.as_ref().map(|of| of.best_on_test().accuracy.mean),
        converged: mean(&probe.try_init().map_err(other)?)?,
        neighbours: mean(&neighbours.try_init().map_err(other)?)?,
        own: None,
        validation: None,
    })
}

/// Returns the share of the most frequent class.
pub fn majority(labels: &[usize]) -> f64 {
    let n_classes = labels.iter().max().map_or(0, |last| last + 1);
    let mut counts = vec![0_usize; n_classes];
    for &label in labels {
        counts[label] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    most as f64 / labels.len().max(1) as f64
}

/// Returns the mean of each accuracy that all have.
pub fn mean_accuracies(of: &[DaclAccuracies]) -> DaclAccuracies {
    let mean = |by: fn(&DaclAccuracies) -> Option<f64>| {
        let values: Option<Vec<f64>> = of.iter().map(by).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    };
    DaclAccuracies {
        printed: mean(|of| of.printed),
        printed_best: mean(|of| of.printed_best),
        converged: mean(|of| of.converged),
        neighbours: mean(|of| of.neighbours),
        own: mean(|of| of.own),
        validation: mean(|of| of.validation),
    }
}

fn other(error: EvalError) -> Failure {
    Failure::Other(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracies_are_means_where_all_have_one() {
        let of = |printed, converged| DaclAccuracies {
            printed,
            converged,
            ..DaclAccuracies::default()
        };
        let mean = mean_accuracies(&[of(Some(0.5), Some(0.5)), of(None, Some(0.75))]);
        assert_eq!(mean, of(None, Some(0.625)));
    }

    #[test]
    fn the_most_frequent_class_has_its_share() {
        assert_eq!(majority(&[0, 2, 2, 1]), 0.5);
    }
}
