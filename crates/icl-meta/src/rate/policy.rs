//! Learning-rate policies, and their state in checkpoints.

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use icl_core::module_bytes::{Bytes, load_module, save_module, unfit};
use icl_core::{Error, RateChoice, Schedule, Seed};
use icl_rl::Ddpg;
use serde::{Deserialize, Serialize};

use crate::rate::hypergradient::Hypergradient;
use crate::rate::learned::{HOLD, INNER_DECADES, LearnedRate, Memory};
use crate::rate::published::PublishedRate;
use crate::rate::situation::Situation;

/// Source of a run's learning rate, with its state.
///
/// A function of the step has no state; hypergradient descent keeps an earlier encoder, and the
/// learned rates keep an agent. [`state`](Self::state) and [`restore`](Self::restore) carry it through a
/// checkpoint.
pub struct RatePolicy<M, B: AutodiffBackend>(Kind<M, B>);

enum Kind<M, B: AutodiffBackend> {
    Scheduled(Schedule),
    Hypergradient(Hypergradient<M>),
    Published(Box<PublishedRate<B>>),
    Learned(Box<LearnedRate<M, B>>),
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> RatePolicy<M, B> {
    /// Creates a policy with the base learning rate `base`, for a run of at most `n_steps` steps. `seed`
    /// initialises the agent of a learned rate.
    pub fn new(
        choice: RateChoice,
        base: f64,
        n_steps: u64,
        seed: Seed,
        device: &B::Device,
    ) -> Self {
        Self(match (choice.schedule(base, n_steps), choice) {
            (Some(schedule), _) => Kind::Scheduled(schedule),
            (None, RateChoice::LearnedAsPublished) => {
                Kind::Published(Box::new(PublishedRate::new(base, seed, device)))
            }
            (None, RateChoice::Learned) => {
                Kind::Learned(Box::new(LearnedRate::new(base, n_steps, seed, device)))
            }
            (None, _) => Kind::Hypergradient(Hypergradient::new(base)),
        })
    }

    /// Turns the policy into one for inner steps (Eq. 11). Hypergradient descent then learns from
    /// [`after_adaptation`](Self::after_adaptation) alone, because every inner loop starts at θ again. The rate of
    /// [`RateChoice::Learned`] reaches 2.5 powers of ten around its base instead of one.
    pub fn for_inner_steps(mut self) -> Self {
        match &mut self.0 {
            Kind::Hypergradient(policy) => policy.follows_steps = false,
            Kind::Learned(policy) => policy.n_decades = INNER_DECADES,
            Kind::Scheduled(_) | Kind::Published(_) => (),
        }
        self
    }

    /// Turns the policy into one for a run after `n_before` steps of earlier runs. Only [`RateChoice::MetaDecay`] makes
    /// use of it.
    pub fn after_steps(mut self, n_before: u64) -> Self {
        if let Kind::Scheduled(schedule) = &mut self.0 {
            *schedule = schedule.after_steps(n_before);
        }
        self
    }

    /// Returns whether the policy acts at this step. It then needs the losses before and after its last act.
    pub fn is_due(&self, step: u64) -> bool {
        matches!(self.0, Kind::Learned(_)) && step.is_multiple_of(HOLD)
    }

    /// Returns the encoder at the policy's last act, if the policy needs its loss on the batch of this
    /// step.
    pub fn earlier(&self, step: u64) -> Option<&M> {
        match &self.0 {
            Kind::Learned(learned) if self.is_due(step) => learned.earlier(),
            _ => None,
        }
    }

    /// Chooses the learning rate of a step.
    pub fn choose(&mut self, situation: &Situation<'_, M>) -> f64 {
        match &mut self.0 {
            Kind::Scheduled(schedule) => schedule.at(situation.step),
            Kind::Hypergradient(policy) => {
                policy.choose::<B>(situation.encoder, situation.gradients)
            }
            Kind::Published(policy) => policy.choose(situation.loss),
            Kind::Learned(policy) => policy.choose(situation),
        }
    }

    /// Updates the policy of inner steps after the inner loop: its last step led from `from` to `to`,
    /// where the query's loss has the gradient `query`. Only hypergradient descent makes use of it.
    pub fn after_adaptation(&mut self, from: &M, to: &M, query: &GradientsParams) {
        if let Kind::Hypergradient(policy) = &mut self.0 {
            policy.follow::<B>(from, to, query);
        }
    }

    /// Returns the state of the policy: everything on which its next choice depends.
    ///
    /// # Errors
    /// [`Error`] if an agent or an encoder cannot be saved.
    pub fn state(&self) -> Result<PolicyState, Error> {
        State::of(&self.0).map(PolicyState)
    }

    /// Restores a saved state. `like` is an encoder of the same architecture as that of the run.
    ///
    /// # Errors
    /// If the state belongs to another kind of policy or encoder.
    pub fn restore(
        &mut self,
        state: PolicyState,
        like: &M,
        device: &B::Device,
    ) -> Result<(), Error> {
        state.0.restore(&mut self.0, like, device)
    }
}

/// Saved state of a policy: everything on which its next choice depends.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct PolicyState(State);

#[derive(Serialize, Deserialize)]
enum State {
    /// No state: the rate is a function of the step.
    Stateless,
    /// Rate, and the encoder before the last step.
    Hypergradient { rate: f64, earlier: Option<Bytes> },
    /// Agent, and the loss at its last act.
    Published {
        agent: Bytes,
        last_loss: Option<f64>,
    },
    /// Agent, its running statistics, and the encoder at its last act.
    Learned {
        agent: Bytes,
        memory: Memory,
        earlier: Option<Bytes>,
    },
}

impl State {
    fn of<M: AutodiffModule<B>, B: AutodiffBackend>(policy: &Kind<M, B>) -> Result<Self, Error> {
        let module = |module: &Option<M>| module.as_ref().map(save_module::<B, M>).transpose();
        let agent = |agent: &Ddpg<B>| {
            let failed = "the agent that chooses learning rates could not be saved";
            let saved = agent.save();
            let saved = saved.map_err(|error| Error::message(failed).with_source(error));
            saved.map(Bytes::from)
        };
        Ok(match policy {
            Kind::Scheduled(_) => Self::Stateless,
            Kind::Hypergradient(policy) => Self::Hypergradient {
                rate: policy.rate,
                earlier: module(&policy.earlier)?,
            },
            Kind::Published(policy) => Self::Published {
                agent: agent(&policy.agent)?,
                last_loss: policy.last_loss,
            },
            Kind::Learned(policy) => Self::Learned {
                agent: agent(&policy.agent)?,
                memory: policy.memory,
                earlier: module(&policy.earlier)?,
            },
        })
    }

