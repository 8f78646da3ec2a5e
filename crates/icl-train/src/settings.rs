//! Settings of training runs.

use icl_core::RateChoice;
use serde::{Deserialize, Serialize};

use crate::average::WeightAverage;
use crate::budget::Budget;
use crate::error::TrainError;
use crate::evaluation::StopRule;
use crate::evaluation::builder::{NEGATIVES, SAMPLES, TEMPERATURE};
use crate::method::{Distance, MetaOrder, NoiseSet};
use crate::negatives::{NegativesForm, NegativesSchedule, StepNegatives};

/// Settings of a training run, which all methods of a comparison share.
///
/// ```
/// use icl_train::TrainingSettings;
///
/// let settings = TrainingSettings { epochs: 50, learning_rate: 1e-3, ..Default::default() };
/// settings.check()?;
/// # Ok::<(), icl_train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingSettings {
    /// Maximum number of epochs, at least 1. Default: 1000, more than most runs need until their rule ends them. With
    /// more epochs, a run that has reached its last one continues from its checkpoint; the evaluation at its earlier
    /// end still counts for the stopping rule.
    pub epochs: usize,
    /// Batch size in samples, at least 4. Sizes within an epoch differ by at most one. Default: 32.
    pub batch_size: usize,
    /// Maximum number of samples that pass through the encoder at once in a training step, at least 2. Default: `None`,
    /// the whole batch, or a member's part of it ([`Trainer::group`](crate::Trainer::group)).
    ///
    /// The loss remains that of the whole batch: a step embeds it in shards of this size, and each of them once more
    /// for its gradient (GradCache; Gao et al., 2021), so that its memory is that of one shard. The first pass is
    /// charged as a pass without a gradient. Normalisation statistics and the encoder's random numbers are those of a
    /// shard.
    pub chunk: Option<usize>,
    /// Source of the learning rate in the training of θ₀; methods have their own. Default: fixed.
    pub pretraining_rate: RateChoice,
    /// Learning rate, above 0: lr of Eq. 10, or lr_q of Eq. 12 under meta-optimization. Default: 0.003.
    pub learning_rate: f64,
    /// Number of steps over which the learning rate rises to its value, whatever its source: step t, counted from 1,
    /// has min(1, t/`warm_up`) of it. Rates of inner steps do not rise. Default: 0.
    pub warm_up: u64,
    /// Weight decay of the [`UpdateRule`](crate::UpdateRule), at least 0. Adam has none, and an optimizer of
    /// [`Trainer::optimizer`](crate::Trainer::optimizer) its own: both refuse one above 0. Default: `None`, that of
    /// the rule.
    pub weight_decay: Option<f64>,
    /// Largest Euclidean norm of the gradient of a step over all parameters, above 0: see
    /// [`clip_norm`](crate::clip_norm). It is that of the whole batch, whatever the number of devices. Default:
    /// `None`, no limit.
    pub clip_norm: Option<f64>,
    /// Number of steps that earlier runs have done with this encoder, which [`RateChoice::MetaDecay`] alone reads: over
    /// a stream, the sum of [`n_steps`](crate::TrainingRecord::n_steps) of the runs so far. Default: 0.
    pub steps_before: u64,
    /// Temperature τ, above 0. Default: 0.1.
    pub temperature: f64,
    /// Number of negatives K in the formulas, above 0. Batches may hold more or fewer. Default: 31.
    ///
    /// The exact risk always takes this number; training steps may have others, see
    /// [`step_negatives`](Self::step_negatives).
    pub negatives: f64,
    /// Number of negatives in the training steps. Default: that of the exact risk in all steps, as a factor.
    pub step_negatives: StepNegatives,
    /// Noise samples of NCE-I in a batch. Default: the other side's views.
    ///
    /// The exact risk always takes the other side's views, so that encoders stay comparable.
    pub noise_set: NoiseSet,
    /// Rule by which a run ends before its last epoch. Default: the gain of a doubling of the cost.
    pub stop: StopRule,
    /// Relative fall of the risk over a doubling of the cost that is worth it, at least 0: below it
    /// [`StopRule::Doubling`] and [`StopRule::Slope`] end a run. Default: 0.005.
    pub min_gain: f64,
    /// Number of evaluations without progress after which the run ends under [`StopRule::ExactRisk`], at least 1;
    /// number of epochs under [`StopRule::TrainingLoss`]. Default: 20.
    pub patience: usize,
    /// Maximum number of training samples over which the evaluations of a run that decide when it stops compute the
    /// risk, at least 4. Normalisation statistics are re-estimated over half as many. Default: 512.
    pub monitor_samples: usize,
    /// Maximum number of training samples over which the risk of the result is computed, at least 4. Default: 2048.
    pub evaluation_samples: usize,
    /// Number of epochs between evaluations of the exact risk, at least 1.
    ///
    /// Default: `None`: an evaluation after at least 32 steps and a tenth of the run's cost since the last one, as soon
    /// as all evaluations take at most a fifth of the run's cost with it. They are dense while the risk falls quickly,
    /// and rare afterwards.
    pub evaluate_every: Option<usize>,
    /// Charged cost that a run does not exceed. It ends before a step that would exceed it, with the evaluation and the
    /// statistics of the result at the end included, but it takes at least one step. With a larger budget, a run that
    /// has reached its own continues from its checkpoint. Default: `None`, no budget.
    pub budget: Option<Budget>,
    /// Decay of the moving average of the parameters, from 0 (no average) to below 1. The average is
    /// evaluated and returned. Default: `None`, 0.99; under a budget the average is over about the last quarter of the
    /// steps, however many they are.
    ///
    /// ```text
    /// θ̄ ← θ̄ + (1 − d)·(θ − θ̄)        d = min(decay, (1 + t)/(10 + t)) at step t
    ///                                 d = (1 + t)/(5 + t) by default under a budget
    /// ```
    pub average_decay: Option<f64>,
    /// Order of the derivative under meta-optimization, for methods that do not state it. Default: first.
    pub meta_order: MetaOrder,
    /// Learning rate lr_s of the inner steps under meta-optimization (Eq. 11); above 0. Default: 0.003.
    pub support_learning_rate: f64,
    /// Number of old samples in the buffer of [`Sampling::Buffer`](crate::Sampling::Buffer), at least 1.
    /// Default: `None`, a fifth of the old data.
    pub replay_size: Option<usize>,
    /// Weight of the distillation term, above 0. Default: 1.
    pub distillation_weight: f64,
    /// Distance of the distillation term. Default: cosine.
    pub distillation_distance: Distance,
}

