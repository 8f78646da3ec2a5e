//! The configuration of an agent.

use burn::config::Config;

use crate::error::RlError;
use crate::ou_noise::OuNoiseConfig;

/// Configuration of a [`Ddpg`](crate::Ddpg) agent.
///
/// The widths are those of the ICL paper (section 4.1). Discount, learning rates, soft update and
/// exploration noise are those of Lillicrap et al. (2016). Deviations from the latter, for an agent that
/// acts some hundreds of times: a smaller batch (theirs is 64), an early beginning of learning, and no
/// weight decay of the critic. Gradients are clipped only if `clip_norm` is set.
#[derive(Config, Debug, PartialEq)]
pub struct DdpgConfig {
    /// Number of components of a state, at least 1.
    pub d_state: usize,
    /// Number of states in the window of the actor, at least 1.
    #[config(default = 8)]
    pub history: usize,
    /// Number of hidden units in each of the two recurrent layers of the actor, at least 1.
    #[config(default = 20)]
    pub d_actor_hidden: usize,
    /// Number of hidden units in each of the two hidden layers of the critic, at least 1.
    #[config(default = 10)]
    pub d_critic_hidden: usize,
    /// Discount γ, the weight of the value of the next state, in [0, 1).
    #[config(default = 0.99)]
    pub discount: f64,
    /// Weight m of the online network in one step of a target network, in (0, 1].
    #[config(default = 1e-3)]
    pub soft_update: f64,
    /// Learning rate of Adam for the actor, a finite number above 0.
    #[config(default = 1e-4)]
    pub actor_learning_rate: f64,
    /// Learning rate of Adam for the critic, a finite number above 0.
    #[config(default = 1e-3)]
    pub critic_learning_rate: f64,
    /// Maximum Euclidean norm of the gradient of each parameter tensor, a finite number above 0. Longer
    /// gradients are scaled down to it. `None` for no limit.
    pub clip_norm: Option<f64>,
    /// Number of transitions in a minibatch, at least 1.
    #[config(default = 16)]
    pub batch_size: usize,
    /// Number of transitions that the replay buffer holds, at least 1.
    #[config(default = 10_000)]
    pub capacity: usize,
    /// Number of transitions before learning begins, from 1 to `capacity`.
    #[config(default = 64)]
    pub warm_up: usize,
    /// Exploration noise.
    #[config(default = "OuNoiseConfig::new()")]
    pub noise: OuNoiseConfig,
}

impl DdpgConfig {
    /// Checks the range of each field except the noise.
    pub(super) fn check(&self) -> Result<(), RlError> {
        let (one, above) = ("at least 1", "a number above 0");
        let is_above = |x: f64| x.is_finite() && x > 0.0;
        let clip_norm = self.clip_norm.unwrap_or(1.0);
        let checks = [
            ("d_state", self.d_state as f64, self.d_state > 0, one),
            ("history", self.history as f64, self.history > 0, one),
            (
                "d_actor_hidden",
                self.d_actor_hidden as f64,
                self.d_actor_hidden > 0,
                one,
            ),
            (
                "d_critic_hidden",
                self.d_critic_hidden as f64,
                self.d_critic_hidden > 0,
                one,
            ),
            (
                "discount",
                self.discount,
                (0.0..1.0).contains(&self.discount),
                "a number from 0 to below 1",
            ),
            (
                "soft_update",
                self.soft_update,
                self.soft_update > 0.0 && self.soft_update <= 1.0,
                "a number above 0, at most 1",
            ),
            (
                "actor_learning_rate",
                self.actor_learning_rate,
                is_above(self.actor_learning_rate),
                above,
            ),
            (
                "critic_learning_rate",
                self.critic_learning_rate,
                is_above(self.critic_learning_rate),
                above,
            ),
            ("clip_norm", clip_norm, is_above(clip_norm), above),
            (
                "batch_size",
                self.batch_size as f64,
                self.batch_size > 0,
                one,
            ),
            ("capacity", self.capacity as f64, self.capacity > 0, one),
            (
                "warm_up",
                self.warm_up as f64,
                (1..=self.capacity).contains(&self.warm_up),
                "a number from 1 to the capacity",
            ),
        ];
        match checks.into_iter().find(|(_, _, is_right, _)| !is_right) {
            Some((field, found, _, expected)) => Err(RlError::of_field(field, found, expected)),
            None => Ok(()),
        }
    }

