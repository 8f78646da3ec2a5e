//! Parts that the records of several commands share: each extends them with facts of its own.

use icl_core::{ByOrigin, ExactRisk, HeldOutRisk, Increment};
use icl_train::{Cost, Evaluation, ExpectedGain, StoppedBy, TrainingRecord, TrainingSettings};
use serde::{Deserialize, Serialize};

/// Settings of a run that every page states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Root seed.
    pub seed: u64,
    /// Temperature τ of the losses.
    pub temperature: f64,
    /// Number of negatives K in the formulas of the losses.
    pub negatives: f64,
    /// Optimizer that trained the encoder; `null` in older records.
    #[serde(default)]
    pub optimizer: Option<String>,
    /// Backend.
    pub backend: String,
    /// Command.
    #[serde(flatten)]
    pub made_by: MadeBy,
}

/// Command that made a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeBy {
    /// Command line, without the options of its output; `null` in older records.
    #[serde(default)]
    pub command: Option<String>,
    /// Program with its version; `null` in older records.
    #[serde(default)]
    pub version: Option<String>,
}

impl MadeBy {
    /// Returns this command of the program of this version.
    pub fn command(line: &str) -> Self {
        Self {
            command: Some(line.to_owned()),
            version: Some(concat!("icl ", env!("CARGO_PKG_VERSION")).to_owned()),
        }
    }

    /// Writes the command and the version in one line, if they are known.
    pub fn words(&self) -> Option<String> {
        let (version, command) = (self.version.as_ref()?, self.command.as_ref()?);
        Some(format!("{version}: {command}"))
    }
}

impl RunSettings {
    /// Returns the settings of a run with the root seed `seed` by a command.
    pub fn of(
        seed: u64,
        settings: &TrainingSettings,
        optimizer: &str,
        (backend, command): (&str, &str),
    ) -> Self {
        Self {
            seed,
            temperature: settings.temperature,
            negatives: settings.negatives,
            optimizer: Some(optimizer.to_owned()),
            backend: backend.to_owned(),
            made_by: MadeBy::command(command),
        }
    }

    /// Writes the settings in one line.
    pub(crate) fn words(&self) -> String {
        let optimizer = self
            .optimizer
            .iter()
            .map(|name| format!(" · optimizer: {name}"));
        format!(
            "seed {} · backend: {}{} · τ = {}, K = {}",
            self.seed,
            self.backend,
            optimizer.collect::<String>(),
            self.temperature,
            self.negatives,
        )
    }
}

/// Rule by which samples are held out for good: by the hash of their contents, whatever the others are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HoldOutRule {
    /// Name of the rule.
    pub rule: String,
    /// Share of the samples that are held out.
    pub share: f64,
    /// Share that the same rule has held out from every training of the encoder that came in; `null` if its file does
    /// not state it, or none came in. Below `share`, that encoder was trained on some samples that are held out now.
    pub share_before: Option<f64>,
}

/// Length and cost of a training, why it ended, and how far it moved the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingSummary {
    /// Number of epochs trained.
    pub epochs: usize,
    /// Cost that is charged to the method, in full passes: `cost` without `measuring`.
    pub charged_passes: f64,
    /// Cost by purpose, in full passes. In a stream, `monitoring` includes the measurement of the drift, if the rule
    /// needs it.
    pub cost: Cost,
    /// Rule or limit that ended the training; `null` if nothing was trained.
    pub stopped_by: Option<StoppedBy>,
    /// Seconds of training, evaluations not counted.
    pub train_s: f64,
    /// Parameter change ‖Δθ‖/‖θ‖ from the encoder before to the one that is the result, over trained parameters. 0
    /// means that nothing was trained, or no better encoder was found.
    pub parameter_change: f64,
}

impl TrainingSummary {
    /// Summarises a training that moved the parameters by `parameter_change`.
    pub fn of<R>(record: &TrainingRecord<R>, parameter_change: f64) -> Self {
        Self {
            epochs: record.n_epochs(),
            charged_passes: record.cost.charged(),
            cost: record.cost,
            stopped_by: record.stopped_by,
            train_s: record.seconds.training(),
            parameter_change,
        }
    }
}

/// Course of a training: what was measured on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingCourse<R = ExactRisk> {
    /// Number of views that went through the encoder in training.
    pub sample_passes: u64,
    /// Index of the evaluation with the lowest risk, the mean of that over old and over new samples, whose encoder was
    /// written; `null` for the last encoder, where the stopping rule does not follow the risk.
    pub best_evaluation: Option<usize>,
    /// Gain of the next doubling of the cost that the stopping rule expected at the last evaluation, as a share of
    /// the risk; `null` for other rules.
    pub expected_gain: Option<ExpectedGain>,
    /// Exact risk over the training, from before the first step to after the last.
    pub evaluations: Vec<Evaluation<R>>,
    /// Mean training loss of each epoch, in nats.
    pub epoch_losses: Vec<f64>,
    /// Mean number of negatives K of the steps of each epoch.
    #[serde(default)]
    pub step_negatives: Vec<f64>,
}

