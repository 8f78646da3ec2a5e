//! Where learning rates come from: a fixed number, two controls, and two kinds of agents.

mod cosine;
mod hypergradient;
mod learned;
mod published;
mod running;
mod state;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use icl_core::Seed;

use crate::checkpoint::Unfit;
use crate::{RateChoice, TrainError};
use hypergradient::Hypergradient;
use learned::{HOLD, LearnedRate};
use published::PublishedRate;

pub(crate) use state::PolicyState;

/// What a policy sees of a step before it chooses that step's learning rate.
pub(crate) struct Situation<'a, M> {
    /// The step of the run, counted from 0.
    pub(crate) step: u64,
    /// Whether a policy that acts once in a while acts now.
    pub(crate) acts: bool,
    /// The loss of the step's batch at the encoder as it is.
    pub(crate) loss: f64,
    /// What the last act has brought, where the policy acts and there was one.
    pub(crate) pair: Option<Pair>,
    /// The encoder.
    pub(crate) encoder: &'a M,
    /// The gradient of the loss.
    pub(crate) gradients: &'a GradientsParams,
}

/// One batch's loss before and after something was done.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Pair {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl Pair {
    /// Both losses, if they are numbers: an encoder that was left behind may give none.
    pub(crate) fn of(before: f64, after: f64) -> Option<Self> {
        (before.is_finite() && after.is_finite()).then_some(Self { before, after })
    }
}

/// A learning-rate policy with its state.
pub(crate) enum RatePolicy<M, B: AutodiffBackend> {
    Fixed(f64),
    Cosine { base: f64, n_steps: u64 },
    Hypergradient(Hypergradient<M>),
    Published(Box<PublishedRate<B>>),
    Learned(Box<LearnedRate<M, B>>),
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> RatePolicy<M, B> {
    /// A policy about the rate `base`, for a run of at most `n_steps` steps.
    pub(crate) fn new(
        choice: RateChoice,
        base: f64,
        n_steps: u64,
        seed: Seed,
        device: &B::Device,
    ) -> Self {
        match choice {
            RateChoice::Fixed => Self::Fixed(base),
            RateChoice::Cosine => Self::Cosine { base, n_steps },
            RateChoice::Hypergradient => Self::Hypergradient(Hypergradient::new(base)),
            RateChoice::LearnedAsPublished => {
                Self::Published(Box::new(PublishedRate::new(base, seed, device)))
            }
            RateChoice::Learned => {
                Self::Learned(Box::new(LearnedRate::new(base, n_steps, seed, device)))
            }
        }
    }

    /// The policy for the rate of inner steps. Hypergradient descent learns there from
    /// [`after_adaptation`](Self::after_adaptation) alone: inner steps begin at θ again and again.
    pub(crate) fn for_inner_steps(mut self) -> Self {
        if let Self::Hypergradient(policy) = &mut self {
            policy.follows_steps = false;
        }
        self
    }

    /// Whether the policy acts at this step and would compare losses.
    pub(crate) fn is_due(&self, step: u64) -> bool {
        matches!(self, Self::Learned(_)) && step.is_multiple_of(HOLD)
    }

    /// The encoder at the policy's last act, whose loss on the batch of this step it compares.
    pub(crate) fn earlier(&self, step: u64) -> Option<&M> {
        match self {
            Self::Learned(learned) if self.is_due(step) => learned.earlier(),
            _ => None,
        }
    }

    /// The learning rate of this step.
    pub(crate) fn choose(&mut self, situation: &Situation<'_, M>) -> f64 {
        match self {
            Self::Fixed(rate) => *rate,
            Self::Cosine { base, n_steps } => cosine::rate(*base, situation.step, *n_steps),
            Self::Hypergradient(policy) => {
                policy.choose::<B>(situation.encoder, situation.gradients)
            }
            Self::Published(policy) => policy.choose(situation.loss),
            Self::Learned(policy) => policy.choose(situation),
        }
    }

    /// For the learning rate of inner steps: they led from `from` to `to`, where the query's
    /// gradient was found. Hypergradient descent follows it.
    pub(crate) fn after_adaptation(&mut self, from: &M, to: &M, query: &GradientsParams) {
        if let Self::Hypergradient(policy) = self {
            policy.follow::<B>(from, to, query);
        }
    }

    /// Everything that the next choice depends on.
    pub(crate) fn state(&self) -> Result<PolicyState, TrainError> {
        PolicyState::of(self)
    }

    /// Takes up a saved state.
    pub(crate) fn restore(
        self,
        state: PolicyState,
        like: &M,
        device: &B::Device,
    ) -> Result<Self, Unfit> {
        state.into_policy(self, like, device)
    }
}
