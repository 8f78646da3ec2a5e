//! Optimizers of runs: any of Burn's, and the choice of a program at run time.

mod clip;
mod lars;
mod muon;
pub(crate) mod rates;

use burn::module::AutodiffModule;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::{GradientsParams, Optimizer, SgdConfig};
use burn::tensor::backend::AutodiffBackend;
use icl_core::Error;
use serde::{Deserialize, Serialize};

use icl_core::module_bytes::{Bytes, SavedTensors, load_record, save_record};

use crate::error::TrainError;

pub use clip::clip_norm;
pub use icl_kernels::OnePassAdam;
pub use lars::{Lars, LarsState};
pub use muon::{MuonWithAdam, MuonWithAdamConfig};

/// Weight decay of AdamW unless another is set, that of PyTorch.
const ADAMW_DECAY: f64 = 0.01;

/// Rule by which a gradient becomes a step, chosen at run time: [`Trainer::update_rule`](crate::Trainer::update_rule).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateRule {
    /// Adam (Kingma and Ba, 2015) with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8, the authors' values; see
    /// [`OnePassAdam`]. It has no weight decay: as a part of the gradient it would be scaled by the moments, which is
    /// what AdamW corrects.
    Adam,
    /// Adam with decoupled weight decay (Loshchilov and Hutter, 2019) of all parameters, by default 0.01.
    #[serde(rename = "adamw")]
    AdamW,
    /// Muon for matrices and kernels, Adam for all other parameters; see [`MuonWithAdam`]. Its weight decay is that
    /// of matrices and kernels, by default 0.
    #[default]
    Muon,
    /// Gradient descent without momentum (Eq. 10), by default without weight decay.
    Sgd,
    /// Layer-wise adaptive rate scaling with momentum (You et al., 2017), in SimCLR's form; see [`Lars`].
    /// It needs learning rates of about 0.1 to 16, a hundred times those of Adam and more. Its weight decay is by
    /// default 1e-6.
    Lars,
}

impl UpdateRule {
    /// Checks that the rule has a weight decay if one is set:
    /// [`TrainingSettings::weight_decay`](crate::TrainingSettings::weight_decay).
    ///
    /// # Errors
    /// [`TrainError`] for a weight decay of [`Adam`](Self::Adam) that is not 0.
    pub fn check(self, weight_decay: Option<f64>) -> Result<(), TrainError> {
        match self {
            Self::Adam => without_decay("adam", "adamw, or another rule with", weight_decay),
            _ => Ok(()),
        }
    }
}

/// Checks that no weight decay is set for an optimizer that has none, or its own.
fn without_decay(name: &str, instead: &str, found: Option<f64>) -> Result<(), TrainError> {
    let found = found.unwrap_or_default();
    TrainError::unless(
        found == 0.0,
        "weight_decay",
        format!("{found} with the optimizer {name}"),
        format!("{instead} weight decay"),
    )
}

/// Optimizer of a trainer: each run begins with a new state of it. [`Trainer::optimizer`](crate::Trainer::optimizer)
/// takes any optimizer of Burn, so that this trait needs no implementation outside of this crate.
pub trait RunOptimizer<M: AutodiffModule<B>, B: AutodiffBackend>: Clone + Send {
    /// Returns a text that tells optimizers apart: a checkpoint belongs to runs with an equal one, and with equal
    /// [`TrainingSettings`](crate::TrainingSettings).
    fn name(&self) -> String;

    /// Returns the state of a run before its first step.
    ///
    /// # Errors
    /// [`TrainError`] if a weight decay is set that the optimizer does not have.
    #[doc(hidden)]
    fn begin<'a>(
        &self,
        weight_decay: Option<f64>,
    ) -> Result<Box<dyn OptimizerState<M, B> + 'a>, TrainError>
    where
        Self: 'a,
        M: 'a;
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> RunOptimizer<M, B> for DefaultOptimizer {
    fn name(&self) -> String {
        RunOptimizer::<M, B>::name(&UpdateRule::default())
    }

    fn begin<'a>(
        &self,
        weight_decay: Option<f64>,
    ) -> Result<Box<dyn OptimizerState<M, B> + 'a>, TrainError>
    where
        Self: 'a,
        M: 'a,
    {
        // Not by the rule, so that a program compiles the one optimizer that it uses.
        Ok(Box::new(muon(weight_decay).init::<B, M>()))
    }
}

