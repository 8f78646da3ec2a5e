//! Training without labels, the same for tables and graphs.

use icl_report::dacl::{DaclSettings, DaclTraining};
use icl_train::{NoiseSet, RateChoice, StopRule, TrainingRecord, TrainingSettings};

/// Learning rate of Adam.
const LEARNING_RATE: f64 = 1e-3;

/// Returns the settings of a training without labels: NT-Xent with 2B − 2 negatives.
pub fn contrastive(
    settings: &DaclSettings,
    n_training: usize,
    temperature: f64,
    pretraining_rate: RateChoice,
) -> TrainingSettings {
    let batch_size = settings.batch_size.min(n_training / 4).max(4);
    TrainingSettings {
        epochs: settings.epochs,
        batch_size,
        learning_rate: LEARNING_RATE,
        pretraining_rate,
        temperature,
        negatives: (2 * batch_size - 2) as f64,
        noise_set: NoiseSet::BothViews,
        stop: StopRule::Never,
        evaluate_every: Some(settings.epochs),
        average_decay: 0.0,
        ..TrainingSettings::default()
    }
}

/// Returns the record of a training.
pub fn training_record(
    parameter_change: f64,
    record: &TrainingRecord<f64>,
    batch_size: usize,
) -> DaclTraining {
    let risks: Vec<f64> = record.evaluations.iter().map(|of| of.risk).collect();
    DaclTraining {
        batch_size,
        n_steps: record.n_steps,
        parameter_change,
        risk_before_nats: risks.first().copied().unwrap_or(f64::NAN),
        risk_after_nats: risks.last().copied().unwrap_or(f64::NAN),
        chosen: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_views_of_the_other_samples_are_negatives() {
        let settings = DaclSettings {
            epochs: 40,
            batch_size: 512,
            width: 128,
            limit: None,
            backend: "flex".to_owned(),
        };
        let of = |n| contrastive(&settings, n, 0.5, RateChoice::Cosine);
        assert_eq!((of(6000).batch_size, of(6000).negatives), (512, 1022.0));
        assert_eq!((of(1258).batch_size, of(1258).negatives), (314, 626.0));
        of(10).check().unwrap();
    }
}
