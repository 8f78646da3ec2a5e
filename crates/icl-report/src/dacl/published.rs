//! Numbers that the paper of DACL reports. Source of everything here: Verma, Luong, Kawaguchi, Pham, Le:
//! Towards Domain-Agnostic Contrastive Learning, ICML 2021. Nothing here is ours.

use crate::dacl::data_set::DaclDataSet;
use crate::dacl::row::DaclRow;

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

/// Returns the paper's accuracy beside a row, from Table 1 or 4. The paper does not say which α and ρ were
/// chosen, so that it stands beside each that it may be.
pub(crate) fn printed_accuracy(data: DaclDataSet, row: DaclRow) -> Option<PrintedAccuracy> {
    let table_1 = match data {
        DaclDataSet::FashionMnist => Some([66.6, 75.8, 81.4, 82.4, 79.1]),
        DaclDataSet::Cifar10 => Some([26.8, 27.4, 37.6, 39.7, 35.2]),
        _ => None,
    };
    if let Some([none, gaussian, dacl, plus, supervised]) = table_1 {
        let mean = match row {
            DaclRow::Untrained => none,
            DaclRow::GaussianPrinted => gaussian,
            DaclRow::LinearAlpha50 | DaclRow::LinearAlpha90 => dacl,
            DaclRow::PlusKeep50 | DaclRow::PlusKeep10 => plus,
            DaclRow::Supervised => supervised,
            _ => return None,
        };
        return Some(PrintedAccuracy { mean, sd: None });
    }
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
        let of = |data, row| printed_accuracy(data, row).map(|printed| printed.mean);
        assert_eq!(of(DaclDataSet::Cifar10, DaclRow::PlusKeep50), Some(39.7));
        assert_eq!(
            of(DaclDataSet::FashionMnist, DaclRow::Supervised),
            Some(79.1)
        );
        assert_eq!(of(DaclDataSet::FashionMnist, DaclRow::Raw), None);
        assert_eq!(of(DaclDataSet::PtcMr, DaclRow::HiddenMixup), Some(59.24));
        for row in DaclRow::TABLES {
            assert_eq!(of(DaclDataSet::Letter, row), None);
        }
    }
}