/// Returns the configuration of [`UpdateRule::Muon`].
fn muon(weight_decay: Option<f64>) -> MuonWithAdamConfig {
    MuonWithAdamConfig::new().with_weight_decay(weight_decay.unwrap_or_default())
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> RunOptimizer<M, B> for UpdateRule {
    fn name(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn begin<'a>(
        &self,
        weight_decay: Option<f64>,
    ) -> Result<Box<dyn OptimizerState<M, B> + 'a>, TrainError>
    where
        Self: 'a,
        M: 'a,
    {
        self.check(weight_decay)?;
        let or = |default: f64| weight_decay.unwrap_or(default);
        Ok(match self {
            Self::Adam => Box::new(OnePassAdam::init::<M, B>()),
            Self::AdamW => Box::new(OnePassAdam::init_with_decay::<M, B>(or(ADAMW_DECAY))),
            Self::Muon => Box::new(muon(weight_decay).init::<B, M>()),
            Self::Sgd => {
                let decay = weight_decay.map(|penalty| WeightDecayConfig::new(penalty as f32));
                let config = SgdConfig::new().with_weight_decay(decay);
                Box::new(config.init::<B, M>())
            }
            Self::Lars => Box::new(Lars::init_with_decay::<M, B>(or(lars::WEIGHT_DECAY))),
        })
    }
}

/// Optimizer of a trainer unless another is set: Muon for matrices and kernels, Adam for all other parameters
/// ([`UpdateRule::Muon`]).
///
/// At equal passes it reaches lower risks than Adam. A step costs more arithmetic: on a multilayer perceptron on a
/// processor twice the time, on large batches and convolutions less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DefaultOptimizer;

/// Optimizer of Burn, or one that implements Burn's trait.
#[derive(Debug, Clone)]
pub struct BurnOptimizer<O>(pub(crate) O);

impl<M, B, O> RunOptimizer<M, B> for BurnOptimizer<O>
where
    M: AutodiffModule<B>,
    B: AutodiffBackend,
    O: Optimizer<M, B>,
{
    fn name(&self) -> String {
        // The adaptor and its optimizer, without module and backend: a run may resume on another backend.
        let name = std::any::type_name::<O>();
        name.split(',').next().unwrap_or(name).to_owned()
    }

    fn begin<'a>(
        &self,
        weight_decay: Option<f64>,
    ) -> Result<Box<dyn OptimizerState<M, B> + 'a>, TrainError>
    where
        Self: 'a,
        M: 'a,
    {
        without_decay("of the caller", "0, and that optimizer's own", weight_decay)?;
        Ok(Box::new(self.0.clone()))
    }
}

/// State of the optimizer of a run.
pub(crate) type BoxedOptimizer<'a, M, B> = Box<dyn OptimizerState<M, B> + 'a>;

/// State of an optimizer in a run.
pub trait OptimizerState<M: AutodiffModule<B>, B: AutodiffBackend>: Send {
    /// Applies gradients to a module with the learning rate `rate`.
    fn step(&mut self, rate: f64, module: M, gradients: GradientsParams) -> M;

    /// Returns the state as bytes.
    ///
    /// # Errors
    /// If Burn cannot write it down.
    fn save(&self) -> Result<Bytes, Error>;

    /// Restores a state that [`save`](Self::save) returned, for a module with these parameters.
    ///
    /// # Errors
    /// If the bytes are the state of another optimizer, or of other parameters.
    fn load(
        &mut self,
        bytes: Bytes,
        parameters: &SavedTensors,
        device: &B::Device,
    ) -> Result<(), Error>;
}

impl<M, B, O> OptimizerState<M, B> for O
where
    M: AutodiffModule<B>,
    B: AutodiffBackend,
    O: Optimizer<M, B>,
{
    fn step(&mut self, rate: f64, module: M, gradients: GradientsParams) -> M {
        Optimizer::step(self, rate, module, gradients)
    }

    fn save(&self) -> Result<Bytes, Error> {
        save_record::<B, _>(self.to_record())
    }

    fn load(
        &mut self,
        bytes: Bytes,
        parameters: &SavedTensors,
        device: &B::Device,
    ) -> Result<(), Error> {
        SavedTensors::read(&bytes)?.check_states_of(parameters)?;
        *self = self
            .clone()
            .load_record(load_record::<B, _>(bytes, device)?);
        Ok(())
    }
}
