//! Numbers that the paper reports (Ji et al., WSDM 2023). Nothing here is ours.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::pages::paper::data_set::DataSet;
use crate::pages::printed;

/// Source as it is cited on pages.
pub(crate) const SOURCE: &str = "Ji et al., WSDM 2023";

/// Names of the paper's methods, in the paper and in the registry.
pub(crate) const PAPER_METHODS: [(&str, &str); 8] = [
    ("Retraining", "retraining"),
    ("Fine-tuning", "fine-tuning"),
    ("Replay", "replay"),
    ("Distillation", "distillation"),
    ("ICL (Ours)", "icl-published"),
    ("ICL (w/o LRL)", "icl-published-wo-lrl"),
    ("ICL (w/o M)", "icl-published-wo-m"),
    ("ICL (w/o M+LRL)", "icl-published-wo-m-lrl"),
];

/// Range that the paper states.
#[derive(Debug, Deserialize)]
pub(crate) struct Span {
    quantity: String,
    /// Lower end.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
}

static SPANS: LazyLock<Vec<Span>> =
    LazyLock::new(|| printed::rows(include_str!("../../../data/icl-ranges.csv")));

/// Returns the range of a quantity.
///
/// # Panics
/// If the paper states none.
pub(crate) fn span(quantity: &str) -> &'static Span {
    let mut spans = SPANS.iter();
    let found = spans.find(|of| of.quantity == quantity);
    found.expect("the paper states a range of the quantity")
}

/// Speed-up in the paper's tables: retraining's cost divided by the method's, a mean of five runs.
#[derive(Debug, Deserialize)]
pub(crate) struct PaperSpeedUp {
    data_set: String,
    alpha: f64,
    method: String,
    /// Speed-up of the training time until the convergence epoch.
    pub(crate) time: f64,
    /// Speed-up of the convergence epoch.
    pub(crate) epoch: f64,
}

static SPEED_UPS: LazyLock<Vec<PaperSpeedUp>> =
    LazyLock::new(|| printed::rows(include_str!("../../../data/icl-speed-ups.csv")));

/// Returns the speed-up of Table 3 or 4 for a method of the registry; `None` where the paper has no
/// such method or growth ratio.
pub(crate) fn paper_speed_up(
    data: DataSet,
    alpha: f64,
    method: &str,
) -> Option<&'static PaperSpeedUp> {
    let (printed, _) = PAPER_METHODS.iter().find(|(_, own)| *own == method)?;
    SPEED_UPS.iter().find(|of| {
        DataSet::from_name(&of.data_set) == Some(data) && of.alpha == alpha && of.method == *printed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_and_epoch(data: DataSet, alpha: f64, method: &str) -> Option<(f64, f64)> {
        paper_speed_up(data, alpha, method).map(|of| (of.time, of.epoch))
    }

    #[test]
    fn every_data_set_and_growth_ratio_has_every_method() {
        assert_eq!((SPEED_UPS.len(), SPANS.len()), (96, 5));
        for data in DataSet::ALL {
            for alpha in [0.3, 0.5, 0.7] {
                for (_, method) in PAPER_METHODS {
                    assert!(time_and_epoch(data, alpha, method).is_some());
                }
                assert_eq!(time_and_epoch(data, alpha, "retraining"), Some((1.0, 1.0)));
            }
        }
    }

    #[test]
    fn columns_are_where_the_paper_has_them() {
        use DataSet::{ImageNet2, Mnist2, Proteins, Reddit};
        for (data, alpha, method, expected) in [
            (ImageNet2, 0.3, "icl-published", (11.2, 16.8)),
            (Mnist2, 0.5, "icl-published", (16.7, 12.7)),
            (Mnist2, 0.7, "icl-published-wo-m", (1.0, 1.2)),
            (Proteins, 0.3, "fine-tuning", (25.7, 8.0)),
            (Proteins, 0.7, "distillation", (0.9, 0.8)),
            (Proteins, 0.5, "icl-published", (5.8, 6.1)),
            (Reddit, 0.3, "icl-published-wo-m-lrl", (5.9, 5.8)),
            (Reddit, 0.7, "icl-published-wo-lrl", (2.6, 3.6)),
        ] {
            assert_eq!(time_and_epoch(data, alpha, method), Some(expected));
        }
        assert_eq!(time_and_epoch(Proteins, 0.4, "retraining"), None);
        assert_eq!(time_and_epoch(Proteins, 0.5, "icl"), None);
    }

    /// The text of section 4.2 names the extremes of both tables.
    #[test]
    fn the_extremes_are_those_of_the_text() {
        let greatest = |is_image: bool, method: &str, of: fn(&PaperSpeedUp) -> f64| {
            let sets = DataSet::ALL.into_iter();
            let all = sets
                .filter(|data| data.is_image() == is_image)
                .flat_map(|data| {
                    [0.3, 0.5, 0.7].map(|alpha| of(paper_speed_up(data, alpha, method).unwrap()))
                });
            all.fold(0.0, f64::max)
        };
        let [icl, without_both] = ["icl-published", "icl-published-wo-m-lrl"];
        assert_eq!(greatest(true, icl, |of| of.time), 16.7);
        assert_eq!(greatest(true, without_both, |of| of.time), 9.8);
        assert_eq!(greatest(true, icl, |of| of.epoch), 16.8);
        assert_eq!(greatest(true, without_both, |of| of.epoch), 16.4);
        assert_eq!(greatest(false, icl, |of| of.time), 10.1);
        assert_eq!(greatest(false, without_both, |of| of.time), 5.9);
        assert_eq!(greatest(false, "icl-published-wo-lrl", |of| of.epoch), 14.6);
    }
}
