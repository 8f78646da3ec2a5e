//! Numbers that the paper of DACL reports. Source of everything here: Verma, Luong, Kawaguchi, Pham, Le:
//! Towards Domain-Agnostic Contrastive Learning, ICML 2021. Nothing here is ours.

use crate::dacl::data_set::DaclDataSet;
use crate::dacl::row::DaclRow;
use crate::dacl::target::DaclTarget;

/// Source as it is cited on pages.
pub(crate) const DACL_SOURCE: &str = "Verma et al., ICML 2021";

/// Accuracy in per cent that the paper prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PrintedAccuracy {
    /// Mean.
    pub(crate) mean: f64,
    /// Standard deviation, where there is one.
    pub(crate) sd: Option<f64>,
}

/// Returns the paper's accuracy beside a row of a table. The paper does not say which α and ρ were chosen, so
/// that it stands beside each that it may be.
pub(crate) fn printed_accuracy(
    target: DaclTarget,
    data: DaclDataSet,
    row: DaclRow,
) -> Option<PrintedAccuracy> {
    match target {
        DaclTarget::Table1 => of_tables(data, row),
        DaclTarget::Table2 => of_images(row),
        DaclTarget::Table4 => of_graphs(data, row),
    }
}

fn of_tables(data: DaclDataSet, row: DaclRow) -> Option<PrintedAccuracy> {
    let [none, gaussian, dacl, plus, supervised] = match data {
        DaclDataSet::FashionMnist => [66.6, 75.8, 81.4, 82.4, 79.1],
        DaclDataSet::Cifar10 => [26.8, 27.4, 37.6, 39.7, 35.2],
        _ => return None,
    };
    let mean = match row {
        DaclRow::Untrained => none,
        DaclRow::GaussianPrinted => gaussian,
        DaclRow::LinearAlpha50 | DaclRow::LinearAlpha90 => dacl,
        DaclRow::PlusKeep50 | DaclRow::PlusKeep10 => plus,
        DaclRow::Supervised => supervised,
        _ => return None,
    };
    Some(PrintedAccuracy { mean, sd: None })
}

/// Returns an accuracy of a ResNet-50(4x) on the whole of CIFAR-10.
fn of_images(row: DaclRow) -> Option<PrintedAccuracy> {
    let mean = match row {
        DaclRow::Untrained => 43.1,
        DaclRow::GaussianPrinted => 56.1,
        DaclRow::LinearAlpha90 => 81.3,
        DaclRow::PlusKeep50 => 83.8,
        DaclRow::Simclr => 93.4,
        DaclRow::SimclrDacl => 94.3,
        _ => return None,
    };
    Some(PrintedAccuracy { mean, sd: None })
}

fn of_graphs(data: DaclDataSet, row: DaclRow) -> Option<PrintedAccuracy> {
    let [none, dacl] = match data {
        DaclDataSet::Mutag => [(81.70, 2.58), (85.31, 1.34)],
        DaclDataSet::PtcMr => [(53.07, 1.27), (59.24, 2.57)],
        DaclDataSet::RedditBinary => [(55.13, 1.86), (66.92, 3.38)],
        DaclDataSet::ImdbBinary => [(52.67, 2.08), (64.71, 2.13)],
        DaclDataSet::ImdbMulti => [(33.72, 0.80), (40.16, 1.50)],
        _ => return None,
    };
    let (mean, sd) = match row {
        DaclRow::NotReestimated => none,
        DaclRow::HiddenMixup => dacl,
        _ => return None,
    };
    Some(PrintedAccuracy { mean, sd: Some(sd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_beside_the_rows_of_the_paper() {
        use DaclTarget::{Table1, Table2, Table4};
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
