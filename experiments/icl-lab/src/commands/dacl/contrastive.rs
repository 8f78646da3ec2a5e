//! Training without labels, the same for tables, images and graphs.

use crate::pages::dacl::{DaclSettings, DaclTraining, scaled_lars_rate};
use icl_train::{NoiseSet, RateChoice, StopRule, TrainingRecord, TrainingSettings, UpdateRule};

/// Learning rate of Adam.
const LEARNING_RATE: f64 = 1e-3;

/// Returns the settings of a training without labels, in batches of equal size of at most `max_batch` samples:
/// NT-Xent with 2B − 2 negatives.
pub fn contrastive(
    settings: &DaclSettings,
    (n_training, max_batch): (usize, usize),
    temperature: f64,
    pretraining_rate: RateChoice,
) -> TrainingSettings {
    let n_batches = n_training.div_ceil(max_batch).max(1);
    let batch_size = n_training.div_ceil(n_batches).max(4);
    let n_steps = settings.epochs * n_training.div_ceil(batch_size).max(1);
    let learning_rate = match settings.optimizer {
        UpdateRule::Lars => scaled_lars_rate(n_steps as u64),
        UpdateRule::Adam | UpdateRule::AdamW | UpdateRule::Muon | UpdateRule::Sgd => LEARNING_RATE,
    };
    TrainingSettings {
        epochs: settings.epochs,
        batch_size,
        learning_rate,
        pretraining_rate,
        temperature,
        negatives: (2 * batch_size - 2) as f64,
        noise_set: NoiseSet::BothViews,
        stop: StopRule::Never,
        evaluate_every: Some(settings.epochs),
        average_decay: Some(0.0),
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

    fn settings() -> DaclSettings {
        DaclSettings {
            epochs: 40,
            batch_size: 512,
            width: Some(128),
            optimizer: UpdateRule::Adam,
            limit: None,
            backend: "flex".to_owned(),
        }
    }

    #[test]
    fn all_views_of_the_other_samples_are_negatives() {
        let settings = settings();
        let of = |n, most| contrastive(&settings, (n, most), 0.5, RateChoice::Cosine);
        let batches = |n, most| (of(n, most).batch_size, of(n, most).negatives);
        assert_eq!(batches(6000, 512), (500, 998.0));
        assert_eq!(batches(1258, 315), (315, 628.0));
        assert_eq!(batches(188, 128), (94, 186.0));
        of(3, 512).check().unwrap();
        assert_eq!(of(3, 512).learning_rate, 1e-3);
    }

    #[test]
    fn lars_has_a_learning_rate_for_its_number_of_steps() {
        let settings = DaclSettings {
            optimizer: UpdateRule::Lars,
            ..settings()
        };
        for (n, n_steps) in [(6000, 480.0), (1258, 120.0), (3, 40.0)] {
            let of = contrastive(&settings, (n, 512), 0.5, RateChoice::Cosine);
            // The paper's 0.1 in 15,000 steps.
            assert!((of.learning_rate - 1500.0 / n_steps).abs() < 1e-12);
            of.check().unwrap();
        }
    }
}
