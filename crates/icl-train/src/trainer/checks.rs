//! Checks of a run that is about to begin: whether the members of its group have the same.

use std::collections::HashSet;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Alone, Increment, RateChoice, Samples, Views};

use crate::devices::replicas::{check_alike, check_close};
use crate::error::{TrainError, TrainErrorKind};
use crate::evaluation::evaluator::Evaluator;
use crate::identity::{Identity, digest};
use crate::method::Method;
use crate::negatives::NegativesSchedule;
use crate::optimizer::RunOptimizer;
use crate::progress::Callbacks;
use crate::trainer::Trainer;

/// Number of samples over which the members of a group compare their data.
const FEW: usize = 64;

impl<B, S, V, C, O> Trainer<'_, B, S, V, C, O>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Returns the maximum number of epochs where the steps of a method depend on it, for comparison with another run.
    fn length(&self, method: &Method) -> String {
        let has_schedule = method.rate != RateChoice::Fixed && self.rates.is_none()
            || self.settings.step_negatives.schedule != NegativesSchedule::Fixed;
        match has_schedule {
            true => self.settings.epochs.to_string(),
            false => "any".to_owned(),
        }
    }

    /// Checks the validation samples, if there are any: none is trained on, and updates have new ones.
    ///
    /// # Errors
    /// [`TrainError`] with the first sample or number that is wrong.
    pub(super) fn check_validation(&self, needs_new: bool) -> Result<(), TrainError> {
        let Some(validation) = self.validation else {
            return Ok(());
        };
        let place = "the validation samples";
        self.problem().check_samples(place, &validation.all())?;
        let trained: HashSet<usize> = self.increment.all().into_iter().collect();
        let both = validation.all().into_iter().find(|it| trained.contains(it));
        let failed = |found: String, expected| {
            TrainError::new(place, found, expected).with_kind(TrainErrorKind::Failed)
        };
        if let Some(sample) = both {
            let expected = "samples that are not trained on";
            return Err(failed(format!("training sample {sample}"), expected));
        }
        if needs_new && validation.new_data().is_empty() {
            return Err(failed("0 new samples".to_owned(), "at least 2"));
        }
        Ok(())
    }

    /// Checks that all members of a group have the same samples and views: each computes the risk of the encoder by
    /// itself, over few samples.
    pub(super) fn check_data(
        &self,
        risk: impl FnOnce(&Evaluator<'_, B::InnerBackend, S, V, C>) -> Result<f64, TrainError>,
    ) -> Result<(), TrainError> {
        if self.group.is_alone() {
            return Ok(());
        }
        let by_itself = Evaluator {
            group: &Alone,
            ..self.evaluator().with_at_most(FEW)
        };
        let field = "risk of the encoder over the first samples and views";
        Ok(check_close(self.group, field, risk(&by_itself)?)?)
    }

    /// Returns the identity of the run of an encoder, after the check that all members of the group have the same:
    /// before it, none may do its part of anything. `stream` is the name of the run's random stream.
    ///
    /// # Errors
    /// [`TrainErrorKind::Group`] with the first fact that differs.
    pub(super) fn check_members<M>(
        &self,
        (method, increment, stream): (&Method, &Increment, &'static str),
        encoder: &M,
        callbacks: &Callbacks<'_>,
    ) -> Result<Identity, TrainError>
    where
        M: AutodiffModule<B>,
        O: RunOptimizer<M, B>,
    {
        let n_shards = self.settings.n_shards(self.group.size());
        let run = [
            ("seed", self.seed.to_string()),
            ("stream", stream.to_owned()),
            ("method", method.to_string()),
            ("shards of a batch", n_shards.to_string()),
            ("optimizer", self.optimizer.name()),
            ("epochs of a schedule", self.length(method)),
            (
                "scheduler",
                self.rates
                    .as_ref()
                    .map_or_else(String::new, |rates| rates.identity()),
            ),
        ];
        let start = digest::<B, M>(encoder);
        let validation = self
            .validation
            .map(|of| self.problem_of(of).facts()[1].1.clone());
        let facts = run
            .into_iter()
            .chain(self.problem_of(increment).facts())
            .chain([("first encoder", format!("{start:08x}"))])
            .chain(validation.map(|samples| ("validation samples", samples)));
        let identity = Identity::of(facts).with(self.settings.facts());
        // All members save and resume at the same step, or none does.
        let has_checkpoint = callbacks.checkpoint().is_some().to_string();
        let own = [
            ("has a checkpoint".to_owned(), has_checkpoint),
            ("epochs".to_owned(), self.settings.epochs.to_string()),
            ("budget".to_owned(), format!("{:?}", self.settings.budget)),
        ];
        check_alike(self.group, || identity.clone().with(own))?;
        Ok(identity)
    }
}