/// Decay of the average without a budget.
const AVERAGE_DECAY: f64 = 0.99;
/// Window of the average under a budget: 1 to 2 % better than 10 at few steps.
const BUDGET_WINDOW: f64 = 5.0;
/// Number of samples over which the statistics of a result are re-estimated, or more if its risk is over more.
const STATISTICS: usize = 2048;
/// Number of steps between the first evaluations.
const STEPS_BETWEEN: u64 = 32;
/// Maximum share of a run's cost that evaluations take.
const EVALUATION_SHARE: f64 = 0.2;
/// Cost between two evaluations, as a share of the run's cost.
const COST_BETWEEN: f64 = 0.1;

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            epochs: 1000,
            batch_size: 32,
            chunk: None,
            pretraining_rate: RateChoice::Fixed,
            learning_rate: 3e-3,
            warm_up: 0,
            weight_decay: None,
            clip_norm: None,
            steps_before: 0,
            temperature: TEMPERATURE,
            negatives: NEGATIVES,
            step_negatives: StepNegatives::default(),
            noise_set: NoiseSet::OtherViews,
            stop: StopRule::Doubling,
            min_gain: 0.005,
            patience: 20,
            monitor_samples: 512,
            evaluation_samples: SAMPLES,
            evaluate_every: None,
            budget: None,
            average_decay: None,
            meta_order: MetaOrder::First,
            support_learning_rate: 3e-3,
            replay_size: None,
            distillation_weight: 1.0,
            distillation_distance: Distance::Cosine,
        }
    }
}

