//! Numbers that the paper of DACL reports (Verma et al., ICML 2021). Nothing here is ours.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::pages::dacl::data_set::DaclDataSet;
use crate::pages::dacl::row::DaclRow;
use crate::pages::dacl::target::DaclTarget;
use crate::pages::printed;

/// Source as it is cited on pages.
pub(crate) const DACL_SOURCE: &str = "Verma et al., ICML 2021";

/// Accuracy in per cent that the paper prints.
#[derive(Debug, Deserialize)]
pub(crate) struct PrintedAccuracy {
    table: DaclTarget,
    data_set: DaclDataSet,
    method: String,
    /// Mean.
    pub(crate) mean: f64,
    /// Standard deviation, where there is one.
    pub(crate) sd: Option<f64>,
}

static ACCURACIES: LazyLock<Vec<PrintedAccuracy>> =
    LazyLock::new(|| printed::rows(include_str!("../../../data/dacl-accuracies.csv")));

/// Returns the paper's accuracy next to a row of a table.
pub(crate) fn printed_accuracy(
    target: DaclTarget,
    data: DaclDataSet,
    row: DaclRow,
) -> Option<&'static PrintedAccuracy> {
    let method = printed_method(target, row)?;
    let mut all = ACCURACIES.iter();
    all.find(|of| of.table == target && of.data_set == data && of.method == method)
}

/// Returns the paper's name of a row. The paper does not say which α and ρ were chosen, so that a number stands
/// next to each row that it may be.
fn printed_method(target: DaclTarget, row: DaclRow) -> Option<&'static str> {
    use DaclTarget::{Table1, Table2, Table4};
    Some(match (target, row) {
        (Table1 | Table2, DaclRow::Untrained) | (Table4, DaclRow::NotReestimated) => {
            "No-Pretraining"
        }
        (Table1 | Table2, DaclRow::GaussianPrinted) => "Gaussian-noise",
        (Table1, DaclRow::LinearAlpha50)
        | (Table1 | Table2, DaclRow::LinearAlpha90)
        | (Table4, DaclRow::HiddenMixup) => "DACL",
        (Table1, DaclRow::PlusKeep10) | (Table1 | Table2, DaclRow::PlusKeep50) => "DACL+",
        (Table1, DaclRow::Supervised) => "Full network supervised training",
        (Table2, DaclRow::Simclr) => "SimCLR",
        (Table2, DaclRow::SimclrDacl) => "SimCLR+DACL",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use DaclTarget::{Table1, Table2, Table4};

    #[test]
    fn every_number_stands_beside_a_row() {
        let n_of = |table| ACCURACIES.iter().filter(|of| of.table == table).count();
        assert_eq!([Table1, Table2, Table4].map(n_of), [10, 6, 10]);
        for of in ACCURACIES.iter() {
            assert!(of.table.data_sets().contains(&of.data_set), "{of:?}");
            assert_eq!(of.sd.is_some(), of.table == Table4, "{of:?}");
            let mut rows = of.table.rows().iter();
            let is_own = |row: &DaclRow| printed_method(of.table, *row) == Some(&of.method);
            assert!(rows.any(is_own), "{of:?}");
        }
    }

    #[test]
    fn numbers_stand_beside_the_rows_of_the_paper() {
        let of = |target, data, row| printed_accuracy(target, data, row).map(|of| of.mean);
        let cifar = DaclDataSet::Cifar10;
        assert_eq!(of(Table1, cifar, DaclRow::PlusKeep50), Some(39.7));
        assert_eq!(of(Table2, cifar, DaclRow::PlusKeep50), Some(83.8));
        assert_eq!(of(Table2, cifar, DaclRow::SimclrDacl), Some(94.3));
        assert_eq!(of(Table2, cifar, DaclRow::SimclrFourViews), None);
        let fashion = DaclDataSet::FashionMnist;
        assert_eq!(of(Table1, fashion, DaclRow::Supervised), Some(79.1));
        assert_eq!(of(Table1, fashion, DaclRow::Raw), None);
        let mixup = DaclRow::HiddenMixup;
        assert_eq!(of(Table4, DaclDataSet::PtcMr, mixup), Some(59.24));
        for row in DaclRow::TABLES {
            assert_eq!(of(Table1, DaclDataSet::Letter, row), None);
        }
    }
}
