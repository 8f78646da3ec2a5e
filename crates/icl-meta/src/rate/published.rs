//! The learned learning rate as published (Eq. 13–15).

use burn::tensor::backend::AutodiffBackend;
use icl_core::Seed;
use icl_rl::{Ddpg, DdpgConfig, Feedback};

/// Minimum rate, relative to the base: an action of −1 would give a rate of 0.
const LOWEST: f64 = 1e-3;

/// Learning rate chosen by one DDPG agent. Its state is the mean loss of the batch (Eq. 13), its action
/// the learning rate (Eq. 14), and its reward the decrease of the loss from this batch to the next
/// (Eq. 15).
///
/// ```text
/// s_t = L_t        lr_t = base·max(1 + a_t, 0.001), a_t ∈ [−1, 1]        r_t = L_t − L_{t+1}
/// ```
///
/// The paper does not specify the range of the action. Here the rate is linear around the base, so that
/// an agent which has learned nothing applies the base. Successive losses belong to different batches:
/// the sum of rewards telescopes, and each reward is dominated by the noise of the batches.
pub(crate) struct PublishedRate<B: AutodiffBackend> {
    pub(super) agent: Ddpg<B>,
    pub(super) base: f64,
    /// Loss at the last act.
    pub(super) last_loss: Option<f64>,
}

impl<B: AutodiffBackend> PublishedRate<B> {
    pub(super) fn config() -> DdpgConfig {
        DdpgConfig::new(1)
    }

    pub(super) fn new(base: f64, seed: Seed, device: &B::Device) -> Self {
        Self {
            agent: Self::config().init(seed.value(), device),
            base,
            last_loss: None,
        }
    }

    pub(super) fn choose(&mut self, loss: f64) -> f64 {
        if let Some(last) = self.last_loss.replace(loss) {
            self.agent.feedback(Feedback {
                // Eq. (15)
                reward: last - loss,
                // Eq. (13)
                next_state: &[loss],
                terminated: false,
                truncated: false,
            });
        }
        // Eq. (14)
        let action = self.agent.act(&[loss]);
        self.base * (1.0 + action).max(LOWEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::TestAutodiff;

    /// A second agent with the same seed receives the states and rewards of the equations.
    #[test]
    fn state_action_and_reward_are_those_of_equations_13_to_15() {
        let (seed, device) = (Seed::new(5), Default::default());
        let mut rate = PublishedRate::<TestAutodiff>::new(0.01, seed, &device);
        let mut agent =
            PublishedRate::<TestAutodiff>::config().init::<TestAutodiff>(seed.value(), &device);
        let losses = (0..90).map(|t| 3.0 + (f64::from(t) * 1.3).sin());
        let mut last = None;
        for loss in losses {
            if let Some(last) = last.replace(loss) {
                agent.feedback(Feedback {
                    reward: last - loss,
                    next_state: &[loss],
                    terminated: false,
                    truncated: false,
                });
            }
            let action = agent.act(&[loss]);
            assert!(action.abs() <= 1.0);
            let expected = (0.01 * (1.0 + action)).max(1e-5);
            assert!((rate.choose(loss) - expected).abs() < 1e-12);
        }
    }
}
