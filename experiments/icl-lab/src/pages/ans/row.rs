//! Rows of an experiment: a course of the number of negatives over a training.

use serde::{Deserialize, Serialize};

/// Course of the number of negatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnsCourse {
    /// The peak in all steps.
    Fixed,
    /// From 1 to the peak.
    Up,
    /// From the peak to 1.
    Down,
    /// To the peak in a tenth of the steps, then to 1.
    Ans,
    /// To the peak in nine tenths of the steps, then to 1.
    Mirrored,
    /// The best number at each evaluation.
    Stagewise,
    /// No encoder: items in the order of their number of training pairs, a floor.
    Popularity,
}

/// Row of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AnsRow {
    /// Course.
    pub course: AnsCourse,
    /// Peak of the course.
    pub peak: f64,
    /// Number of epochs.
    pub epochs: usize,
}

impl AnsRow {
    /// Returns the name on pages. `epochs` is the number of epochs of most rows.
    pub fn title(&self, epochs: usize) -> String {
        let AnsRow { course, peak, .. } = self;
        let title = match course {
            AnsCourse::Fixed => format!("K = {peak}"),
            AnsCourse::Up => format!("1 to {peak}"),
            AnsCourse::Down => format!("{peak} to 1"),
            AnsCourse::Ans => format!("ANS, peak {peak}"),
            AnsCourse::Mirrored => format!("ANS mirrored, peak {peak}"),
            AnsCourse::Stagewise => "stagewise".to_owned(),
            AnsCourse::Popularity => "popularity".to_owned(),
        };
        match self.epochs == epochs {
            true => title,
            false => format!("{title}, {} epochs", self.epochs),
        }
    }
}
