//! Checks of a run: whether its members and its checkpoint belong to it, and which sample is at fault when it fails.

use std::path::Path;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Alone, Collate, Samples, Views};

use crate::checkpoint::CheckpointError;
use crate::devices::replicas::{check_alike, check_close, is_close};
use crate::error::TrainError;
use crate::evaluation::evaluated::{Evaluate, Risk};
use crate::evaluation::evaluator::Evaluator;
use crate::identity::{Identity, digest};
use crate::progress::Callbacks;
use crate::sampling::plan::Planner;
use crate::step::run::Run;
use crate::trainer::Trainer;
use crate::trainer::training_loop::{Evaluations, TrainingLoop};

/// Number of samples over which the members of a group compare their data.
const FEW: usize = 64;

impl<B, S, V, C> Trainer<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Checks that all members of a group have the same samples and views: each computes the risk of the encoder by itself, over few
    /// samples.
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
}

impl<B, S, V, C> TrainingLoop<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Returns the identity of the run of an encoder, after the check that all members of the group have the same: before it, none may
    /// do its part of anything.
    ///
    /// # Errors
    /// [`TrainError::Group`] with the first fact that differs.
    pub(super) fn check_members<M>(
        &self,
        encoder: &M,
        callbacks: &Callbacks<'_>,
    ) -> Result<Identity, TrainError>
    where
        M: AutodiffModule<B>,
    {
        let identity = self.identity(digest::<B, M>(encoder));
        // All members save and resume at the same step, or none does.
        let has_checkpoint = callbacks.checkpoint().is_some().to_string();
        let own = [("has a checkpoint".to_owned(), has_checkpoint)];
        check_alike(self.group, || identity.clone().with(own))?;
        Ok(identity)
    }

    /// Checks that the first encoder has the risk on these samples and views that a restored run began with.
    ///
    /// # Errors
    /// [`CheckpointError::OtherRun`] if it has not.
    pub(super) fn check_first_risk<M, R>(
        &self,
        run: &Run<'_, M, B, R>,
        path: &Path,
        evaluate: Evaluate<'_, M::InnerModule, R>,
    ) -> Result<(), TrainError>
    where
        M: AutodiffModule<B>,
        R: Risk,
    {
        let Some(first) = run.record.evaluations.first() else {
            return Ok(());
        };
        let expected = evaluate(run.start.valid())?.risk;
        let of = |risk: &R| [risk.all(), risk.balanced()];
        let pairs = of(&first.risk).into_iter().zip(of(&expected));
        match pairs
            .into_iter()
            .find(|&(found, expected)| !is_close(found, expected))
        {
            None => Ok(()),
            Some((found, expected)) => Err(CheckpointError::OtherRun {
                path: path.to_owned(),
                field: "risk of the first encoder on its samples and views".to_owned(),
                found: found.to_string(),
                expected: expected.to_string(),
            }
            .into()),
        }
    }

    /// Adds the first sample at fault to the error of a loss that is not finite.
    pub(super) fn with_sample<M, R>(
        &self,
        mut error: TrainError,
        run: &Run<'_, M, B, R>,
        planner: &Planner<'_>,
        evaluations: &Evaluations<'_, M::InnerModule, R>,
    ) -> TrainError
    where
        M: AutodiffModule<B>,
    {
        if let TrainError::NonFinite {
            sample: sample @ None,
            ..
        } = &mut error
        {
            let plan = planner.epoch(run.record.n_epochs(), run.counters.fraction());
            let step = plan.steps.get(run.counters.n_steps);
            let batches = step.map(|step| step.support.iter().chain([&step.batch]));
            let samples = batches.into_iter().flatten().flat_map(|it| &it.samples);
            let samples: Vec<usize> = samples.copied().collect();
            // The first encoder was finite: parameters that are not would be at fault for all samples.
            let found = (evaluations.first_bad)(&run.start.valid(), &samples);
            *sample = found.ok().flatten();
        }
        error
    }

    /// Returns the facts that a checkpoint and the other members must share with this run. `start` is the checksum of the
    /// first encoder.
    fn identity(&self, start: u32) -> Identity {
        let run = [
            ("seed", self.root_seed.to_string()),
            ("stream", self.stream.to_owned()),
            ("method", self.method.to_string()),
            ("shards of a batch", self.shards().n_shards().to_string()),
        ];
        let facts = run
            .into_iter()
            .chain(self.problem.facts())
            .chain([("first encoder", format!("{start:08x}"))]);
        Identity::of(facts).with(self.settings.facts())
    }
}
