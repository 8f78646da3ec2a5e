//! The table that every example prints, and the sentence under it.

use anyhow::{Context, Error, Result};
use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl::core::ExactRisk;
use icl::eval::{Accuracies, Accuracy, AccuracyWithFloors};
use icl::prelude::*;
use icl::train::{TARGET_RATIO, TimeToTarget, TrainingRecord, plateau, time_to_target};

/// Measures the untrained encoder, θ₀, its update and a retraining in the same way, and prints a line for each, with what
/// the accuracy has to beat; `raw` names the features that need no encoder.
pub fn print<B, S, V, C, M, R>(
    trainer: &Trainer<'_, B, S, V, C>,
    (accuracies, raw): (&Accuracies<'_>, &str),
    untrained: &M,
    first: &Outcome<M, B, R>,
    [updated, retrained]: [&Outcome<M, B>; 2],
) -> Result<()>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    M: TrainableEncoder<B>,
    C: CollateFor<B, V::View, M>,
{
    let evaluator = trainer.evaluator();
    println!();
    println!(
        "{:<10} {:>8} {:>8} {:>8} {:>10} {:>8} {:>9} {:>9}",
        "encoder", "all", "old", "new", "passes", "seconds", "‖Δθ‖/‖θ‖", "accuracy"
    );
    let line = |name: &str, encoder: &M::InnerModule, training: [String; 3]| {
        let measured = evaluator.measure(
            |of, rows, untrained| accuracies.measure(of, rows, untrained),
            encoder.clone(),
            untrained.valid(),
        )?;
        let ExactRisk { all, old, new, .. } = measured.risk;
        let accuracy = measured.result.accuracy.all.as_ref();
        let accuracy = accuracy.context("the data have a single class")?.mean;
        let [passes, seconds, change] = training;
        println!(
            "{name:<10} {all:>8.4} {old:>8.4} {new:>8.4} {passes:>10} {seconds:>8} {change:>9} {accuracy:>9.3}"
        );
        Ok::<AccuracyWithFloors, Error>(measured.result)
    };
    let floors = line("untrained", &untrained.valid(), ["–"; 3].map(str::to_owned))?
        .floors
        .all;
    line("θ₀", &first.encoder, training(first))?;
    line("updated", &updated.encoder, training(updated))?;
    line("retrained", &retrained.encoder, training(retrained))?;
    let mean = |floor: Option<Accuracy>| floor.map_or(f64::NAN, |floor| floor.mean);
    println!(
        "all, old, new: exact risk in nats; floors of the accuracy: raw {raw} {:.3}, untrained encoder {:.3}\n",
        mean(floors.raw),
        mean(floors.untrained)
    );
    println!("{}", verdict(&updated.record, &retrained.record));
    Ok(())
}

/// Returns the sample passes, the seconds and ‖Δθ‖/‖θ‖ of a training.
fn training<M: AutodiffModule<B>, B: AutodiffBackend, R>(of: &Outcome<M, B, R>) -> [String; 3] {
    [
        of.record.sample_passes.to_string(),
        format!("{:.1}", of.record.seconds.training()),
        format!("{:.3}", of.parameter_change),
    ]
}

/// Returns a sentence on the cost at which the update came within 1 % of retraining on old and on new data, or that it
/// did not.
fn verdict(updated: &TrainingRecord, retrained: &TrainingRecord) -> String {
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

/// Returns a text on how many times fewer, or more, `passes` are than `others`.
fn times(others: f64, passes: f64) -> String {
    let ratio = others / passes;
    if ratio >= 1.0 {
        format!("{ratio:.1} times fewer")
    } else {
        format!("{:.1} times more", 1.0 / ratio)
    }
}
