//! The place of a run in its course: by steps, or by the share of its budget that is spent.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;

use crate::budget::PLACES;
use crate::negatives::NegativesSchedule;
use crate::step::run::Run;

impl<M: AutodiffModule<B>, B: AutodiffBackend, R> Run<'_, M, B, R> {
    /// Returns the place of a step in the run: its index, or under a budget the share of the run that is done in parts of
    /// [`PLACES`]. It is the budget that ends the run, unless its last epoch does.
    pub(super) fn place(&self, index: u64) -> u64 {
        match self.share_of_budget() {
            None => index,
            Some(spent) => {
                let done = spent.max(index as f64 / self.max_steps.max(1) as f64);
                ((done * PLACES as f64) as u64).min(PLACES)
            }
        }
    }

    /// Returns the share of the budget that is spent, from 0; `None` without a budget. What the statistics of the
    /// result cost is no part of the course.
    pub(crate) fn share_of_budget(&self) -> Option<f64> {
        // The statistics alone may cost more than a small budget: then all of it is spent.
        let budget = self.budget? - self.statistics_at_end();
        Some(self.record.cost.charged() / budget.max(f64::MIN_POSITIVE))
    }

    /// Returns the cost of the statistics of the result: that of an evaluation's, which are over fewer samples,
    /// scaled to their number.
    fn statistics_at_end(&self) -> f64 {
        let [of_evaluation, of_result] = self.settings.max_statistics();
        let n = self.planner.sampler.n_samples();
        let ratio = of_result.min(n) as f64 / of_evaluation.min(n) as f64;
        ratio * self.counters.last.map_or(0.0, |last| last.statistics)
    }

    /// Returns whether the budget is spent: another step as costly as the most costly one so far, with the evaluation at
    /// the end of the run, would exceed it.
    pub(crate) fn is_spent(&self) -> bool {
        let evaluation = match self.monitors() {
            true => self.counters.last.map_or(0.0, |last| last.cost),
            false => 0.0,
        };
        let at_end = evaluation + self.statistics_at_end();
        let next = self.record.cost.charged() + self.counters.largest_step + at_end;
        self.budget.is_some_and(|budget| next > budget)
    }

    /// Returns whether evaluations decide something, so that they are charged.
    pub(crate) fn monitors(&self) -> bool {
        let schedule = self.settings.step_negatives.schedule;
        self.settings.stop.needs_risk() || schedule == NegativesSchedule::Stagewise
    }
}
