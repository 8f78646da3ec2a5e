//! The experiences of a stream that an encoder is trained on.

use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, CollateFor, Encoder, Increment, Samples, TrainableEncoder, Views};

use crate::budget::Budget;
use crate::error::TrainError;
use crate::optimizer::RunOptimizer;
use crate::progress::{Callbacks, Outcome};
use crate::settings::TrainingSettings;
use crate::stream::advanced::{Advanced, Arriving, Live, NextUpdate};
use crate::stream::decision::Decision;
use crate::stream::division::Divided;
use crate::stream::row::SparseRow;
use crate::stream::settings::Stream;
use crate::stream::state::{Experience, StreamState};

impl<B, S, V, C, O> Stream<'_, B, S, V, C, O>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Trains an encoder on the first experience, as [`Trainer::pretrain`](crate::Trainer::pretrain) does.
    ///
    /// # Errors
    /// [`TrainError`] if the experience has too few samples, or its training fails.
    pub fn first<M>(
        &self,
        encoder: M,
        arriving: Arriving<'_>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Advanced<M, B>, TrainError>
    where
        M: TrainableEncoder<B>,
        C: CollateFor<B, V::View, M>,
        O: RunOptimizer<M, B>,
    {
        let state = StreamState::default();
        let divided = self.divided(&state, &arriving)?;
        let increment = Increment::before(divided.training.clone());
        let increment = increment.map_err(|error| arriving.failed(error))?;
        let trainer = self.trainer(&increment, self.seed_of(arriving.name).value());
        let outcome = trainer.pretrain_with(encoder, callbacks);
        let outcome = outcome.map_err(|error| error.within(arriving.place()))?;
        self.advanced(state, outcome, increment, &arriving, divided, None)
    }

    /// Begins with an encoder that was trained elsewhere on the first experience. That training may have seen the
    /// held-out samples of this experience.
    ///
    /// # Errors
    /// [`TrainError`] if the experience has too few samples, or one cannot be read.
    pub fn adopt<M>(&self, encoder: &M, arriving: &Arriving<'_>) -> Result<StreamState, TrainError>
    where
        M: Encoder<B::InnerBackend>,
        C: Collate<B::InnerBackend, V::View, M::Batch>,
    {
        let state = StreamState::default();
        let divided = self.divided(&state, arriving)?;
        let given = Experience {
            updated: true,
            ..Experience::default()
        };
        self.after(state, encoder, arriving, divided, given)
    }

    /// Decides by the stream's [`Policy`](crate::Policy) whether what arrives, with all that waits, triggers an update:
    /// then [`next`](Self::next) follows, else [`wait`](Self::wait). The cost of a measured drift is charged to the
    /// experience.
    ///
    /// # Errors
    /// [`TrainError`] if a number of the policy is out of its range, the experience has too few samples, a sample is
    /// absent or cannot be read, or a drift cannot be measured.
    pub fn decide<M>(
        &self,
        state: &mut StreamState,
        live: &M,
        arriving: &Arriving<'_>,
    ) -> Result<Decision, TrainError>
    where
        M: Encoder<B::InnerBackend>,
        C: Collate<B::InnerBackend, V::View, M::Batch>,
    {
        self.policy.check()?;
        let when = self.policy.when;
        let (drift, passes) = match when.needs_drift() {
            false => (None, 0.0),
            true => {
                let (drift, passes) = self.drift(state, live, arriving, when.effect())?;
                (Some(drift), passes)
            }
        };
        let n_training = self.training_samples(arriving)?.len();
        let costs = [
            state.charged_to_updates() + passes,
            state.cost_of_last_update(),
        ];
        let drift = drift.as_ref().map(|it| it.deciding());
        let memory = &mut state.memory;
        let decision = self
            .policy
            .decide(memory, arriving.name, n_training, drift, costs);
        memory.deciding = passes;
        memory.decision = Some(decision.clone());
        Ok(decision)
    }

    /// Updates for the next experience, and for all that waits, by a method, as
    /// [`Trainer::update`](crate::Trainer::update) does, at a cost that the [`Policy`](crate::Policy) leaves. The steps
    /// of the updates before count as [`TrainingSettings::steps_before`](crate::TrainingSettings::steps_before).
    ///
    /// # Errors
    /// [`TrainError`] if the name or a sample has come before, the experience has too few samples, or its training
    /// fails.
    pub fn next<M>(
        &self,
        live: Live<M, B>,
        arriving: Arriving<'_>,
        update: NextUpdate<'_, '_, M>,
    ) -> Result<Advanced<M, B>, TrainError>
    where
        M: TrainableEncoder<B>,
        C: CollateFor<B, V::View, M>,
        O: RunOptimizer<M, B>,
    {
        let Live {
            state,
            trained,
            encoder,
        } = live;
        let divided = self.divided(&state, &arriving)?;
        let served = self.held_out_risk(&encoder, &divided.held_out)?;
        let memory = state.memory();
        let [old, new] = memory.samples(&divided.training);
        let increment = Increment::try_new(old, new);
        let increment = increment.map_err(|error| arriving.failed(error))?;
        let trainer = self
            .trainer(&increment, self.seed_of(arriving.name).value())
            .settings(TrainingSettings {
                steps_before: state.n_steps(),
                budget: self
                    .policy
                    .budget(&state, memory.deciding)
                    .map(Budget::Passes)
                    .or(self.settings.budget),
                ..self.settings.clone()
            });
        let outcome = trainer
            .update_with(update.method, trained, update.fresh, update.callbacks)
            .map_err(|error| error.within(arriving.place()))?;
        let served = Some(served);
        self.advanced(state, outcome, increment, &arriving, divided, served)
    }

    /// Returns what the training for an experience leaves behind, with the risk of the encoder before it.
    fn advanced<M, R>(
        &self,
        state: StreamState,
        outcome: Outcome<M, B, R>,
        increment: Increment,
        arriving: &Arriving<'_>,
        divided: Divided,
        served: Option<f64>,
    ) -> Result<Advanced<M, B>, TrainError>
    where
        M: TrainableEncoder<B>,
        C: CollateFor<B, V::View, M>,
    {
        let Outcome {
            trained,
            encoder,
            parameter_change,
            record,
            ..
        } = outcome;
        let mut experience = Experience {
            updated: true,
            n_old: increment.old().len(),
            n_new: increment.new_data().len(),
            epochs: record.n_epochs(),
            n_steps: record.n_steps,
            stopped_by: record.stopped_by,
            served,
            cost: record.cost,
            ..Experience::default()
        };
        if served.is_some() {
            let passes = self.forward_passes::<M::InnerModule>(divided.held_out.len());
            experience.cost.measuring += passes;
        }
        Ok(Advanced {
            live: Live {
                state: self.after(state, &encoder, arriving, divided, experience)?,
                trained,
                encoder,
            },
            increment,
            parameter_change,
            train_s: record.seconds.training(),
        })
    }

    /// Returns the state after an experience, of which the training, its cost and what was served are known, with the
    /// risks that `encoder` has.
    pub(super) fn after<M>(
        &self,
        mut state: StreamState,
        encoder: &M,
        arriving: &Arriving<'_>,
        divided: Divided,
        mut experience: Experience,
    ) -> Result<StreamState, TrainError>
    where
        M: Encoder<B::InnerBackend>,
        C: Collate<B::InnerBackend, V::View, M::Batch>,
    {
        let n = state.experiences.len() + 1;
        state.memory.arrive(arriving.name, divided.training);
        if experience.updated {
            state.memory.absorb(self.keep, |name| self.seed_of(name));
        }
        // Without an update the risks are those of the same encoder before.
        let known = state.experiences.last().filter(|_| !experience.updated);
        let known = known.map_or_else(SparseRow::default, |it| it.risks.clone());
        let mut risks = vec![None; n];
        for at in StreamState::measured(n) {
            let earlier = state.experiences.get(at);
            let held_out = earlier.map_or(&divided.held_out, |it| &it.held_out);
            // The risk that was served is that of this encoder, if there was no update.
            let is_served = at + 1 == n && !experience.updated;
            risks[at] = match known.get(at).or(experience.served.filter(|_| is_served)) {
                Some(risk) => Some(risk),
                None => {
                    experience.cost.measuring += self.forward_passes::<M>(held_out.len());
                    Some(self.held_out_risk(encoder, held_out)?)
                }
            };
        }
        experience.cost.monitoring += std::mem::take(&mut state.memory.deciding);
        let held_out = arriving.held_out.as_ref();
        state.experiences.push(Experience {
            name: arriving.name.to_owned(),
            n_samples: arriving.samples.len() + held_out.map_or(0, Vec::len),
            decision: state.memory.decision.take(),
            held_out: divided.held_out,
            risks: risks.into(),
            ..experience
        });
        Ok(state)
    }
}
