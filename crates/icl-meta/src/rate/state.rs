//! Learning-rate policies in a checkpoint.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use serde::{Deserialize, Serialize};

use super::RatePolicy;
use super::learned::{LearnedRate, Memory};
use super::published::PublishedRate;
use crate::TrainError;
use crate::checkpoint::{Bytes, Unfit, load_module, save_module};

/// What a policy's next choice depends on.
#[derive(Serialize, Deserialize)]
pub(crate) enum PolicyState {
    /// A function of the step.
    Stateless,
    /// The rate and the encoder before the last step.
    Hypergradient { rate: f64, earlier: Option<Bytes> },
    /// The agent and the loss at its last act.
    Published {
        agent: Bytes,
        last_loss: Option<f64>,
    },
    /// The agent, its statistics and the encoder at its last act.
    Learned {
        agent: Bytes,
        memory: Memory,
        earlier: Option<Bytes>,
    },
}

impl PolicyState {
    pub(super) fn of<M: AutodiffModule<B>, B: AutodiffBackend>(
        policy: &RatePolicy<M, B>,
    ) -> Result<Self, TrainError> {
        let module = |module: &Option<M>| module.as_ref().map(save_module::<B, M>).transpose();
        Ok(match policy {
            RatePolicy::Fixed(_) | RatePolicy::Cosine { .. } => Self::Stateless,
            RatePolicy::Hypergradient(policy) => Self::Hypergradient {
                rate: policy.rate,
                earlier: module(&policy.earlier)?,
            },
            RatePolicy::Published(policy) => Self::Published {
                agent: Bytes::from(policy.agent.save()?),
                last_loss: policy.last_loss,
            },
            RatePolicy::Learned(policy) => Self::Learned {
                agent: Bytes::from(policy.agent.save()?),
                memory: policy.memory,
                earlier: module(&policy.earlier)?,
            },
        })
    }

    pub(super) fn into_policy<M: AutodiffModule<B>, B: AutodiffBackend>(
        self,
        policy: RatePolicy<M, B>,
        like: &M,
        device: &B::Device,
    ) -> Result<RatePolicy<M, B>, Unfit> {
        let module = |bytes: Option<Bytes>| {
            bytes
                .map(|bytes| load_module::<B, M>(like.clone(), bytes, device))
                .transpose()
        };
        Ok(match (self, policy) {
            (Self::Stateless, policy @ (RatePolicy::Fixed(_) | RatePolicy::Cosine { .. })) => {
                policy
            }
            (Self::Hypergradient { rate, earlier }, RatePolicy::Hypergradient(mut policy)) => {
                policy.rate = rate;
                policy.earlier = module(earlier)?;
                RatePolicy::Hypergradient(policy)
            }
            (Self::Published { agent, last_loss }, RatePolicy::Published(mut policy)) => {
                policy.agent = PublishedRate::<B>::config()
                    .load(&agent, device)
                    .map_err(|_| Unfit)?;
                policy.last_loss = last_loss;
                RatePolicy::Published(policy)
            }
            (
                Self::Learned {
                    agent,
                    memory,
                    earlier,
                },
                RatePolicy::Learned(mut policy),
            ) => {
                policy.agent = LearnedRate::<M, B>::config()
                    .load(&agent, device)
                    .map_err(|_| Unfit)?;
                policy.memory = memory;
                policy.earlier = module(earlier)?;
                RatePolicy::Learned(policy)
            }
            _ => return Err(Unfit),
        })
    }
}