impl TrainingSettings {
    /// Checks that every field is in its range.
    ///
    /// # Errors
    /// [`TrainError`] for the first field that is not.
    pub fn check(&self) -> Result<(), TrainError> {
        let positive = "a number above 0";
        let numbers = [
            ("learning_rate", self.learning_rate),
            ("temperature", self.temperature),
            ("negatives", self.negatives),
            ("support_learning_rate", self.support_learning_rate),
            ("distillation_weight", self.distillation_weight),
            ("clip_norm", self.clip_norm.unwrap_or(1.0)),
        ];
        for (field, found) in numbers {
            TrainError::unless(found.is_finite() && found > 0.0, field, found, positive)?;
        }
        self.budget.map_or(Ok(()), Budget::check)?;
        self.step_negatives.check(self.negatives)?;
        for (field, found) in [
            ("min_gain", self.min_gain),
            ("weight_decay", self.weight_decay.unwrap_or_default()),
        ] {
            let is_valid = found.is_finite() && found >= 0.0;
            TrainError::unless(is_valid, field, found, "a number of at least 0")?;
        }
        let decay = self.average_decay.unwrap_or_default();
        let is_decay = (0.0..1.0).contains(&decay);
        TrainError::unless(
            is_decay,
            "average_decay",
            decay,
            "a number from 0 to below 1",
        )?;
        let counts = [
            ("epochs", self.epochs, 1),
            ("batch_size", self.batch_size, 4),
            ("chunk", self.chunk.unwrap_or(2), 2),
            ("patience", self.patience, 1),
            ("monitor_samples", self.monitor_samples, 4),
            ("evaluation_samples", self.evaluation_samples, 4),
            ("evaluate_every", self.evaluate_every.unwrap_or(1), 1),
            ("replay_size", self.replay_size.unwrap_or(1), 1),
        ];
        for (field, found, least) in counts {
            TrainError::unless(found >= least, field, found, format!("at least {least}"))?;
        }
        Ok(())
    }

    /// Checks that the negatives of the steps fit the other settings.
    ///
    /// # Errors
    /// [`TrainError`] if they do not.
    pub fn check_negatives(&self) -> Result<(), TrainError> {
        let own = &self.step_negatives;
        let is_drawn = own.form == NegativesForm::Drawn;
        TrainError::unless(
            !(is_drawn && self.noise_set == NoiseSet::BothViews),
            "negatives form",
            "drawn with the noise set both",
            "the noise set other, or weighted",
        )?;
        let is_fixed = own.schedule == NegativesSchedule::Fixed;
        TrainError::unless(
            is_fixed || self.stop != StopRule::TrainingLoss,
            "negatives schedule",
            "one under which K moves with the stopping rule training-loss, which would follow K",
            "fixed, or another rule",
        )
    }

    /// Returns the number of shards of a batch that so many members train on: as many as the members, or more if a
    /// member takes its part in chunks.
    ///
    /// ```text
    /// S = W·⌈batch_size/(W·chunk)⌉        W members
    /// ```
    pub fn n_shards(&self, n_members: usize) -> usize {
        let of_each = self.chunk.map_or(1, |chunk| {
            self.batch_size.div_ceil(n_members.saturating_mul(chunk))
        });
        n_members * of_each
    }

    /// Returns the names and values of the fields, for comparison with another run. The chunk is left out, because
    /// chunks and members together decide the number of shards, which is compared. The epochs and
    /// the budget are left out, because they only limit a run; where a schedule depends on the epochs, the trainer adds
    /// them.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let value = serde_json::to_value(self).unwrap_or_default();
        let fields = value.as_object().into_iter().flatten();
        fields
            .filter(|(name, _)| !["chunk", "epochs", "budget"].contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    }

    /// Returns the learning rate that is applied at a step, counted from 0, where its source says `rate`.
    pub(crate) fn warmed_up(&self, rate: f64, step: u64) -> f64 {
        match step < self.warm_up {
            true => rate * (step + 1) as f64 / self.warm_up as f64,
            false => rate,
        }
    }

    /// Returns the average of a run's parameters before its first step.
    pub(crate) fn average<M>(&self, start: M) -> WeightAverage<M> {
        match (self.average_decay, self.budget) {
            (Some(decay), _) => WeightAverage::new(start, decay),
            (None, None) => WeightAverage::new(start, AVERAGE_DECAY),
            (None, Some(_)) => WeightAverage::new(start, 1.0).with_window(BUDGET_WINDOW),
        }
    }

    /// Returns the maximum numbers of samples over which normalisation statistics are re-estimated, of an evaluation
    /// during a run and of its result.
    pub(crate) fn max_statistics(&self) -> [usize; 2] {
        let of_evaluation = self.monitor_samples.div_ceil(2).max(4);
        [of_evaluation, self.evaluation_samples.max(STATISTICS)]
    }

    /// Returns whether an evaluation is due without [`evaluate_every`](Self::evaluate_every), `n_steps` steps and
    /// `cost` after the last one, at `total` cost of the run in all. `evaluations` is the cost of all evaluations of
    /// the run if this one is made, and `training` that of everything else so far.
    pub(crate) fn is_evaluation_due(
        &self,
        (n_steps, cost): (u64, f64),
        total: f64,
        (evaluations, training): (f64, f64),
    ) -> bool {
        n_steps >= STEPS_BETWEEN
            && cost >= COST_BETWEEN * total
            && evaluations <= EVALUATION_SHARE * (evaluations + training)
    }
}
