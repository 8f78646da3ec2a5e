//! Cells of a reproduction, grouped by data set and growth ratio.

use icl_report::RunRecord;
use icl_report::summary::{Outcome, Rule, SpeedUp, outcome};
use icl_train::REFERENCE;

use crate::pages::paper::data_set::DataSet;
use crate::pages::paper::provenance::Provenance;
use crate::pages::paper::target::Target;

/// Cell of the grid that has run: the records of all methods for a data set, growth ratio and seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Data set.
    pub data: DataSet,
    /// Requested growth ratio α; a split of whole samples comes close to it.
    pub alpha: f64,
    /// Root seed.
    pub seed: u64,
    /// Records, one per method.
    pub records: Vec<RunRecord>,
}

impl Cell {
    /// Returns the record of a method.
    pub(crate) fn record(&self, method: &str) -> Option<&RunRecord> {
        self.records.iter().find(|record| record.method == method)
    }

    /// Returns the record of retraining, against which all methods are measured.
    pub(crate) fn reference(&self) -> Option<&RunRecord> {
        self.record(REFERENCE)
    }
}

/// Contents of a page: one table or figure of the paper, with our cells.
#[derive(Debug, Clone)]
pub struct Reproduction<'a> {
    /// Table or figure.
    pub target: Target,
    /// Cells that have run, in the grid's order.
    pub cells: &'a [Cell],
    /// Sentences on what is missing.
    pub missing: &'a [String],
    /// Origin of the numbers.
    pub provenance: &'a Provenance,
}

impl Reproduction<'_> {
    /// Groups the cells by data set and growth ratio, in the grid's order.
    pub(crate) fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for cell in self.cells {
            let is_of =
                |group: &&mut Group<'_>| group.data == cell.data && group.alpha == cell.alpha;
            match groups.iter_mut().find(is_of) {
                Some(group) => group.cells.push(cell),
                None => groups.push(Group {
                    data: cell.data,
                    alpha: cell.alpha,
                    cells: vec![cell],
                }),
            }
        }
        groups
    }
}

/// Cells of one data set and growth ratio, one per seed.
pub(crate) struct Group<'a> {
    pub(crate) data: DataSet,
    pub(crate) alpha: f64,
    pub(crate) cells: Vec<&'a Cell>,
}

impl Group<'_> {
    /// Returns the data set and growth ratio as a title.
    pub(crate) fn title(&self) -> String {
        format!("{}, α = {}", self.data.name(), self.alpha)
    }

    /// Returns the methods that were run, in the order of the first seed's records.
    pub(crate) fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = Vec::new();
        for record in self.cells.iter().flat_map(|cell| &cell.records) {
            if !methods.contains(&record.method.as_str()) {
                methods.push(&record.method);
            }
        }
        methods
    }

    /// Lists the seeds: `seed 0`, or `seeds 0, 1`.
    pub(crate) fn seeds(&self) -> String {
        let seeds: Vec<String> = self
            .cells
            .iter()
            .map(|cell| cell.seed.to_string())
            .collect();
        let word = if seeds.len() == 1 { "seed" } else { "seeds" };
        format!("{word} {}", seeds.join(", "))
    }

    /// Returns the speed-ups of a method, one per seed.
    pub(crate) fn outcomes(&self, rule: Rule, method: &str) -> Vec<Outcome> {
        let of_cell = |cell: &&Cell| outcome(rule, cell.record(method)?, cell.reference()?);
        self.cells.iter().filter_map(of_cell).collect()
    }

    /// Summarises the speed-ups of a method over the seeds.
    pub(crate) fn speed_up(&self, rule: Rule, method: &str) -> Option<SpeedUp> {
        SpeedUp::over(self.outcomes(rule, method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_report::testing::reaching;

    #[test]
    fn seeds_are_compared_with_their_own_retraining() {
        let cell = |seed, whole: f64, own: f64| Cell {
            data: DataSet::Proteins,
            alpha: 0.5,
            seed,
            records: vec![
                reaching("retraining", seed, Some((1, 1, whole)), 2.0),
                reaching("warm", seed, Some((1, 1, own)), 2.0),
            ],
        };
        let cells = [cell(0, 8.0, 2.0), cell(1, 9.0, 1.0), cell(2, 1.0, 4.0)];
        let group = Group {
            data: DataSet::Proteins,
            alpha: 0.5,
            cells: cells.iter().collect(),
        };
        let of = group.speed_up(Rule::TargetTime, "warm").unwrap();
        assert_eq!(
            (of.least, of.median, of.greatest),
            (
                Outcome::Ratio(0.25),
                Outcome::Ratio(4.0),
                Outcome::Ratio(9.0)
            )
        );
        assert_eq!(group.speed_up(Rule::TargetTime, "absent"), None);
    }
}
