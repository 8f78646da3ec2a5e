//! Experiments that can be run.

use serde::{Deserialize, Serialize};

use crate::pages::ans::row::{AnsCourse, AnsRow};

/// Experiment on the number of negatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AnsExperiment {
    /// Numbers of negatives on interactions, as in Figures 2 and 3.
    #[serde(rename = "ans2")]
    Numbers,
    /// Courses of the number of negatives on interactions, as in Figure 7.
    #[serde(rename = "ans7")]
    Courses,
    /// Numbers and courses on titles and bodies, as in Figure 8.
    #[serde(rename = "ans8")]
    Texts,
}

/// Numbers of negatives of the sweep.
const NUMBERS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 32.0, 64.0, 128.0, 256.0];

impl AnsExperiment {
    /// Returns the name in commands and of the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Numbers => "ans2",
            Self::Courses => "ans7",
            Self::Texts => "ans8",
        }
    }

    /// Returns the title of the page.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Numbers => "Figures 2 and 3 of ANS: how many negatives a recommender should have",
            Self::Courses => "Figure 7 of ANS: courses of the number of negatives",
            Self::Texts => "Figure 8 of ANS: negatives for titles and bodies",
        }
    }

    /// Returns the rows, for courses up to `peak` and trainings of `epochs` epochs.
    pub fn rows(self, peak: f64, epochs: usize) -> Vec<AnsRow> {
        let row = |course, peak| AnsRow {
            course,
            peak,
            epochs,
        };
        let numbers = NUMBERS.map(|k| row(AnsCourse::Fixed, k)).to_vec();
        let mean = (1.0 + peak) / 2.0;
        let mut courses = vec![
            row(AnsCourse::Fixed, 1.0),
            row(AnsCourse::Fixed, peak),
            row(AnsCourse::Fixed, mean),
            row(AnsCourse::Up, peak),
            row(AnsCourse::Down, peak),
            row(AnsCourse::Ans, peak),
            row(AnsCourse::Mirrored, peak),
            row(AnsCourse::Stagewise, peak),
            row(AnsCourse::Fixed, 256.0),
        ];
        // As many scored negatives as the courses have, in fewer steps.
        courses.push(AnsRow {
            epochs: ((epochs as f64 * mean / peak).round() as usize).max(1),
            ..row(AnsCourse::Fixed, peak)
        });
        let popularity = vec![row(AnsCourse::Popularity, 0.0)];
        let mut rows = match self {
            Self::Numbers => [popularity, numbers].concat(),
            Self::Courses => [popularity, courses].concat(),
            Self::Texts => [numbers, courses].concat(),
        };
        let mut seen = Vec::new();
        rows.retain(|row| {
            let is_new = !seen.contains(row);
            seen.push(*row);
            is_new
        });
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_distinct_and_have_the_control_of_equal_compute() {
        let rows = AnsExperiment::Courses.rows(20.0, 10);
        assert_eq!(rows.len(), 11);
        let control = AnsRow {
            course: AnsCourse::Fixed,
            peak: 10.5,
            epochs: 10,
        };
        assert!(rows.contains(&control));
        assert_eq!(rows[10].epochs, 5);
        // K = 1, 20 and 256 are in both lists.
        assert_eq!(AnsExperiment::Texts.rows(20.0, 10).len(), 17);
    }
}
