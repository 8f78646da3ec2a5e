//! Saving and loading an agent.

use burn::module::Module;
use burn::optim::Optimizer;
use burn::record::{DoublePrecisionSettings, NamedMpkBytesRecorder, Recorder};
use burn::tensor::backend::AutodiffBackend;

use super::config::DdpgConfig;
use super::ddpg::Ddpg;
use super::frame::{frame, sections};
use super::learner::Learner;
use crate::error::RlError;

impl<B: AutodiffBackend> Ddpg<B> {
    /// Saves the complete state of the agent as bytes: networks, target networks, both states of Adam,
    /// replay buffer, noise, generators, window and pending action.
    ///
    /// An agent that [`load`](DdpgConfig::load) restores on the same backend continues bit by bit as this
    /// one.
    ///
    /// # Errors
    /// [`RlError::Record`] if Burn's recorder fails.
    pub fn save(&self) -> Result<Vec<u8>, RlError> {
        let learner = &self.learner;
        let online = (
            learner.actor.clone().into_record(),
            learner.critic.clone().into_record(),
            learner.actor_adam.to_record(),
            learner.critic_adam.to_record(),
        );
        let targets = (
            learner.target_actor.clone().into_record(),
            learner.target_critic.clone().into_record(),
        );
        // Items that are no modules are written by the same recorder, independent of the backend.
        let item = |bytes: Result<_, _>| bytes.map_err(RlError::from);
        Ok(frame(&[
            item(Recorder::<B>::save_item(&recorder(), &self.config, ()))?,
            item(Recorder::<B>::save_item(&recorder(), &self.memory, ()))?,
            item(Recorder::<B>::record(&recorder(), online, ()))?,
            item(Recorder::<B::InnerBackend>::record(
                &recorder(),
                targets,
                (),
            ))?,
        ]))
    }
}

impl DdpgConfig {
    /// Loads an agent that [`Ddpg::save`] saved with this configuration.
    ///
    /// # Errors
    /// - the error of [`try_init`](Self::try_init), if the configuration is invalid;
    /// - [`RlError::Invalid`] if the bytes are no saved agent or are damaged, or for the first field in which the
    ///   configuration of the saved agent differs;
    /// - [`RlError::Record`] if Burn's recorder cannot read a part.
    pub fn load<B: AutodiffBackend>(
        &self,
        bytes: &[u8],
        device: &B::Device,
    ) -> Result<Ddpg<B>, RlError> {
        // Any seed: weights and generators are replaced below.
        let mut agent = self.try_init::<B>(0, device)?;
        let [config, memory, online, targets] = sections(bytes)?;
        let config = Recorder::<B>::load_item(&recorder(), &mut { config })?;
        self.check_same(&config)?;
        let memory = Recorder::<B>::load_item(&recorder(), &mut { memory })?;
        let (actor, critic, actor_adam, critic_adam) =
            Recorder::<B>::load(&recorder(), online, device)?;
        let (target_actor, target_critic) =
            Recorder::<B::InnerBackend>::load(&recorder(), targets, device)?;
        let fresh = agent.learner;
        agent.learner = Learner {
            actor: fresh.actor.load_record(actor),
            critic: fresh.critic.load_record(critic),
            target_actor: fresh.target_actor.load_record(target_actor),
            target_critic: fresh.target_critic.load_record(target_critic),
            actor_adam: fresh.actor_adam.load_record(actor_adam),
            critic_adam: fresh.critic_adam.load_record(critic_adam),
        };
        agent.memory = memory;
        Ok(agent)
    }
}

/// Returns a recorder in double precision, which represents every float of every backend exactly.
fn recorder() -> NamedMpkBytesRecorder<DoublePrecisionSettings> {
    NamedMpkBytesRecorder::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestAutodiff;

    fn small() -> DdpgConfig {
        DdpgConfig::new(1).with_history(2).with_warm_up(1)
    }

    #[test]
    fn sections_that_are_no_records_are_an_error() {
        let agent: Ddpg<TestAutodiff> = small().init(3, &Default::default());
        let bytes = agent.save().unwrap();
        let parts: [Vec<u8>; 4] = sections(&bytes).unwrap();
        let load =
            |parts: &[Vec<u8>]| small().load::<TestAutodiff>(&frame(parts), &Default::default());
        assert!(load(&parts).is_ok());
        for index in 0..4 {
            for wrong in [Vec::new(), vec![0xc1; 50], parts[(index + 1) % 4].clone()] {
                let mut parts = parts.clone();
                parts[index] = wrong;
                assert!(matches!(load(&parts), Err(RlError::Record(_))), "{index}");
            }
        }
    }
}
