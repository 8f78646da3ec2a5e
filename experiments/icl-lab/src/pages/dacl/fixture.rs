//! Made-up records.

use icl_train::UpdateRule;

use crate::pages::dacl::data_set::DaclDataSet;
use crate::pages::dacl::record::{
    DACL_SCHEMA, DaclAccuracies, DaclRecord, DaclSettings, DaclTraining,
};
use crate::pages::dacl::row::DaclRow;
use crate::pages::dacl::target::DaclTarget;

/// Returns the record of a row with this accuracy on test and validation samples.
pub(crate) fn record(data: DaclDataSet, row: DaclRow, seed: u64, accuracy: f64) -> DaclRecord {
    let target = match DaclTarget::Table1.data_sets().contains(&data) {
        true => DaclTarget::Table1,
        false => DaclTarget::Table4,
    };
    let is_own = matches!(row, DaclRow::Majority | DaclRow::Supervised);
    let evaluated = Some(accuracy).filter(|_| !is_own);
    DaclRecord {
        schema: DACL_SCHEMA,
        target,
        data,
        row,
        seed,
        settings: DaclSettings {
            epochs: 40,
            batch_size: 512,
            width: Some(128),
            optimizer: UpdateRule::Adam,
            limit: None,
            backend: "flex".to_owned(),
        },
        n_training: 700,
        n_test: 300,
        accuracies: DaclAccuracies {
            printed: evaluated.map(|of| of - 0.1),
            printed_best: evaluated.map(|of| of - 0.05),
            converged: evaluated,
            neighbours: evaluated.map(|of| of - 0.01),
            own: Some(accuracy).filter(|_| is_own),
            validation: Some(accuracy),
        },
        training: (!row.is_untrained() && !is_own).then_some(DaclTraining {
            batch_size: 175,
            n_steps: 160,
            parameter_change: 0.25,
            risk_before_nats: 5.5,
            risk_after_nats: 3.25,
            chosen: (row == DaclRow::Gaussian).then_some(0.3),
        }),
        time_s: 12.5,
    }
}

/// Returns records of three seeds around an accuracy, with a standard deviation of `sd`.
pub(crate) fn records(
    data: DaclDataSet,
    row: DaclRow,
    accuracy: f64,
    sd: f64,
) -> impl Iterator<Item = DaclRecord> {
    [-1.0, 0.0, 1.0]
        .into_iter()
        .zip(0..)
        .map(move |(at, seed)| record(data, row, seed, accuracy + at * sd))
}
