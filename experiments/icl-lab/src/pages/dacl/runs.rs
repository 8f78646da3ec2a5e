//! Accuracies of the records by data set, row and seed.

use crate::pages::dacl::data_set::DaclDataSet;
use crate::pages::dacl::record::{DaclAccuracies, DaclRecord};
use crate::pages::dacl::row::DaclRow;
use crate::pages::dacl::target::DaclTarget;

/// Records of one table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DaclRuns<'a> {
    /// Table.
    pub(crate) target: DaclTarget,
    /// Records.
    pub(crate) records: &'a [DaclRecord],
}

/// Accuracy with its seed.
pub(crate) type OfSeed = (u64, f64);

impl<'a> DaclRuns<'a> {
    /// Returns the records of the table.
    pub(crate) fn own(self) -> impl Iterator<Item = &'a DaclRecord> {
        self.records.iter().filter(move |r| r.target == self.target)
    }

    /// Returns the records of a row on a data set.
    pub(crate) fn of(
        self,
        data: DaclDataSet,
        row: DaclRow,
    ) -> impl Iterator<Item = &'a DaclRecord> {
        self.own().filter(move |r| (r.data, r.row) == (data, row))
    }

    /// Returns the data sets that have a record, in the table's order.
    pub(crate) fn data_sets(self) -> Vec<DaclDataSet> {
        let has_record = |data: &DaclDataSet| self.own().any(|r| r.data == *data);
        let sets = self.target.data_sets().iter().copied();
        sets.filter(has_record).collect()
    }

    /// Returns the accuracy of each seed by one classifier.
    pub(crate) fn accuracies(
        self,
        data: DaclDataSet,
        row: DaclRow,
        by: impl Fn(&DaclAccuracies) -> Option<f64>,
    ) -> Vec<OfSeed> {
        let of = self.of(data, row);
        of.filter_map(|r| Some((r.seed, by(&r.accuracies)?)))
            .collect()
    }

    /// Returns the accuracy of each seed of the row that is best on validation samples in that seed, the
    /// first of several.
    pub(crate) fn chosen(self, data: DaclDataSet, rows: &[DaclRow]) -> Vec<OfSeed> {
        let mut best: Vec<(u64, f64, f64)> = Vec::new();
        for record in rows.iter().flat_map(|row| self.of(data, *row)) {
            let accuracies = &record.accuracies;
            let (Some(validation), Some(accuracy)) = (accuracies.validation, accuracies.compared())
            else {
                continue;
            };
            match best.iter_mut().find(|(seed, ..)| *seed == record.seed) {
                Some(own) if validation > own.1 => *own = (record.seed, validation, accuracy),
                Some(_) => {}
                None => best.push((record.seed, validation, accuracy)),
            }
        }
        best.into_iter()
            .map(|(seed, _, accuracy)| (seed, accuracy))
            .collect()
    }
}

/// Returns the values alone.
pub(crate) fn values(of: &[OfSeed]) -> Vec<f64> {
    of.iter().map(|(_, value)| *value).collect()
}

/// Returns the differences `a − b` of the seeds that both have.
pub(crate) fn paired(a: &[OfSeed], b: &[OfSeed]) -> Vec<f64> {
    let other = |seed: u64| b.iter().find(|(own, _)| *own == seed);
    a.iter()
        .filter_map(|(seed, value)| Some(value - other(*seed)?.1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::dacl::fixture::record;

    #[test]
    fn rows_are_chosen_by_validation_and_paired_by_seed() {
        let data = DaclDataSet::Letter;
        let mut records = vec![
            record(data, DaclRow::LinearAlpha50, 0, 0.7),
            record(data, DaclRow::LinearAlpha90, 0, 0.6),
            record(data, DaclRow::LinearAlpha50, 1, 0.7),
        ];
        // Better on validation samples, worse on the test.
        records[1].accuracies.validation = Some(0.9);
        let runs = DaclRuns {
            target: DaclTarget::Table1,
            records: &records,
        };
        let chosen = runs.chosen(data, &[DaclRow::LinearAlpha50, DaclRow::LinearAlpha90]);
        assert_eq!(chosen, [(0, 0.6), (1, 0.7)]);
        assert_eq!(paired(&chosen, &[(1, 0.5), (2, 0.1)]), [0.7 - 0.5]);
        assert_eq!(runs.data_sets(), [data]);
        assert!(runs.chosen(DaclDataSet::Dna, &[DaclRow::Raw]).is_empty());
    }
}
