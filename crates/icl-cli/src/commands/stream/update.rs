//! The update of a strategy for an experience, and the verdict on it.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, Seed};
use icl_train::{Advanced, Experience, Live, NextUpdate, StreamState, TrainError};

use crate::commands::stream::arrived::Arrived;
use crate::commands::stream::experience::{
    CurrentExperience, StrategyOutcome, failure, first_held_out, of_training,
};
use crate::commands::stream::strategy::StrategyRun;
use crate::domain::Domain;
use crate::domain::downstream::{HeldOut, HeldOutComparison};
use crate::files::encoder_work::{ENCODER, REJECTED};
use crate::process::failure::Failure;

impl<D: Domain, B: AutodiffBackend> CurrentExperience<'_, D, B> {
    /// Decides on an update, and updates or waits.
    ///
    /// # Errors
    /// If the experience cannot be used, the training fails or is interrupted, or the encoder cannot be written.
    pub(super) fn update_or_wait(
        &self,
        run: &StrategyRun<'_>,
    ) -> Result<StrategyOutcome<D, B>, Failure> {
        let stream = self.stream(run);
        let arriving = self.arrived().arriving();
        let given = self.read(&run.encoder)?;
        let live = given.valid();
        let mut state = run.state.clone();
        let decision = stream.decide(&mut state, &live, &arriving);
        let decision = decision.map_err(failure)?;
        let Some(method) = run.strategy.due(&decision) else {
            let state = stream.wait(state, &live, &arriving).map_err(failure)?;
            return Ok(StrategyOutcome {
                before: None,
                after: live,
                state,
                parameter_change: 0.0,
                train_s: 0.0,
                held_out: HeldOutComparison::default(),
            });
        };
        let fresh = || {
            let seed = self.init().child("scratch");
            self.gathered.domain.fresh::<B>(seed, &self.devices[0])
        };
        let fresh = method.start.needs_fresh().then(fresh).transpose()?;
        let causes = self.causes(run);
        let updated = self.trained(run, |callbacks| {
            let own = Live {
                state: state.clone(),
                trained: given,
                encoder: live.clone(),
            };
            let update = NextUpdate {
                method,
                fresh,
                callbacks,
            };
            let updated = stream.next(own, arriving, update);
            updated.map_err(|error| of_training(&causes, &self.arrived().name, error))
        })?;
        self.settle(run, (state, live), updated)
    }

    /// Writes the encoder after an update. Where it is worse than the one before, which is `live`, that one stays.
    fn settle(
        &self,
        run: &StrategyRun<'_>,
        (before, live): (StreamState, D::Encoder<B::InnerBackend>),
        updated: Advanced<D::Trained<B>, B>,
    ) -> Result<StrategyOutcome<D, B>, Failure> {
        let Live { state, encoder, .. } = updated.live;
        // Controls are references: they show what a method does by itself.
        let held_out = match run.is_own() {
            true => self.compare(run, [&live, &encoder], state.experiences())?,
            false => HeldOutComparison::default(),
        };
        let is_worse = held_out.verdict.is_some_and(|it| it.is_worse());
        let is_rejected = is_worse && !self.resolved.options.verdict.accept;
        // Members of a group may round differently: all keep the encoder if one does.
        let is_rejected = self.group.any(is_rejected).map_err(TrainError::from)?;
        let folder = run.folder(self.next);
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::file(&folder, "cannot be written", error))?;
        let name = if is_rejected { REJECTED } else { ENCODER };
        self.save(run, (&encoder, &state), &folder.join(name))?;
        let (before, after, state) = match is_rejected {
            false => (Some(live), encoder, state),
            true => {
                let attempt = state.experiences().last();
                let attempt = attempt.expect("an experience has come");
                let arriving = self.arrived().arriving();
                let state = self.stream(run).reject(before, &live, &arriving, attempt);
                (None, live, state.map_err(failure)?)
            }
        };
        Ok(StrategyOutcome {
            before,
            after,
            state,
            parameter_change: updated.parameter_change,
            train_s: updated.train_s,
            held_out,
        })
    }

    /// Compares the encoder after an update with the one before.
    fn compare(
        &self,
        run: &StrategyRun<'_>,
        encoders: [&D::Encoder<B::InnerBackend>; 2],
        experiences: &[Experience],
    ) -> Result<HeldOutComparison, Failure> {
        let none = HeldOutComparison::default();
        let Some((new, old)) = experiences.split_last() else {
            return Ok(none);
        };
        let held_out = |of: &[Experience]| -> Vec<usize> {
            of.iter().flat_map(|it| it.held_out.clone()).collect()
        };
        let [old, new] = [held_out(old), new.held_out.clone()];
        if old.len().min(new.len()) < 2 {
            return Ok(none);
        }
        let training = &self.resolved.training;
        let all = Increment::try_new(old, new).map_err(Failure::input)?;
        let seed = Seed::new(training.seed);
        let measured = all.at_most(training.settings.evaluation_samples, seed.child("verdict"));
        let (stream, first) = (self.measuring(run), first_held_out(experiences)?);
        let held_out = HeldOut {
            domain: &*self.gathered.domain,
            data: &self.gathered.data,
            measured: &measured,
            all: &all,
            trained: &self.trained_on(run)?,
            labels: self.labels,
            seed: seed.child("task"),
        };
        let (evaluator, causes) = (stream.evaluator(&first), self.causes(run));
        held_out.compare::<B>(&evaluator, encoders, &self.devices[0], &causes)
    }

    /// Returns the samples of the experiences before and of this one that trainings may see.
    fn trained_on(&self, run: &StrategyRun<'_>) -> Result<Increment, Failure> {
        let stream = self.stream(run);
        let trained = |of: &Arrived| stream.training_samples(&of.arriving()).map_err(failure);
        let mut old = Vec::new();
        for arrived in &self.gathered.experiences[..self.at] {
            old.extend(trained(arrived)?);
        }
        Increment::try_new(old, trained(self.arrived())?).map_err(Failure::input)
    }
}