    fn restore<M: AutodiffModule<B>, B: AutodiffBackend>(
        self,
        policy: &mut Kind<M, B>,
        like: &M,
        device: &B::Device,
    ) -> Result<(), Error> {
        let module = |bytes: Option<Bytes>| {
            bytes
                .map(|bytes| load_module::<B, M>(like.clone(), bytes, device))
                .transpose()
        };
        match (self, policy) {
            (Self::Stateless, Kind::Scheduled(_)) => (),
            (Self::Hypergradient { rate, earlier }, Kind::Hypergradient(policy)) => {
                policy.rate = rate;
                policy.earlier = module(earlier)?;
            }
            (Self::Published { agent, last_loss }, Kind::Published(policy)) => {
                policy.agent = PublishedRate::<B>::config()
                    .load(&agent, device)
                    .map_err(|_| unfit())?;
                policy.last_loss = last_loss;
            }
            (
                Self::Learned {
                    agent,
                    memory,
                    earlier,
                },
                Kind::Learned(policy),
            ) => {
                policy.agent = LearnedRate::<M, B>::config()
                    .load(&agent, device)
                    .map_err(|_| unfit())?;
                policy.memory = memory;
                policy.earlier = module(earlier)?;
            }
            _ => return Err(unfit()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::Param;
    use burn::tensor::Tensor;
    use icl_core::testing::TestAutodiff;

    type One = Param<Tensor<TestAutodiff, 1>>;

    #[test]
    fn inner_steps_have_a_wider_reach() {
        let policy = || {
            let (choice, device) = (RateChoice::Learned, Default::default());
            RatePolicy::<One, TestAutodiff>::new(choice, 3e-3, 100, Seed::new(1), &device)
        };
        let reach = |policy: RatePolicy<One, TestAutodiff>| match policy.0 {
            Kind::Learned(policy) => policy.n_decades,
            _ => panic!("expected a learned rate"),
        };
        let policies = [policy(), policy().for_inner_steps()];
        assert_eq!(policies.map(reach), [1.0, 2.5]);
    }
}
