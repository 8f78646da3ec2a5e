//! Optimizers, and one type for all of them that a setting selects.

mod lars;

use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{GradientsParams, Optimizer, Sgd, SgdConfig};
use burn::tensor::backend::AutodiffBackend;
use icl_core::Error;
use serde::{Deserialize, Serialize};

use icl_core::module_bytes::{Bytes, SavedTensors, load_record, save_record};

pub use icl_kernels::OnePassAdam;
pub use lars::{Lars, LarsState};

/// Rule by which a gradient becomes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateRule {
    /// Adam (Kingma and Ba, 2015) with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8, the authors' values; see
    /// [`OnePassAdam`].
    Adam,
    /// Gradient descent without momentum (Eq. 10).
    Sgd,
    /// Layer-wise adaptive rate scaling with momentum (You et al., 2017), in SimCLR's form; see [`Lars`].
    /// It needs learning rates of about 0.1 to 16, a hundred times those of Adam and more.
    Lars,
}

/// Optimizer with its state.
pub(crate) enum UpdateState<M: AutodiffModule<B>, B: AutodiffBackend> {
    Adam(OptimizerAdaptor<OnePassAdam, M, B>),
    Sgd(OptimizerAdaptor<Sgd<B::InnerBackend>, M, B>),
    Lars(OptimizerAdaptor<Lars, M, B>),
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> UpdateState<M, B> {
    /// Creates an optimizer without state.
    pub(crate) fn new(rule: UpdateRule) -> Self {
        match rule {
            UpdateRule::Adam => Self::Adam(OnePassAdam::init()),
            UpdateRule::Sgd => Self::Sgd(SgdConfig::new().init()),
            UpdateRule::Lars => Self::Lars(Lars::init()),
        }
    }

    /// Returns the state as bytes.
    pub(crate) fn save(&self) -> Result<Bytes, Error> {
        match self {
            Self::Adam(optimizer) => save_record::<B, _>(optimizer.to_record()),
            Self::Sgd(optimizer) => save_record::<B, _>(optimizer.to_record()),
            Self::Lars(optimizer) => save_record::<B, _>(optimizer.to_record()),
        }
    }

    /// Restores a state that [`save`](Self::save) returned, for a module with these parameters.
    pub(crate) fn load(
        self,
        bytes: Bytes,
        parameters: &SavedTensors,
        device: &B::Device,
    ) -> Result<Self, Error> {
        SavedTensors::read(&bytes)?.check_states_of(parameters)?;
        Ok(match self {
            Self::Adam(optimizer) => {
                Self::Adam(optimizer.load_record(load_record::<B, _>(bytes, device)?))
            }
            Self::Sgd(optimizer) => {
                Self::Sgd(optimizer.load_record(load_record::<B, _>(bytes, device)?))
            }
            Self::Lars(optimizer) => {
                Self::Lars(optimizer.load_record(load_record::<B, _>(bytes, device)?))
            }
        })
    }

    /// Applies gradients to a module with the learning rate `rate`.
    pub(crate) fn step(&mut self, rate: f64, module: M, gradients: GradientsParams) -> M {
        match self {
            Self::Adam(optimizer) => optimizer.step(rate, module, gradients),
            Self::Sgd(optimizer) => optimizer.step(rate, module, gradients),
            Self::Lars(optimizer) => optimizer.step(rate, module, gradients),
        }
    }
}