impl<R: Clone> TrainingCourse<R> {
    /// Returns the course of a training.
    pub fn of(record: &TrainingRecord<R>) -> Self {
        Self {
            sample_passes: record.sample_passes,
            best_evaluation: record.best_evaluation,
            expected_gain: record.expected_gain,
            evaluations: record.evaluations.clone(),
            epoch_losses: record.epoch_losses.clone(),
            step_negatives: record.step_negatives.clone(),
        }
    }
}

/// Update by a method: the sizes of its data, its encoder on held-out and on old samples, and its rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpdateFacts {
    /// Number of old samples, N; where only some were kept, the number of all that these represent.
    pub n_old: usize,
    /// Number of new samples, ΔN.
    pub n_new: usize,
    /// Growth ratio α = ΔN / (N + ΔN).
    pub alpha: f64,
    /// Risk of the updated encoder over held-out samples, which no training has seen, in nats, with its standard error;
    /// `null` without held-out samples.
    pub held_out_risk: Option<HeldOutRisk>,
    /// Number of held-out samples.
    pub n_held_out: Option<ByOrigin<usize>>,
    /// Share of old samples whose embedding by the updated encoder is nearest, among θ₀'s embeddings of old samples, to
    /// that of the same sample; over at most 2000 of them. `null` with fewer than two, or in older records.
    #[serde(default)]
    pub cross_version_recall: Option<f64>,
    /// Mean learning rate of each epoch; under meta-optimization lr_q.
    pub learning_rates: Vec<f64>,
    /// Mean learning rate lr_s of each epoch; empty without meta-optimization.
    pub support_learning_rates: Vec<f64>,
    /// Relative move ‖θ′ − θ‖/‖θ‖ of the trained parameters in an inner loop, mean over the steps of each epoch;
    /// empty without meta-optimization.
    pub support_moves: Vec<f64>,
    /// Share of the old data that each epoch could draw from.
    pub old_fractions: Vec<f64>,
}