    /// Returns every field as a number; no limit on gradients is an infinite limit.
    fn fields(&self) -> [(&'static str, f64); 17] {
        [
            ("d_state", self.d_state as f64),
            ("history", self.history as f64),
            ("d_actor_hidden", self.d_actor_hidden as f64),
            ("d_critic_hidden", self.d_critic_hidden as f64),
            ("discount", self.discount),
            ("soft_update", self.soft_update),
            ("actor_learning_rate", self.actor_learning_rate),
            ("critic_learning_rate", self.critic_learning_rate),
            ("clip_norm", self.clip_norm.unwrap_or(f64::INFINITY)),
            ("batch_size", self.batch_size as f64),
            ("capacity", self.capacity as f64),
            ("warm_up", self.warm_up as f64),
            ("noise.theta", self.noise.theta),
            ("noise.sigma", self.noise.sigma),
            ("noise.dt", self.noise.dt),
            ("noise.mean", self.noise.mean),
            ("noise.decay", self.noise.decay),
        ]
    }

    /// Checks that the configuration of a saved agent equals this one.
    pub(super) fn check_same(&self, saved: &Self) -> Result<(), RlError> {
        for ((field, expected), (_, found)) in self.fields().into_iter().zip(saved.fields()) {
            if found != expected {
                let found = format_args!("{field} = {found}");
                let expected = format_args!("{expected} as configured");
                return Err(RlError::of_saved(found, expected));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestAutodiff;

    #[test]
    fn every_range_is_checked() {
        let base = || DdpgConfig::new(2);
        let noise = || OuNoiseConfig::new().with_theta(-1.0);
        let cases = [
            (DdpgConfig::new(0), "d_state"),
            (base().with_history(0), "history"),
            (base().with_d_actor_hidden(0), "d_actor_hidden"),
            (base().with_d_critic_hidden(0), "d_critic_hidden"),
            (base().with_discount(1.0), "discount"),
            (base().with_discount(-0.1), "discount"),
            (base().with_discount(f64::NAN), "discount"),
            (base().with_soft_update(0.0), "soft_update"),
            (base().with_soft_update(1.5), "soft_update"),
            (base().with_soft_update(f64::NAN), "soft_update"),
            (base().with_actor_learning_rate(0.0), "actor_learning_rate"),
            (
                base().with_critic_learning_rate(f64::INFINITY),
                "critic_learning_rate",
            ),
            (base().with_clip_norm(Some(0.0)), "clip_norm"),
            (base().with_batch_size(0), "batch_size"),
            (base().with_capacity(0), "capacity"),
            (base().with_warm_up(0), "warm_up"),
            (base().with_capacity(10).with_warm_up(11), "warm_up"),
            (base().with_noise(noise()), "noise.theta"),
        ];
        for (config, name) in cases {
            match config.try_init::<TestAutodiff>(1, &Default::default()) {
                Err(RlError::Invalid { place, .. }) => assert_eq!(place, name),
                Err(other) => panic!("{name}: {other}"),
                Ok(_) => panic!("{name}: accepted"),
            }
        }
    }

    #[test]
    #[should_panic(expected = "discount: found 2, expected a number from 0 to below 1")]
    fn init_panics_with_the_same_words() {
        DdpgConfig::new(1)
            .with_discount(2.0)
            .init::<TestAutodiff>(1, &Default::default());
    }
}
