//! The configuration of an agent.

use burn::config::Config;
use burn::tensor::backend::AutodiffBackend;

use crate::{Ddpg, OuNoiseConfig, RlError};

/// Configuration of a [`Ddpg`] agent.
///
/// The widths are those of the ICL paper (section 4.1); discount, learning rates, soft update and
/// noise are those of Lillicrap et al. (2016). The batch is smaller than theirs (64) and learning
/// begins early, for an agent that lives some hundreds of steps; gradients are clipped only where
/// asked. Their weight decay on the critic is left out.
#[derive(Config, Debug, PartialEq)]
pub struct DdpgConfig {
    /// The numbers that make a state: at least 1.
    pub d_state: usize,
    /// The last states that the actor looks at: at least 1.
    #[config(default = 8)]
    pub history: usize,
    /// Hidden units in each of the actor's two recurrent layers: at least 1.
    #[config(default = 20)]
    pub d_actor_hidden: usize,
    /// Hidden units in each of the critic's two hidden layers: at least 1.
    #[config(default = 10)]
    pub d_critic_hidden: usize,
    /// γ, the weight of the next step's value: from 0 to below 1.
    #[config(default = 0.99)]
    pub discount: f64,
    /// m, how far target networks follow in one step: above 0, at most 1.
    #[config(default = 1e-3)]
    pub soft_update: f64,
    /// Adam's rate for the actor: a number above 0.
    #[config(default = 1e-4)]
    pub actor_learning_rate: f64,
    /// Adam's rate for the critic: a number above 0.
    #[config(default = 1e-3)]
    pub critic_learning_rate: f64,
    /// The largest Euclidean norm of the gradient of any one parameter tensor: a number above 0;
    /// longer gradients are shortened to it. Without it none is.
    pub clip_norm: Option<f64>,
    /// Transitions in a minibatch: at least 1.
    #[config(default = 16)]
    pub batch_size: usize,
    /// Transitions that the replay buffer holds: at least 1.
    #[config(default = 10_000)]
    pub capacity: usize,
    /// Transitions seen before learning begins: from 1 to the capacity.
    #[config(default = 64)]
    pub warm_up: usize,
    /// The exploration noise.
    #[config(default = "OuNoiseConfig::new()")]
    pub noise: OuNoiseConfig,
}

impl DdpgConfig {
    /// A fresh agent. All its randomness comes from `seed`; its first weights are the same on
    /// every backend, to the backend's precision.
    ///
    /// # Errors
    /// [`RlError::OutOfRange`] at the first field that is not as its documentation asks.
    pub fn try_init<B: AutodiffBackend>(
        &self,
        seed: u64,
        device: &B::Device,
    ) -> Result<Ddpg<B>, RlError> {
        self.check()?;
        Ok(Ddpg::fresh(self, self.noise.try_init()?, seed, device))
    }

    /// A fresh agent, as [`try_init`](Self::try_init) makes it.
    ///
    /// # Panics
    /// Where `try_init` gives an error, with its words.
    pub fn init<B: AutodiffBackend>(&self, seed: u64, device: &B::Device) -> Ddpg<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    fn check(&self) -> Result<(), RlError> {
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
            Some((field, found, _, expected)) => Err(RlError::OutOfRange {
                field,
                found,
                expected,
            }),
            None => Ok(()),
        }
    }

    /// Every field as a number; no limit on gradients counts as an infinite one.
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

    /// That a saved agent's configuration is this one.
    pub(crate) fn check_same(&self, saved: &Self) -> Result<(), RlError> {
        for ((field, expected), (_, found)) in self.fields().into_iter().zip(saved.fields()) {
            if found != expected {
                return Err(RlError::OtherConfig {
                    field,
                    found,
                    expected,
                });
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
                Err(RlError::OutOfRange { field, .. }) => assert_eq!(field, name),
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
