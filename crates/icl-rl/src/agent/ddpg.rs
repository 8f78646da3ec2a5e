//! The agent: deep deterministic policy gradients for one continuous action.

use burn::module::AutodiffModule;
use burn::tensor::ElementConversion;
use burn::tensor::backend::AutodiffBackend;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::config::DdpgConfig;
use super::learner::{Learned, Learner};
use crate::RlError;
use crate::ou_noise::{OuNoise, OuState};
use crate::replay::{History, Minibatch, ReplayBuffer, Transition, to_tensors};

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
/// A state is `d_state` numbers, which should be of order one. The action is in [−1, 1]; the caller
/// defines its meaning. The actor sees a window of the last `history` states, because states may be
/// noisy; at the beginning of an episode, the first state is repeated in place of those before it. The
/// critic sees the latest state alone, as in the ICL paper. It assigns the same value to windows that end
/// in the same state, so the window smooths the policy, but the actor does not learn to infer from it
/// what the latest state lacks. Such information has to be a part of the state.
///
/// An episode that ends by itself is `terminated`: nothing follows, and the value of its last state is
/// 0. An episode that is cut off from outside is `truncated`: its last state keeps its value. After
/// both, the window and the noise start again.
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
    pub(super) config: DdpgConfig,
    pub(super) learner: Learner<B>,
    pub(super) memory: Memory,
    noise: OuNoise,
    device: B::Device,
}

/// State of an agent besides its networks.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Memory {
    noise: OuState,
    noise_rng: Pcg64,
    replay: ReplayBuffer,
    replay_rng: Pcg64,
    history: History,
    /// Last action, until its feedback.
    pending: Option<f64>,
    n_updates: u64,
}

/// Response of the environment to an action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feedback<'a> {
    /// Reward r_t.
    pub reward: f64,
    /// Next state s_{t+1} `[d_state]`; the last state of the episode if the episode ends.
    pub next_state: &'a [f64],
    /// Whether the episode ended by itself: no reward follows, and the value of s_{t+1} is 0.
    pub terminated: bool,
    /// Whether the episode was cut off from outside: s_{t+1} keeps its value.
    pub truncated: bool,
}

impl DdpgConfig {
    /// Creates an untrained agent.
    ///
    /// All randomness of the agent comes from `seed`. Its initial weights are the same on every backend,
    /// to the precision of the backend.
    ///
    /// # Errors
    /// [`RlError::Invalid`] for the first field that is outside its documented range.
    pub fn try_init<B: AutodiffBackend>(
        &self,
        seed: u64,
        device: &B::Device,
    ) -> Result<Ddpg<B>, RlError> {
        self.check()?;
        let noise = self.noise.try_init()?;
        let mut rng = Pcg64::seed_from_u64(seed);
        // A generator each, so that the noise does not depend on the number of minibatches that were drawn.
        let noise_rng = Pcg64::from_rng(&mut rng);
        let replay_rng = Pcg64::from_rng(&mut rng);
        Ok(Ddpg {
            learner: Learner::init(self, &mut rng, device),
            memory: Memory {
                noise: noise.start(),
                noise_rng,
                replay: ReplayBuffer::new(self.capacity),
                replay_rng,
                history: History::new(self.history),
                pending: None,
                n_updates: 0,
            },
            noise,
            config: self.clone(),
            device: device.clone(),
        })
    }

    /// Creates an untrained agent, as [`try_init`](Self::try_init) does.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init<B: AutodiffBackend>(&self, seed: u64, device: &B::Device) -> Ddpg<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

impl<B: AutodiffBackend> Ddpg<B> {
    /// Appends the state to the window and returns an exploring action, clamp(μ + N, −1, 1).
    ///
    /// An action without feedback makes no transition, but its state remains in the window.
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

    /// Appends the state to the window and returns the action of the policy, μ, without noise. The noise
    /// process does not advance.
    ///
    /// The agent learns from [`feedback`](Self::feedback) to this action as from any other.
    ///
    /// # Panics
    /// If `state` is not `d_state` finite numbers.
    pub fn act_greedily(&mut self, state: &[f64]) -> f64 {
        let action = self.answer(state);
        self.memory.pending = Some(action);
        action
    }

    /// Stores the transition of the last action and, once there are `warm_up` transitions, learns from
    /// one minibatch. After the end of an episode, of either kind, the window and the noise start again.
    ///
    /// The result is `None` before `warm_up` transitions are stored.
    ///
    /// # Panics
    /// If there was no action since the last feedback, if `next_state` is not `d_state` finite numbers,
    /// if `reward` is not finite, or if the loss of the critic is not finite because learning diverged.
    pub fn feedback(&mut self, feedback: Feedback<'_>) -> Option<Learned> {
        self.check_state(feedback.next_state);
        let reward = feedback.reward;
        assert!(
            reward.is_finite(),
            "reward: found {reward}, expected a finite number"
        );
        let Some(action) = self.memory.pending.take() else {
            panic!("feedback: found no action since the last feedback, expected one before it");
        };
        // Stored before the window starts again, since the transition holds it.
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

    /// Starts the window and the noise again and drops an action without feedback.
    ///
    /// This is needed only if the last episode had no final feedback, as in an evaluation.
    pub fn begin_episode(&mut self) {
        let memory = &mut self.memory;
        memory.history.clear();
        memory.noise = self.noise.restart(memory.noise);
        memory.pending = None;
    }

    /// Returns the number of steps of learning so far.
    pub fn n_updates(&self) -> u64 {
        self.memory.n_updates
    }

    /// Returns μ for the window that ends in this state.
    fn answer(&mut self, state: &[f64]) -> f64 {
        self.check_state(state);
        self.memory.history.push(state);
        let states = self.memory.history.states();
        let window = to_tensors(&[states], self.config.d_state, &self.device);
        let actor = self.learner.actor.valid();
        actor.forward(window).into_scalar().elem()
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
        let batch = Minibatch::new(&drawn, &self.device);
        let learned = self.learner.learn(batch, &self.config, memory.n_updates);
        memory.n_updates += 1;
        learned
    }
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
    use crate::ou_noise::OuNoiseConfig;
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
        to_vec(&agent.learner.actor.head.weight.val())
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
            let critic = to_vec(&agent.learner.critic.first.weight.val());
            let lstm = to_vec(&agent.learner.actor.first.gates.weight.val());
            [head(agent), lstm, critic]
        };
        let target = |agent: &Agent| {
            let Learner {
                target_actor,
                target_critic,
                ..
            } = &agent.learner;
            let critic = to_vec(&target_critic.first.weight.val());
            let lstm = to_vec(&target_actor.first.gates.weight.val());
            [to_vec(&target_actor.head.weight.val()), lstm, critic]
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
