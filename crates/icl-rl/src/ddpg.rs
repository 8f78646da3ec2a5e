//! The agent: deep deterministic policy gradients for one continuous action.

use burn::grad_clipping::GradientClippingConfig;
use burn::module::{AutodiffModule, Module};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{Adam, AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{ElementConversion, Tensor};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::critic::Critic;
use crate::history::History;
use crate::minibatch::{Minibatch, window};
use crate::replay::{ReplayBuffer, Transition};
use crate::soft_update::soft_update;
use crate::td_target::td_target;
use crate::{DdpgConfig, OuNoise, OuState};

/// An agent that learns one continuous action by deep deterministic policy gradients.
///
/// ```text
/// a_t = clamp(μ(s_{t−T+1}, …, s_t | θ^μ) + N_t, −1, 1)
/// y   = r + γ (1 − terminated) Q′(s′, μ′(…, s′))
/// θ^Q by Adam on   mean (Q(s, a) − y)²
/// θ^μ by Adam on − mean Q(s, μ(…, s))
/// θ′  ← m θ + (1 − m) θ′            for both target networks
/// ```
///
/// A state is `d_state` numbers that should be of order one; the action lies in [−1, 1], and it is
/// the caller's to give it a meaning. Of states that are few and noisy the actor sees the last
/// `history`; at the beginning of an episode the first state stands for those before it. The
/// critic sees the latest, as in the ICL paper: what it cannot tell apart it values alike, so that the
/// window smooths the policy but is never taught to find what the latest state does not hold. Put
/// that into the state.
///
/// An episode that ends of itself is `terminated`: nothing follows, and the value of its last state
/// is 0. One that is cut off from outside is `truncated`: its last state keeps its value. Both
/// begin the window and the noise anew.
///
/// ```
/// use burn::backend::{Autodiff, Flex};
/// use icl_rl::{Ddpg, DdpgConfig, Feedback};
///
/// let mut agent: Ddpg<Autodiff<Flex>> = DdpgConfig::new(1).with_warm_up(2).init(7, &Default::default());
/// let mut x: f64 = 0.5;
/// for step in 1..=4 {
///     x += 0.1 * agent.act(&[x]);
///     let learned = agent.feedback(Feedback {
///         reward: -x * x,
///         next_state: &[x],
///         terminated: false,
///         truncated: step == 4,
///     });
///     assert_eq!(learned.is_some(), step >= 2);
/// }
/// ```
///
/// Sources: Lillicrap et al. (2016), algorithm 1; ICL, section 3.3.2; `terminated` and `truncated`
/// after Pardo et al. (2018).
#[derive(Clone)]
pub struct Ddpg<B: AutodiffBackend> {
    pub(crate) config: DdpgConfig,
    pub(crate) device: B::Device,
    pub(crate) actor: Actor<B>,
    pub(crate) critic: Critic<B>,
    pub(crate) target_actor: Actor<B::InnerBackend>,
    pub(crate) target_critic: Critic<B::InnerBackend>,
    pub(crate) actor_adam: AdamOf<B, Actor<B>>,
    pub(crate) critic_adam: AdamOf<B, Critic<B>>,
    pub(crate) noise: OuNoise,
    pub(crate) memory: Memory,
}

type AdamOf<B, M> = OptimizerAdaptor<Adam, M, B>;

/// What an agent knows besides its networks.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Memory {
    noise: OuState,
    noise_rng: Pcg64,
    replay: ReplayBuffer,
    replay_rng: Pcg64,
    history: History,
    /// The last action, until its feedback comes.
    pending: Option<f64>,
    pub(crate) n_updates: u64,
}

/// What the environment answers to an action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feedback<'a> {
    /// r_t.
    pub reward: f64,
    /// s_{t+1}, `[d_state]`; the last state of the episode if this ends it.
    pub next_state: &'a [f64],
    /// The episode ended of itself: no reward follows, and s_{t+1} is worth 0.
    pub terminated: bool,
    /// The episode was cut off from outside: s_{t+1} is worth what it always is.
    pub truncated: bool,
}

/// What one step of learning saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learned {
    /// mean (Q(s, a) − y)² over the minibatch, before the step.
    pub critic_loss: f64,
    /// mean Q(s, μ(…, s)) over the minibatch, after the critic's step and before the actor's.
    pub mean_value: f64,
}

