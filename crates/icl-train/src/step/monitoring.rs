//! The evaluations of a run, by which it decides when to stop.

use std::time::Instant;

use burn::tensor::backend::AutodiffBackend;
use icl_core::TrainableEncoder;

use crate::error::TrainError;
use crate::evaluation::evaluated::{Evaluate, Risk};
use crate::evaluation::stopping::{GainRule, StoppedBy};
use crate::progress::record::Evaluation;
use crate::progress::warnings::{Statistics, are_trained, stale};
use crate::settings::TrainingSettings;
use crate::step::copies::own;
use crate::step::counters::LastEvaluation;
use crate::step::run::Run;

impl<M, B, R> Run<'_, M, B, R>
where
    M: TrainableEncoder<B>,
    B: AutodiffBackend,
    R: Risk,
{
    /// Evaluates the averaged encoder, adds the evaluation to the record, and keeps the encoder if its risk is the
    /// lowest and the stopping rule follows the risk. Returns the reason for which the stopping rule ends the run,
    /// if it does.
    ///
    /// # Errors
    /// [`TrainError`] if a sample cannot be read, or a parameter or the risk is not finite.
    pub(crate) fn evaluate(
        &mut self,
        evaluate: Evaluate<'_, M::InnerModule, R>,
    ) -> Result<Option<StoppedBy>, TrainError> {
        let start = Instant::now();
        self.check_parameters(self.average.get())?;
        let at = (self.record.n_steps, self.record.n_epochs());
        let evaluated = evaluate(self.average.get().valid(), at)?;
        let advised = self.counters.negatives.peak;
        self.counters.negatives.take_in(
            &self.settings.step_negatives,
            (&evaluated.ranks, evaluated.n_old),
            evaluated.held_out.as_ref(),
        );
        // An evaluation that chooses the number of negatives decides something, so that it is charged.
        let chooses_peak = self.counters.negatives.peak != advised;
        self.warn(self.stale(&evaluated.encoder));
        let TrainingSettings { stop, patience, .. } = *self.settings;
        let charged = self.record.cost.charged();
        let cost = evaluated.n_views as f64 * self.loss.passes.forward_share;
        let statistics = evaluated.n_statistics_views as f64 * self.loss.passes.forward_share;
        match self.monitors() || chooses_peak {
            true => self.record.cost.monitoring += cost,
            false => self.record.cost.measuring += cost,
        }
        let (risk, epoch) = (evaluated.risk, self.record.n_epochs());
        self.record.seconds.evaluation += start.elapsed().as_secs_f64();
        self.record.evaluations.push(Evaluation {
            epoch,
            sample_passes: self.record.sample_passes,
            charged_passes: charged,
            train_s: self.record.seconds.training(),
            risk: risk.clone(),
        });
        let n_steps = self.record.n_steps;
        let counters = &mut self.counters;
        counters.last = Some(LastEvaluation {
            risk: risk.all(),
            epoch,
            n_steps,
            charged: self.record.cost.charged(),
            cost,
            statistics,
        });
        let is_best = counters.balanced.push(risk.balanced()) == 0;
        if stop.needs_risk() && is_best {
            // The statistics of a clone would continue with the run.
            self.best = Some(own(self.average.get()));
            self.record.best_evaluation = Some(self.record.evaluations.len() - 1);
        }
        let by_gain = counters
            .by_gain
            .as_mut()
            .and_then(|rule| rule.push_after(n_steps, charged, evaluated.losses, evaluated.n_old));
        self.record.expected_gain = counters.by_gain.as_ref().and_then(GainRule::gain);
        let n_worse = counters.risks.push(risk.all());
        let by_risk = stop.ends_by_risk(n_worse, patience);
        Ok(by_gain.or(by_risk.then_some(StoppedBy::ExactRisk)))
    }

    /// Returns the warning of statistics that `measured`, the average after its re-estimation, has unchanged from training.
    fn stale(&self, measured: &M::InnerModule) -> Option<String> {
        let is_trained = are_trained::<B, M>(&self.start);
        let [start, average] = [&self.start, self.average.get()]
            .map(|encoder| Statistics::of::<B, M>(encoder, &is_trained));
        let measured = Statistics::of::<B::InnerBackend, M::InnerModule>(measured, &is_trained);
        stale(&start, self.copy_statistics.get(), &average, &measured)
    }
}
