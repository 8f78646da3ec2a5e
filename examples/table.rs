//! The table that every example prints, and the sentence under it.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl::core::ExactRisk;
use icl::train::{Outcome, TrainingRecord, plateau, time_to_target};

/// The target is retraining's plateau times this.
const TARGET: f64 = 1.01;

/// One encoder's line.
#[derive(Debug)]
pub struct Row {
    name: &'static str,
    risk: ExactRisk,
    /// Share of the samples that the protocol classified rightly from its embeddings, in [0, 1].
    accuracy: f64,
    /// Sample passes, seconds and ‖Δθ‖/‖θ‖ of its training, if there was any.
    training: Option<(u64, f64, f64)>,
}

impl Row {
    /// The line of an encoder that has not been trained.
    pub fn new(name: &'static str, risk: ExactRisk, accuracy: f64) -> Self {
        Self {
            name,
            risk,
            accuracy,
            training: None,
        }
    }

    /// The same of the encoder that this training has ended with.
    pub fn after<M, B, R>(self, outcome: &Outcome<M, B, R>) -> Self
    where
        B: AutodiffBackend,
        M: AutodiffModule<B>,
    {
        let record = &outcome.record;
        let training = (
            record.sample_passes,
            record.seconds.training(),
            outcome.parameter_change,
        );
        Self {
            training: Some(training),
            ..self
        }
    }
}

/// Prints the encoders, and under them what the accuracy has to beat.
pub fn print(rows: &[Row], floors: &[(&str, f64)]) {
    println!();
    println!(
        "{:<10} {:>8} {:>8} {:>8} {:>10} {:>8} {:>9} {:>9}",
        "encoder", "all", "old", "new", "passes", "seconds", "‖Δθ‖/‖θ‖", "accuracy"
    );
    for row in rows {
        let (passes, seconds, change) = match row.training {
            Some((passes, seconds, change)) => (
                passes.to_string(),
                format!("{seconds:.1}"),
                format!("{change:.3}"),
            ),
            None => ("–".to_owned(), "–".to_owned(), "–".to_owned()),
        };
        println!(
            "{:<10} {:>8.4} {:>8.4} {:>8.4} {passes:>10} {seconds:>8} {change:>9} {:>9.3}",
            row.name, row.risk.all, row.risk.old, row.risk.new, row.accuracy
        );
    }
    let floors = floors
        .iter()
        .map(|(name, value)| format!("{name} {value:.3}"));
    let floors: Vec<String> = floors.collect();
    println!(
        "all, old, new: exact risk in nats; floors of the accuracy: {}\n",
        floors.join(", ")
    );
}

/// What happened, in numbers: how soon the update came within 1 % of retraining, or that it did not.
///
/// The default method decides by the exact risk when to look at more of the old data, so that its
/// evaluations are work, too: four views of each of the `n_samples`, without gradients.
pub fn verdict(updated: &TrainingRecord, retrained: &TrainingRecord, n_samples: usize) -> String {
    let risk = |run: &TrainingRecord| {
        run.evaluations
            .last()
            .map_or(f64::NAN, |last| last.risk.all)
    };
    let plateau = plateau(&retrained.evaluations).unwrap_or(f64::NAN);
    let target = TARGET * plateau;
    let goal = format!("1 % above retraining's plateau, {target:.4} nats,");
    let untrained = retrained
        .evaluations
        .first()
        .map_or(f64::NAN, |first| first.risk.all);
    if target >= untrained {
        return format!(
            "Retraining did not bring the exact risk 1 % below that of the untrained encoder, {untrained:.4} \
             nats: its plateau is no target. The update ended at {:.4} nats, retraining at {:.4}.",
            risk(updated),
            risk(retrained)
        );
    }
    let [update, retraining] =
        [updated, retrained].map(|run| time_to_target(&run.evaluations, target));
    if risk(retrained) * TARGET < plateau {
        return format!(
            "Retraining was still improving when its epochs ended, so there is no plateau to reach; the \
             update ended at {:.4} nats, retraining at {:.4}.",
            risk(updated),
            risk(retrained)
        );
    }
    let (Some(update), Some(retraining)) = (update, retraining) else {
        let who = if update.is_none() {
            "The update"
        } else {
            "Retraining"
        };
        return format!(
            "{who} did not reach {goal} and stay there; the update ended at {:.4} nats, {:+.1} % from \
             the plateau.",
            risk(updated),
            100.0 * (risk(updated) / plateau - 1.0)
        );
    };
    if update.sample_passes == 0 {
        return format!("θ₀ was at {goal} before the first step: there was nothing to speed up.");
    }
    let evaluations = updated
        .evaluations
        .iter()
        .filter(|it| it.epoch <= update.epochs);
    let evaluating = (4 * n_samples * evaluations.count()) as u64;
    format!(
        "The update reached {goal} after {} passes, retraining after {}: {}, and {} with the update's \
         own evaluations counted.",
        update.sample_passes,
        retraining.sample_passes,
        times(retraining.sample_passes, update.sample_passes),
        times(retraining.sample_passes, update.sample_passes + evaluating)
    )
}

/// How many times fewer, or more, `passes` are than `others`.
fn times(others: u64, passes: u64) -> String {
    let ratio = others as f64 / passes as f64;
    if ratio >= 1.0 {
        format!("{ratio:.1} times fewer")
    } else {
        format!("{:.1} times more", 1.0 / ratio)
    }
}