impl<B: AutodiffBackend> Ddpg<B> {
    pub(crate) fn fresh(
        config: &DdpgConfig,
        noise: OuNoise,
        seed: u64,
        device: &B::Device,
    ) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed);
        let noise_rng = Pcg64::from_rng(&mut rng);
        let replay_rng = Pcg64::from_rng(&mut rng);
        let actor = Actor::init(config.d_state, config.d_actor_hidden, &mut rng, device);
        let critic = Critic::init(config.d_state, config.d_critic_hidden, &mut rng, device);
        Self {
            target_actor: actor.valid(),
            target_critic: critic.valid(),
            actor_adam: adam(config).init(),
            critic_adam: adam(config).init(),
            memory: Memory {
                noise: noise.start(),
                noise_rng,
                replay: ReplayBuffer::new(config.capacity),
                replay_rng,
                history: History::new(config.history),
                pending: None,
                n_updates: 0,
            },
            actor,
            critic,
            noise,
            config: config.clone(),
            device: device.clone(),
        }
    }

    /// Appends the state to the window and answers with an action that explores,
    /// clamp(μ + N, −1, 1).
    ///
    /// An action without feedback leaves no transition; its state stays in the window.
    ///
    /// # Panics
    /// If `state` is not `d_state` finite numbers.
    pub fn act(&mut self, state: &[f64]) -> f64 {
        let policy = self.answer(state);
        let memory = &mut self.memory;
        memory.noise = self.noise.next(memory.noise, &mut memory.noise_rng);
        let action = (policy + memory.noise.value).clamp(-1.0, 1.0);
        memory.pending = Some(action);
        action
    }

    /// Appends the state to the window and answers with the action held best, μ. The noise stays
    /// where it is.
    ///
    /// [`feedback`](Self::feedback) to it is learned from like any other.
    ///
    /// # Panics
    /// If `state` is not `d_state` finite numbers.
    pub fn act_greedily(&mut self, state: &[f64]) -> f64 {
        let action = self.answer(state);
        self.memory.pending = Some(action);
        action
    }

    /// Stores the transition of the last action and, from `warm_up` transitions on, learns from
    /// one minibatch. The end of an episode, of either kind, begins the window and the noise anew.
    ///
    /// # Panics
    /// If there was no action since the last feedback, if `next_state` is not `d_state` finite
    /// numbers, if `reward` is not finite, or if the critic's loss is not: learning diverged.
    pub fn feedback(&mut self, feedback: Feedback<'_>) -> Option<Learned> {
        self.check_state(feedback.next_state);
        let reward = feedback.reward;
        assert!(
            reward.is_finite(),
            "reward: found {reward}, expected a finite number"
        );
        let Some(action) = self.memory.pending.take() else {
            panic!("feedback: found no action since the last one, expected act before it");
        };
        self.memory.replay.push(Transition {
            window: self.memory.history.states().to_vec(),
            action,
            reward,
            next_state: feedback.next_state.to_vec(),
            terminated: feedback.terminated,
            truncated: feedback.truncated,
        });
        if feedback.terminated || feedback.truncated {
            self.begin_episode();
        }
        (self.memory.replay.len() >= self.config.warm_up).then(|| self.learn())
    }

    /// Begins the window and the noise anew and forgets an action without feedback.
    ///
    /// Only needed where an episode is left without feedback, as in an evaluation.
    pub fn begin_episode(&mut self) {
        let memory = &mut self.memory;
        memory.history.clear();
        memory.noise = self.noise.restart(memory.noise);
        memory.pending = None;
    }

    /// The steps of learning so far.
    pub fn n_updates(&self) -> u64 {
        self.memory.n_updates
    }

    /// μ for a window that ends in this state.
    fn answer(&mut self, state: &[f64]) -> f64 {
        self.check_state(state);
        self.memory.history.push(state);
        let states = self.memory.history.states();
        let window = window(&[states], self.config.d_state, &self.device);
        self.actor.valid().forward(window).into_scalar().elem()
    }

    fn check_state(&self, state: &[f64]) {
        let (found, expected) = (state.len(), self.config.d_state);
        assert_eq!(
            found, expected,
            "state: found {found} numbers, expected {expected}"
        );
        for (index, found) in state.iter().enumerate() {
            assert!(
                found.is_finite(),
                "state: found {found} at {index}, expected finite numbers"
            );
        }
    }

    fn learn(&mut self) -> Learned {
        let memory = &mut self.memory;
        let drawn = memory
            .replay
            .sample(self.config.batch_size, &mut memory.replay_rng);
        let batch = Minibatch::<B::InnerBackend>::new(&drawn, &self.device);

        let (states, next_states) = (Tensor::from_inner(batch.states()), batch.next_states());
        let next_actions = self.target_actor.forward(batch.next_window);
        let next_values = self.target_critic.forward(next_states, next_actions);
        let targets = td_target(
            batch.rewards,
            batch.continues,
            next_values,
            self.config.discount,
        );

        let window: Vec<_> = batch.window.into_iter().map(Tensor::from_inner).collect();
        let values = self
            .critic
            .forward(states.clone(), Tensor::from_inner(batch.actions));
        let loss = (values - Tensor::from_inner(targets)).square().mean();
        let critic_loss: f64 = loss.clone().into_scalar().elem();
        assert!(
            critic_loss.is_finite(),
            "critic: found the loss {critic_loss} at update {}, expected a finite number",
            memory.n_updates
        );
        let gradients = GradientsParams::from_grads(loss.backward(), &self.critic);
        let rate = self.config.critic_learning_rate;
        self.critic = self.critic_adam.step(rate, self.critic.clone(), gradients);

        // The critic is a given function here: only the actor's gradient is wanted.
        let given = self.critic.clone().no_grad();
        let value = given.forward(states, self.actor.forward(window)).mean();
        let mean_value = value.clone().into_scalar().elem();
        let gradients = GradientsParams::from_grads(value.neg().backward(), &self.actor);
        let rate = self.config.actor_learning_rate;
        self.actor = self.actor_adam.step(rate, self.actor.clone(), gradients);

        let rate = self.config.soft_update;
        self.target_actor = soft_update(self.target_actor.clone(), &self.actor.valid(), rate);
        self.target_critic = soft_update(self.target_critic.clone(), &self.critic.valid(), rate);
        memory.n_updates += 1;
        Learned {
            critic_loss,
            mean_value,
        }
    }
}

