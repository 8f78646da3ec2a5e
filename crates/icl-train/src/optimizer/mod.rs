//! Optimizers of runs: any of Burn's, and the choice of a program at run time.

mod lars;
pub(crate) mod rates;

use burn::module::AutodiffModule;
use burn::optim::{GradientsParams, Optimizer, SgdConfig};
use burn::tensor::backend::AutodiffBackend;
use icl_core::Error;
use serde::{Deserialize, Serialize};

use icl_core::module_bytes::{Bytes, SavedTensors, load_record, save_record};

pub use icl_kernels::OnePassAdam;
pub use lars::{Lars, LarsState};

/// Rule by which a gradient becomes a step, chosen at run time: [`Trainer::update_rule`](crate::Trainer::update_rule).
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

/// Optimizer of a trainer: each run begins with a new state of it. [`Trainer::optimizer`](crate::Trainer::optimizer) takes any
/// optimizer of Burn, so that this trait needs no implementation outside of this crate.
pub trait RunOptimizer<M: AutodiffModule<B>, B: AutodiffBackend>: Clone + Send {
    /// Returns a text that tells optimizers apart: a checkpoint belongs to runs with an equal one.
    fn name(&self) -> String;

    /// Returns the state of a run before its first step.
    #[doc(hidden)]
    fn begin<'a>(&self) -> Box<dyn OptimizerState<M, B> + 'a>
    where
        Self: 'a,
        M: 'a;
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> RunOptimizer<M, B> for DefaultAdam {
    fn name(&self) -> String {
        RunOptimizer::<M, B>::name(&UpdateRule::Adam)
    }

    fn begin<'a>(&self) -> Box<dyn OptimizerState<M, B> + 'a>
    where
        Self: 'a,
        M: 'a,
    {
        Box::new(OnePassAdam::init::<M, B>())
    }
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> RunOptimizer<M, B> for UpdateRule {
    fn name(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn begin<'a>(&self) -> Box<dyn OptimizerState<M, B> + 'a>
    where
        Self: 'a,
        M: 'a,
    {
        match self {
            Self::Adam => Box::new(OnePassAdam::init::<M, B>()),
            Self::Sgd => Box::new(SgdConfig::new().init::<B, M>()),
            Self::Lars => Box::new(Lars::init::<M, B>()),
        }
    }
}

/// Adam of [`OnePassAdam`]: the optimizer of a trainer unless another is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DefaultAdam;

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

    fn begin<'a>(&self) -> Box<dyn OptimizerState<M, B> + 'a>
    where
        Self: 'a,
        M: 'a,
    {
        Box::new(self.0.clone())
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
