//! Comparisons of rows, paired by seed.

use icl_report::summary;

use crate::pages::ans::record::{AnsMeasures, AnsRecord};
use crate::pages::ans::row::{AnsCourse, AnsRow};

/// Measure by which rows are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    /// Name.
    pub(super) name: &'static str,
    /// Value of a record.
    pub(super) of: fn(&AnsMeasures) -> f64,
}

/// Measures of the verdicts: one over all ranks, and one of the first ranks.
pub(super) const MEASURES: [Measure; 2] = [
    Measure {
        name: "AUC",
        of: |of| of.auc,
    },
    Measure {
        name: "nDCG@10",
        of: |of| of.ndcg,
    },
];

/// Mean and sample standard deviation of values; the deviation of a single one is not a number.
pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let [mean, deviation] = [summary::mean(values), summary::deviation(values)];
    (mean.unwrap_or(f64::NAN), deviation.unwrap_or(f64::NAN))
}

/// Difference of two rows on the test, paired by seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// Mean.
    pub(super) mean: f64,
    /// Standard deviation.
    pub(super) deviation: f64,
    /// Number of seeds.
    pub(super) n: usize,
}

impl Difference {
    /// Returns whether it is more than two standard errors away from 0.
    pub(super) fn is_clear(&self) -> bool {
        self.n >= 2 && self.mean.abs() > 2.0 * self.deviation / (self.n as f64).sqrt()
    }
}

/// Records of an experiment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runs<'a> {
    pub(super) records: &'a [AnsRecord],
}

impl Runs<'_> {
    /// Returns the rows that have a record, in the order of their first ones.
    pub(super) fn rows(&self) -> Vec<AnsRow> {
        let mut rows = Vec::new();
        for record in self.records {
            if !rows.contains(&record.row) {
                rows.push(record.row);
            }
        }
        rows
    }

    /// Returns the values of a row, one of each seed that has it.
    pub(super) fn values(&self, row: &AnsRow, of: impl Fn(&AnsRecord) -> Option<f64>) -> Vec<f64> {
        let own = self.records.iter().filter(|record| record.row == *row);
        own.filter_map(of).collect()
    }

    /// Returns the difference of two rows on the test, over the seeds that both have; `None` without any.
    pub(super) fn difference(
        &self,
        row: &AnsRow,
        other: &AnsRow,
        measure: Measure,
    ) -> Option<Difference> {
        let own = self.records.iter().filter(|record| record.row == *row);
        let differences: Vec<f64> = own
            .filter_map(|record| {
                let mut all = self.records.iter();
                let paired = all.find(|it| it.row == *other && it.seed == record.seed)?;
                Some((measure.of)(&record.test) - (measure.of)(&paired.test))
            })
            .collect();
        let (mean, deviation) = mean_and_deviation(&differences);
        (!differences.is_empty()).then_some(Difference {
            mean,
            deviation,
            n: differences.len(),
        })
    }

    /// Returns the fixed number with the best mean on the test, and those that are not clearly worse.
    pub(super) fn best_numbers(&self, measure: Measure, epochs: usize) -> Option<(f64, Vec<f64>)> {
        let rows = self.rows();
        let fixed = rows
            .iter()
            .filter(|row| row.course == AnsCourse::Fixed && row.epochs == epochs);
        let mean = |row: &AnsRow| {
            mean_and_deviation(&self.values(row, |it| Some((measure.of)(&it.test)))).0
        };
        let best = fixed.clone().max_by(|a, b| mean(a).total_cmp(&mean(b)))?;
        let is_as_good = |row: &&AnsRow| {
            let difference = self.difference(row, best, measure);
            *row == best || difference.is_some_and(|difference| !difference.is_clear())
        };
        let mut as_good: Vec<f64> = fixed.filter(is_as_good).map(|row| row.peak).collect();
        as_good.sort_by(f64::total_cmp);
        Some((best.peak, as_good))
    }
}