/// Adam with the ε of Kingma and Ba (2015); Burn's own is 1e-5, too much for small gradients.
fn adam(config: &DdpgConfig) -> AdamConfig {
    let clip = config
        .clip_norm
        .map(|norm| GradientClippingConfig::Norm(norm as f32));
    AdamConfig::new()
        .with_epsilon(1e-8)
        .with_grad_clipping(clip)
}

impl<B: AutodiffBackend> std::fmt::Debug for Ddpg<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ddpg")
            .field("config", &self.config)
            .field("n_updates", &self.memory.n_updates)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OuNoiseConfig;
    use crate::testing::{TestAutodiff, to_vec};

    type Agent = Ddpg<TestAutodiff>;

    fn small() -> DdpgConfig {
        DdpgConfig::new(1).with_history(2).with_warm_up(1)
    }

    fn learn_steps(agent: &mut Agent, n: usize) {
        for t in 0..n {
            let state = [(t as f64).cos()];
            let action = agent.act(&state);
            agent.feedback(Feedback {
                reward: action,
                next_state: &state,
                terminated: false,
                truncated: false,
            });
        }
    }

    fn head(agent: &Agent) -> Vec<f64> {
        to_vec(&agent.actor.head.weight.val())
    }

    #[test]
    fn an_exploring_action_is_the_policy_plus_the_noise() {
        let mut agent: Agent = small().init(3, &Default::default());
        let mut rng = agent.memory.noise_rng.clone();
        let noise = OuNoiseConfig::new().init();
        let mut state = noise.start();
        for t in 0..20 {
            let policy = agent.clone().act_greedily(&[f64::from(t)]);
            state = noise.next(state, &mut rng);
            let expected = (policy + state.value).clamp(-1.0, 1.0);
            assert_eq!(agent.act(&[f64::from(t)]), expected);
        }
    }

    #[test]
    fn small_first_gradients_count_in_full() {
        // The first step of Adam is rate · |g|/(|g| + ε). Heads begin at 3e-3, so the actor's first
        // gradients are about 1e-7: with Burn's own ε of 1e-5 it would hardly move.
        let rate = 1e-3;
        let mut agent: Agent = small()
            .with_actor_learning_rate(rate)
            .init(3, &Default::default());
        let before = head(&agent);
        learn_steps(&mut agent, 1);
        let moved = before.iter().zip(head(&agent)).map(|(b, a)| (a - b).abs());
        let most = moved.fold(0.0, f64::max);
        assert!((0.9 * rate..1.001 * rate).contains(&most), "{most}");
    }

    #[test]
    fn gradients_are_clipped_where_asked() {
        let moved = |clip: Option<f64>| {
            let mut agent: Agent = small().with_clip_norm(clip).init(3, &Default::default());
            let before = head(&agent);
            learn_steps(&mut agent, 5);
            let far = |(a, b): (f64, f64)| (a - b).abs();
            before
                .into_iter()
                .zip(head(&agent))
                .map(far)
                .fold(0.0, f64::max)
        };
        // Gradients far below Adam's ε no longer count in full.
        assert!(moved(Some(1e-11)) < 0.01 * moved(None));
    }

    #[test]
    fn learning_moves_both_networks_and_both_targets() {
        let mut agent: Agent = small().init(3, &Default::default());
        let before = agent.clone();
        learn_steps(&mut agent, 5);
        let online = |agent: &Agent| {
            let critic = to_vec(&agent.critic.first.weight.val());
            let lstm = to_vec(&agent.actor.first.gates.weight.val());
            [head(agent), lstm, critic]
        };
        let target = |agent: &Agent| {
            let critic = to_vec(&agent.target_critic.first.weight.val());
            let lstm = to_vec(&agent.target_actor.first.gates.weight.val());
            [to_vec(&agent.target_actor.head.weight.val()), lstm, critic]
        };
        assert_eq!(target(&before), online(&before));
        for (part, (before, after)) in online(&before).iter().zip(online(&agent)).enumerate() {
            assert_ne!(before, &after, "online {part}");
        }
        for (part, (before, after)) in target(&before).iter().zip(target(&agent)).enumerate() {
            assert_ne!(before, &after, "target {part}");
        }
        assert_ne!(target(&agent), online(&agent));
    }
}
