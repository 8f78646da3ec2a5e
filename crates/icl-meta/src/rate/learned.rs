//! The learned learning rate with a paired reward and a prior, which does not collapse.

use burn::tensor::backend::AutodiffBackend;
use icl_core::Seed;
use icl_rl::{Ddpg, DdpgConfig, Feedback, OuNoiseConfig};

use crate::rate::running::Running;
use crate::rate::situation::Situation;

/// Number of steps between two acts of the agent. The effect of a rate becomes visible over several
/// steps, and the agent costs more than a step of a small encoder.
pub(super) const HOLD: u64 = 8;

/// Powers of ten that the rate of an update reaches above and below its base.
const DECADES: f64 = 1.0;

/// Powers of ten that the rate of inner steps reaches: from 1e-5 to 0.95 around the default base of 0.003. In the
/// sweep of `docs/results/methods.md` inner steps change nothing below 1e-3, and are of use up to 1 in
/// one case.
pub(super) const INNER_DECADES: f64 = 2.5;

/// Weight of the squared action in the reward.
const PRIOR: f64 = 0.5;

/// Learning rate chosen by one DDPG agent whose action is the logarithm of the rate, whose state is
/// normalised, and whose reward compares two losses of one batch.
///
/// ```text
/// lr = base·10^(d·a), a ∈ [−1, 1], held for 8 steps        d = 1, or 2.5 for inner steps
/// s  = (standardised loss/3, last action, 2·t/T − 1) at step t of at most T
/// r  = (L_b(θ before) − L_b(θ after)) / root mean square of such differences, limited to ±3, − a²/2
/// ```
///
/// The last term is a prior for the base learning rate. The loss differences of a batch are mostly
/// noise, and an actor that follows a critic of noise ends at one of the two bounds: without the term it
/// did so on PROTEINS in most runs. With it, a rate that is ten times larger or smaller must gain half a
/// root mean square more than the base at every act.
///
/// The batch b is the one after the 8 steps. None of the steps has used it (although they may have used
/// some of its samples if epochs are shorter), its noise is the same on both sides, and one of the two
/// losses is computed for the next step anyway. The reward costs one forward pass every 8 steps, and one
/// inner loop under meta-optimization.
pub(crate) struct LearnedRate<M, B: AutodiffBackend> {
    pub(super) agent: Ddpg<B>,
    pub(super) base: f64,
    pub(super) n_steps: u64,
    /// Powers of ten that the rate reaches above and below its base.
    pub(super) n_decades: f64,
    pub(super) memory: Memory,
    /// Encoder at the last act.
    pub(super) earlier: Option<M>,
}

/// Running statistics and last action of the agent, besides its networks.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Memory {
    losses: Running,
    decrements: Running,
    /// Last action; `None` before the first.
    action: Option<f64>,
}

impl<M: Clone, B: AutodiffBackend> LearnedRate<M, B> {
    /// Returns the configuration of the agent. A run has some hundreds of acts, so the networks learn
    /// faster than the published ones, rewards count for about ten acts ahead, and the exploration noise
    /// fades with a half-life of 70 acts.
    pub(super) fn config() -> DdpgConfig {
        DdpgConfig::new(3)
            .with_history(4)
            .with_discount(0.9)
            .with_soft_update(1e-2)
            .with_actor_learning_rate(1e-3)
            .with_warm_up(16)
            .with_noise(OuNoiseConfig::new().with_decay(0.99))
    }

    pub(super) fn new(base: f64, n_steps: u64, seed: Seed, device: &B::Device) -> Self {
        Self {
            agent: Self::config().init(seed.value(), device),
            base,
            n_steps,
            n_decades: DECADES,
            memory: Memory::default(),
            earlier: None,
        }
    }

    pub(super) fn earlier(&self) -> Option<&M> {
        self.earlier.as_ref()
    }

    pub(super) fn choose(&mut self, situation: &Situation<'_, M>) -> f64 {
        if situation.acts {
            self.act(situation);
        }
        self.base * 10.0_f64.powf(self.n_decades * self.memory.action.unwrap_or(0.0))
    }

    fn act(&mut self, situation: &Situation<'_, M>) {
        let memory = &mut self.memory;
        memory.losses.push(situation.loss);
        let gone = situation.step as f64 / self.n_steps.max(1) as f64;
        let state = [
            // Scores reach ±3, and states should be of order one.
            memory.losses.score(situation.loss) / 3.0,
            memory.action.unwrap_or(0.0),
            2.0 * gone - 1.0,
        ];
        // There is no pair at the first act, and none where a loss at the earlier encoder is not finite: the last act
        // then gets no reward.
        if let (Some(pair), Some(action)) = (situation.pair, memory.action) {
            let decrement = pair.before - pair.after;
            memory.decrements.push(decrement);
            self.agent.feedback(Feedback {
                reward: memory.decrements.relative(decrement) - PRIOR * action * action,
                next_state: &state,
                terminated: false,
                truncated: false,
            });
        }
        memory.action = Some(self.agent.act(&state));
        self.earlier = Some(situation.encoder.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::situation::Pair;
    use burn::module::Param;
    use burn::optim::GradientsParams;
    use burn::tensor::Tensor;
    use icl_core::testing::TestAutodiff;

    type One = Param<Tensor<TestAutodiff, 1>>;

    /// A second agent with the same seed receives the states and rewards of the formulas.
    #[test]
    fn state_action_and_reward_are_those_of_the_formulas() {
        for n_decades in [DECADES, INNER_DECADES] {
            rates_are_those_of_the_formulas(n_decades);
        }
    }

    fn rates_are_those_of_the_formulas(n_decades: f64) {
        let (seed, device, n_steps) = (Seed::new(5), Default::default(), 8000);
        let mut rate = LearnedRate::<One, TestAutodiff>::new(0.01, n_steps, seed, &device);
        rate.n_decades = n_decades;
        let mut agent =
            LearnedRate::<One, TestAutodiff>::config().init::<TestAutodiff>(seed.value(), &device);
        let encoder = One::from_tensor(Tensor::zeros([1], &device));
        let gradients = GradientsParams::new();
        let (mut losses, mut decrements) = (Running::default(), Running::default());
        let mut action = None;
        for step in 0..640_u64 {
            let loss = 3.0 + (step as f64 * 1.3).sin();
            let acts = step % HOLD == 0;
            let decrement = (step as f64 * 0.7).cos();
            let pair = Pair::of(loss + decrement, loss).filter(|_| step > 0);
            if acts {
                losses.push(loss);
                let gone = step as f64 / 8000.0;
                let last = action.unwrap_or(0.0);
                let state = [losses.score(loss) / 3.0, last, 2.0 * gone - 1.0];
                if step > 0 {
                    let decrement = loss + decrement - loss;
                    decrements.push(decrement);
                    agent.feedback(Feedback {
                        reward: decrements.relative(decrement) - last * last / 2.0,
                        next_state: &state,
                        terminated: false,
                        truncated: false,
                    });
                }
                action = Some(agent.act(&state));
            }
            let expected = 0.01 * 10.0_f64.powf(n_decades * action.unwrap());
            let found = rate.choose(&Situation {
                step,
                acts,
                loss,
                pair: pair.filter(|_| acts),
                encoder: &encoder,
                gradients: &gradients,
            });
            assert_eq!(found, expected, "step {step}");
        }
    }
}
