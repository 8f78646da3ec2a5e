//! Numbers that the paper reports. Source of everything here: Ji, Li, Peng, Wu, Fu, Sun, Yu: Unbiased
//! and Efficient Self-Supervised Incremental Contrastive Learning, WSDM 2023. Nothing here is ours.

use crate::paper::data_set::DataSet;

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
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// Lower end.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
}

/// Range of the difference in accuracy between ICL and the other methods (section 4.3).
pub(crate) const ACCURACY_DIFFERENCE: Span = Span {
    low: -0.0137,
    high: 0.0126,
};

/// Average improvement in accuracy (section 4.3).
pub(crate) const AVERAGE_IMPROVEMENT: f64 = 0.002;

/// ICL's speed-ups (section 4.4 on Figure 4): of time for α from 0.1 to 0.9, of the convergence epoch
/// for the same, and at α = 0.9, where the paper does not say of which of the two.
pub(crate) const FIGURE_4: [Span; 3] = [
    Span {
        low: 2.2,
        high: 18.3,
    },
    Span {
        low: 2.7,
        high: 22.9,
    },
    Span {
        low: 2.2,
        high: 5.3,
    },
];

/// Speed-up in the paper's tables: retraining's cost divided by the method's, a mean of five runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PaperSpeedUp {
    /// Speed-up of the training time until the convergence epoch.
    pub(crate) time: f64,
    /// Speed-up of the convergence epoch.
    pub(crate) epoch: f64,
}

/// Growth ratios of the tables' columns.
const ALPHAS: [f64; 3] = [0.3, 0.5, 0.7];

/// Twelve columns: for each of two data sets and three growth ratios the time and the epoch.
type Row = [f64; 12];

/// Table 3: ImageNet-2, then MNIST-2. Methods in the order of [`PAPER_METHODS`].
const TABLE_3: [Row; 8] = [
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [10.7, 3.2, 3.9, 2.0, 2.2, 1.6, 12.3, 3.6, 5.5, 2.6, 3.8, 2.7],
    [3.4, 2.0, 2.0, 1.6, 3.4, 2.7, 2.8, 2.6, 3.5, 2.5, 3.2, 2.4],
    [6.9, 2.9, 2.1, 1.4, 2.2, 1.5, 7.8, 3.0, 4.4, 2.8, 3.1, 2.2],
    [
        11.2, 16.8, 6.2, 13.2, 5.9, 12.7, 14.2, 10.6, 16.7, 12.7, 6.4, 7.1,
    ],
    [9.6, 14.7, 3.4, 5.3, 1.1, 2.2, 1.0, 1.0, 2.4, 2.5, 1.5, 2.3],
    [9.2, 15.7, 4.8, 8.1, 1.7, 3.8, 1.1, 1.3, 1.2, 1.5, 1.0, 1.2],
    [9.8, 16.4, 1.6, 2.7, 1.0, 1.3, 1.7, 1.7, 1.3, 1.3, 1.2, 1.3],
];

/// Table 4: PROTEINS, then REDDIT. Methods in the order of [`PAPER_METHODS`].
const TABLE_4: [Row; 8] = [
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    [25.7, 8.0, 8.1, 3.9, 2.7, 1.9, 14.4, 1.1, 5.5, 2.9, 1.2, 0.9],
    [2.9, 2.1, 1.6, 1.0, 1.4, 1.4, 2.9, 2.1, 2.0, 1.4, 1.3, 1.1],
    [18.2, 7.3, 5.2, 2.7, 0.9, 0.8, 2.4, 1.5, 2.7, 1.6, 1.1, 0.9],
    [10.1, 10.5, 5.8, 6.1, 2.6, 2.7, 2.7, 2.5, 2.9, 3.1, 2.3, 3.2],
    [3.8, 14.6, 1.6, 1.7, 1.0, 1.1, 3.4, 3.3, 2.7, 2.9, 2.6, 3.6],
    [2.6, 3.6, 2.1, 2.9, 1.4, 2.1, 3.0, 3.2, 1.4, 1.6, 1.2, 1.3],
    [2.5, 2.9, 1.9, 2.0, 1.1, 1.2, 5.9, 5.8, 2.2, 2.4, 2.5, 2.5],
];

/// Returns the speed-up of Table 3 or 4 for a method of the registry; `None` where the paper has no
/// such method or growth ratio.
pub(crate) fn paper_speed_up(data: DataSet, alpha: f64, method: &str) -> Option<PaperSpeedUp> {
    let row = PAPER_METHODS.iter().position(|(_, own)| *own == method)?;
    let column = ALPHAS.iter().position(|own| *own == alpha)?;
    let (table, half) = match data {
        DataSet::ImageNet2 => (&TABLE_3, 0),
        DataSet::Mnist2 => (&TABLE_3, 6),
        DataSet::Proteins => (&TABLE_4, 0),
        DataSet::Reddit => (&TABLE_4, 6),
    };
    let at = half + 2 * column;
    Some(PaperSpeedUp {
        time: table[row][at],
        epoch: table[row][at + 1],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_and_epoch(data: DataSet, alpha: f64, method: &str) -> Option<(f64, f64)> {
        paper_speed_up(data, alpha, method).map(|of| (of.time, of.epoch))
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
        let greatest = |table: &[Row; 8], row: usize, offset: usize| {
            let columns = table[row].iter().skip(offset).step_by(2);
            columns.copied().fold(0.0, f64::max)
        };
        assert_eq!(greatest(&TABLE_3, 4, 0), 16.7);
        assert_eq!(greatest(&TABLE_3, 7, 0), 9.8);
        assert_eq!(greatest(&TABLE_3, 4, 1), 16.8);
        assert_eq!(greatest(&TABLE_3, 7, 1), 16.4);
        assert_eq!(greatest(&TABLE_4, 4, 0), 10.1);
        assert_eq!(greatest(&TABLE_4, 7, 0), 5.9);
        assert_eq!(greatest(&TABLE_4, 5, 1), 14.6);
    }
}