impl UpdateFacts {
    /// Returns the facts about an update with the samples of `increment`. `held_out` is the risk of the updated encoder
    /// over held-out samples, with the increment that these form.
    pub fn of(
        record: &TrainingRecord,
        increment: &Increment,
        held_out: Option<(HeldOutRisk, &Increment)>,
        cross_version_recall: Option<f64>,
    ) -> Self {
        Self {
            n_old: increment.n_old(),
            n_new: increment.new_data().len(),
            alpha: increment.growth_ratio().value(),
            held_out_risk: held_out.map(|(risk, _)| risk),
            n_held_out: held_out.map(|(_, held_out)| ByOrigin {
                all: held_out.all().len(),
                old: held_out.old().len(),
                new: held_out.new_data().len(),
            }),
            cross_version_recall,
            learning_rates: record.learning_rates.clone(),
            support_learning_rates: record.support_learning_rates.clone(),
            support_moves: record.support_moves.clone(),
            old_fractions: record.old_fractions.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use icl_train::{Identity, read_checkpoint, write_checkpoint};
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    use crate::fixture::{first, record, stream, update};
    use crate::record::{RunRecord, StreamedExperience, TrainRecord};

    use super::*;

    /// Checks that a record has these keys, and that its JSON and the state of an interrupted run hold it to the last
    /// bit.
    fn check<T>(record: &T, keys: &str)
    where
        T: Serialize + DeserializeOwned + Debug,
    {
        let text = serde_json::to_string(record).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let mut expected: Vec<&str> = keys.split_whitespace().collect();
        expected.sort_unstable();
        let found: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(found, expected);
        let read: T = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let folder = tempfile::tempdir().unwrap();
        let (path, identity) = (folder.path().join("state"), Identity::new([]));
        write_checkpoint(&path, &identity, record).unwrap();
        let read: T = read_checkpoint(&path, &identity).unwrap().unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    /// Fills in numbers that lose digits where a number passes through another type.
    fn fill(training: &mut TrainingSummary) {
        training.train_s = 5e-324;
        training.charged_passes = f64::MAX;
        training.parameter_change = -0.0;
        training.cost.training = 0.1 + 0.2;
        training.cost.monitoring = 1.0 / 3.0;
        training.stopped_by = Some(StoppedBy::TrainingLoss);
    }

    #[test]
    fn every_record_has_its_keys_and_its_digits() {
        let mut one = first();
        fill(&mut one.training);
        one.settings.seed = u64::MAX;
        one.course.sample_passes = u64::MAX - 1;
        one.course.evaluations[1].risk = f64::MIN_POSITIVE;
        one.course.best_evaluation = Some(1);
        let keys = "schema seed data n n_clipped temperature negatives optimizer backend command version epochs \
                    sample_passes charged_passes cost stopped_by best_evaluation expected_gain train_s untrained \
                    trained hold_out held_out_risk n_held_out task parameter_change seconds evaluations \
                    epoch_losses step_negatives";
        check(&one, keys);
        let mut one = update(2.8, 1.0 / 7.0, 0.1);
        fill(&mut one.training);
        one.update.alpha = 1.0 / 3.0;
        one.course.expected_gain = Some(ExpectedGain {
            gain: 1e-17,
            standard_error: 123_456_789.012_345_67,
        });
        let keys = "schema method seed from old_data new_data n_old n_old_kept n_new n_clipped alpha temperature negatives \
                    optimizer backend command version epochs sample_passes charged_passes cost stopped_by \
                    best_evaluation expected_gain train_s before after hold_out held_out_before verdict \
                    is_rejected retraining_passes task held_out_risk n_held_out neighbours_kept \
                    cross_version_recall parameter_change evaluations epoch_losses step_negatives learning_rates \
                    support_learning_rates support_moves old_fractions";
        check(&one, keys);
        let mut one = crate::fixture::held_out(record("warm", u64::MAX), [0.1, 1.0 / 3.0]);
        fill(&mut one.training);
        let keys = "schema method budget seed data n_clipped alpha split n_old n_new optimizer backend command version \
                    epochs sample_passes charged_passes cost stopped_by best_evaluation expected_gain train_s \
                    target target_by_origin epochs_to_target passes_to_target charged_to_target time_to_target_s \
                    lowest_loss_epoch lowest_loss_s risk risk_old_partners held_out_risk n_held_out n_evaluated \
                    cross_version_recall nce1_old nce2_old start end linear_probe knn few_labels added_protocols \
                    parameter_change seconds evaluations epoch_losses step_negatives learning_rates \
                    support_learning_rates support_moves old_fractions";
        check(&one, keys);
        let mut one = stream(3);
        fill(&mut one.experiences[1].training);
        let keys = "name arrived n_samples n_held_out n_clipped updated is_rejected n_old n_new served_risk risk \
                    verdict task epochs charged_passes cost stopped_by parameter_change parameter_norm \
                    effective_rank neighbours_kept neighbours_kept_of_first cross_version_recall train_s";
        check::<StreamedExperience>(&one.experiences[1], keys);
        let keys = "schema data split method keep when at_latest budget_per_update budget_total seed optimizer \
                    backend command version temperature negatives names risk accuracy untrained_risk \
                    untrained_accuracy measures experiences decisions controls";
        check(&one, keys);
    }

    #[test]
    fn a_record_of_before_is_read_and_another_refused() {
        let mut old = serde_json::to_value(record("warm", 1)).unwrap();
        let keys = old.as_object_mut().unwrap();
        for key in [
            "n_clipped",
            "cross_version_recall",
            "step_negatives",
            "optimizer",
            "budget",
        ] {
            keys.remove(key).unwrap();
        }
        // Names before the field's own.
        let n_evaluated = keys.remove("n_evaluated").unwrap();
        keys.insert("n_judged".into(), n_evaluated.clone());
        let cost = keys["cost"].as_object_mut().unwrap();
        let monitoring = cost.remove("monitoring").unwrap();
        cost.insert("steering".into(), 7.5.into());
        assert_ne!(monitoring, 7.5);
        let read: RunRecord = serde_json::from_value(old.clone()).unwrap();
        assert_eq!(read.course.step_negatives, [0.0; 0]);
        assert_eq!(read.training.cost.monitoring, 7.5);
        assert_eq!(read.optimizer, None);
        assert_eq!(n_evaluated, read.n_evaluated);
        old.as_object_mut().unwrap().remove("charged_passes");
        let missing = serde_json::from_value::<RunRecord>(old).unwrap_err();
        assert_eq!(missing.to_string(), "missing field `charged_passes`");
        let mut old = serde_json::to_value(first()).unwrap();
        assert!(old.as_object_mut().unwrap().remove("optimizer").is_some());
        let of_before: TrainRecord = serde_json::from_value(old).unwrap();
        assert_eq!(
            of_before.settings.words(),
            "seed 3 · backend: flex · τ = 0.1, K = 31"
        );
        let words = "seed 3 · backend: flex · optimizer: adam · τ = 0.1, K = 31";
        assert_eq!(first().settings.words(), words);
        let mut lost = first();
        lost.course.evaluations[0].risk = f64::NAN;
        let lost = serde_json::to_string(&lost).unwrap();
        let lost = serde_json::from_str::<TrainRecord>(&lost).unwrap_err();
        assert!(
            lost.to_string()
                .starts_with("invalid type: null, expected f64")
        );
    }
}
