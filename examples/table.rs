//! The table that every example prints, and the sentence under it.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl::core::ExactRisk;
use icl::train::{Outcome, TARGET_RATIO, TimeToTarget, TrainingRecord, plateau, time_to_target};

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

/// Tells in numbers how soon the update came within 1 % of retraining on old and on new data, or that it did not.
pub fn verdict(updated: &TrainingRecord, retrained: &TrainingRecord) -> String {
    // The encoder of a run is that of its best evaluation.
    let risk = |run: &TrainingRecord| {
        let at = run.best_evaluation.unwrap_or(run.evaluations.len() - 1);
        run.evaluations[at].risk
    };
    let words = |run: &TrainingRecord| {
        let risk = risk(run);
        format!(
            "{:.4} nats on old and {:.4} on new data",
            risk.old, risk.new
        )
    };
    let (of_update, of_retraining) = (words(updated), words(retrained));
    let Some(plateau) = plateau(&retrained.evaluations) else {
        return format!("Retraining was not measured; the update ended at {of_update}.");
    };
    let target = plateau.map(|risk| risk * TARGET_RATIO);
    let goal = format!(
        "1 % above retraining's plateau, {:.4} nats on old and {:.4} on new data,",
        target.old, target.new
    );
    let untrained = retrained.evaluations[0].risk;
    if target.old >= untrained.old || target.new >= untrained.new {
        return format!(
            "Retraining did not bring the exact risk 1 % below that of the untrained encoder: its plateau is no \
             target. The update ended at {of_update}, retraining at {of_retraining}."
        );
    }
    let [update, retraining] =
        [updated, retrained].map(|run| time_to_target(&run.evaluations, &target));
    let end = risk(retrained);
    if end.old * TARGET_RATIO < plateau.old || end.new * TARGET_RATIO < plateau.new {
        return format!(
            "Retraining was still improving when its epochs ended, so there is no plateau to reach; the update \
             ended at {of_update}, retraining at {of_retraining}."
        );
    }
    let charged = |reached: Option<TimeToTarget>| reached.map(|of| of.charged_passes);
    match (charged(update), charged(retraining)) {
        (Some(0.0), _) => {
            format!("θ₀ was at {goal} before the first step: there was nothing to speed up.")
        }
        (Some(update), Some(retraining)) => format!(
            "The update reached {goal} after {update:.0} charged passes, retraining after {retraining:.0}: {}.",
            times(retraining, update),
        ),
        (update, _) => {
            let who = if update.is_none() {
                "The update"
            } else {
                "Retraining"
            };
            format!("{who} did not reach {goal} and stay there; the update ended at {of_update}.")
        }
    }
}

/// How many times fewer, or more, `passes` are than `others`.
fn times(others: f64, passes: f64) -> String {
    let ratio = others / passes;
    if ratio >= 1.0 {
        format!("{ratio:.1} times fewer")
    } else {
        format!("{:.1} times more", 1.0 / ratio)
    }
}
