//! The networks of the agent and their training.

use burn::grad_clipping::GradientClippingConfig;
use burn::module::{AutodiffModule, Module};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{Adam, AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{ElementConversion, Tensor};
use rand::Rng;

use super::config::DdpgConfig;
use crate::network::{Actor, Critic, soft_update};
use crate::replay::{Minibatch, td_target};

/// Statistics of one step of learning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learned {
    /// Loss of the critic, the mean of (Q(s, a) − y)² over the minibatch, before the step.
    pub critic_loss: f64,
    /// Mean of Q(s, μ(…, s)) over the minibatch, after the step of the critic and before that of the
    /// actor.
    pub mean_value: f64,
}

/// Actor and critic with their target networks and the states of their optimizers.
#[derive(Clone)]
pub(super) struct Learner<B: AutodiffBackend> {
    pub(super) actor: Actor<B>,
    pub(super) critic: Critic<B>,
    pub(super) target_actor: Actor<B::InnerBackend>,
    pub(super) target_critic: Critic<B::InnerBackend>,
    pub(super) actor_adam: AdamOf<B, Actor<B>>,
    pub(super) critic_adam: AdamOf<B, Critic<B>>,
}

type AdamOf<B, M> = OptimizerAdaptor<Adam, M, B>;

impl<B: AutodiffBackend> Learner<B> {
    /// Creates networks whose weights are drawn from `rng`, with target networks equal to them.
    pub(super) fn init(config: &DdpgConfig, rng: &mut impl Rng, device: &B::Device) -> Self {
        let actor = Actor::init(config.d_state, config.d_actor_hidden, rng, device);
        let critic = Critic::init(config.d_state, config.d_critic_hidden, rng, device);
        Self {
            target_actor: actor.valid(),
            target_critic: critic.valid(),
            actor_adam: adam(config).init(),
            critic_adam: adam(config).init(),
            actor,
            critic,
        }
    }

    /// Takes one step of learning on a minibatch (Lillicrap et al., 2016, algorithm 1): the critic
    /// towards the targets, the actor towards higher values, and the target networks towards both.
    /// `n_updates` is the number of steps before this one.
    ///
    /// # Panics
    /// If the loss of the critic is not finite.
    pub(super) fn learn(
        &mut self,
        batch: Minibatch<B::InnerBackend>,
        config: &DdpgConfig,
        n_updates: u64,
    ) -> Learned {
        let (states, next_states) = (Tensor::from_inner(batch.states()), batch.next_states());
        // Targets are constants of the loss, so they are computed on the backend without gradients.
        let next_actions = self.target_actor.forward(batch.next_window);
        let next_values = self.target_critic.forward(next_states, next_actions);
        let targets = td_target(batch.rewards, batch.continues, next_values, config.discount);

        let window: Vec<_> = batch.window.into_iter().map(Tensor::from_inner).collect();
        let values = self
            .critic
            .forward(states.clone(), Tensor::from_inner(batch.actions));
        let loss = (values - Tensor::from_inner(targets)).square().mean();
        let critic_loss: f64 = loss.clone().into_scalar().elem();
        assert!(
            critic_loss.is_finite(),
            "critic: found the loss {critic_loss} at update {n_updates}, expected a finite number"
        );
        let gradients = GradientsParams::from_grads(loss.backward(), &self.critic);
        let rate = config.critic_learning_rate;
        self.critic = self.critic_adam.step(rate, self.critic.clone(), gradients);

        // The critic is constant here: only the actor receives a gradient.
        let constant = self.critic.clone().no_grad();
        let value = constant.forward(states, self.actor.forward(window)).mean();
        let mean_value = value.clone().into_scalar().elem();
        // Negative, since the optimizer descends and the value is to rise.
        let gradients = GradientsParams::from_grads(value.neg().backward(), &self.actor);
        let rate = config.actor_learning_rate;
        self.actor = self.actor_adam.step(rate, self.actor.clone(), gradients);

        let rate = config.soft_update;
        self.target_actor = soft_update(self.target_actor.clone(), &self.actor.valid(), rate);
        self.target_critic = soft_update(self.target_critic.clone(), &self.critic.valid(), rate);
        Learned {
            critic_loss,
            mean_value,
        }
    }
}

/// Returns Adam with the ε of Kingma and Ba (2015). Burn's default of 1e-5 is too large for small
/// gradients.
fn adam(config: &DdpgConfig) -> AdamConfig {
    let clip = config
        .clip_norm
        .map(|norm| GradientClippingConfig::Norm(norm as f32));
    AdamConfig::new()
        .with_epsilon(1e-8)
        .with_grad_clipping(clip)
}
