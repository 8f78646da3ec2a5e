//! Answer of a comparison: which method reaches the quality of retraining with the least cost.

use serde::Serialize;

use crate::summary::methods::MethodSummary;
use crate::summary::speed_up::SAME;
use crate::summary::target::Distances;

/// Answer to the question which method is as good as retraining.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// Retraining was not run.
    NoTarget,
    /// Only retraining was run.
    OnlyRetraining,
    /// In most seeds the old encoder is at the target before the first step.
    AtStart {
        /// Number of seeds in which it is.
        n: usize,
        /// Number of seeds.
        of: usize,
    },
    /// The old encoder is nearer to the target than three times the noise, on old and on new data.
    TooNear,
    /// A method reaches the target sooner than retraining.
    Sooner {
        /// Quickest method.
        method: String,
        /// Median of its speed-up in charged passes.
        speed_up: f64,
    },
    /// No method reaches the target sooner than retraining.
    NotSooner {
        /// Quickest method.
        method: String,
        /// Median of its speed-up in charged passes.
        speed_up: f64,
    },
    /// A method reaches the target, and retraining itself does not stay there.
    NoSpeedUp {
        /// First method that does.
        method: String,
    },
    /// No method reaches the target in most seeds.
    NotReached {
        /// Method that ends nearest to the target.
        method: String,
        /// Median of its distance from the target, as a share of it.
        above_target: f64,
    },
    /// No method but retraining was trained.
    NotTrained {
        /// Median of the distance of the old encoder from the target, as a share of it.
        above_target: f64,
    },
    /// No final exact risk is a finite number.
    NotFinite,
}

/// Finds the answer.
pub(crate) fn verdict(methods: &[MethodSummary], distances: Option<&Distances>) -> Verdict {
    let others: Vec<&MethodSummary> = methods.iter().filter(|of| !of.is_retraining()).collect();
    if methods.iter().all(|of| of.n_with_target == 0) {
        return Verdict::NoTarget;
    }
    if others.is_empty() {
        return Verdict::OnlyRetraining;
    }
    let at_start = others.iter().map(|of| (of.n_at_start, of.n_with_target));
    if let Some((n, of)) = at_start.max().filter(|(n, of)| 2 * n > *of) {
        return Verdict::AtStart { n, of };
    }
    if distances.is_some_and(|of| !of.is_clear) {
        return Verdict::TooNear;
    }
    let arrives = |of: &&&MethodSummary| of.charged_to_target.is_some_and(|of| of.median.is_some());
    let arrived = || others.iter().filter(arrives);
    let with_speed_up =
        arrived().filter_map(|of| Some((*of, of.speed_up_in_passes?.median_ratio()?)));
    // Of equal speed-ups the first method's counts.
    let best = with_speed_up.reduce(|best, next| if best.1 >= next.1 { best } else { next });
    match (best, arrived().next()) {
        (Some((of, speed_up)), _) => {
            let method = of.method.clone();
            match speed_up >= SAME {
                true => Verdict::Sooner { method, speed_up },
                false => Verdict::NotSooner { method, speed_up },
            }
        }
        (None, Some(of)) => Verdict::NoSpeedUp {
            method: of.method.clone(),
        },
        (None, None) => nearest(&others),
    }
}

/// Finds the method that ends nearest to the target, where none reached it in most seeds.
fn nearest(others: &[&MethodSummary]) -> Verdict {
    let gap = |of: &MethodSummary| of.above_target?.median;
    let trained = others.iter().filter(|of| of.is_trained);
    let nearest = trained
        .filter_map(|of| Some((of.method.clone(), gap(of)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    match (nearest, others.iter().find_map(|of| gap(of))) {
        (Some((method, above_target)), _) => Verdict::NotReached {
            method,
            above_target,
        },
        (None, Some(above_target)) => Verdict::NotTrained { above_target },
        (None, None) => Verdict::NotFinite,
    }
}
