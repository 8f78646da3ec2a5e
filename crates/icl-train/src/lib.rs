//! The trainer of incremental contrastive learning, and the methods that it runs: points in a space of
//! five independent choices.
//!
//! Equation numbers are those of Ji et al., "Unbiased and Efficient Self-Supervised Incremental
//! Contrastive Learning" (WSDM 2023).
//!
//! | item | content |
//! |---|---|
//! | [`Trainer`], [`TrainingSettings`], [`Budget`] | training of the first encoder, and its updates |
//! | [`Method`], [`methods`], [`parse_methods`] | a method as a point on five axes, and the registry of named methods |
//! | [`Start`], [`Sampling`], [`Loss`], [`LossKind`], [`OptimizerChoice`], [`MetaOrder`], [`RateChoice`] | the values of the axes |
//! | [`StepNegatives`], [`NegativesSchedule`], [`NegativesPeak`], [`NegativesForm`] | the number of negatives of the steps |
//! | [`NoiseSet`] | the noise samples of NCE-I in a batch |
//! | [`Outcome`], [`TrainingRecord`], [`Evaluation`], [`parameter_change`], [`parameter_norm`] | the result of a run |
//! | [`Cost`] | the cost of a run by purpose |
//! | [`inert_move`], [`INERT_MOVE`] | the check for inner loops that do nothing |
//! | [`Callbacks`], [`Progress`], [`StepReport`], [`EpochReport`] | functions that are called during a run |
//! | [`Evaluator`], [`Evaluated`], [`Measured`] | the exact risk of an encoder, its embeddings, and the result of a protocol |
//! | [`StopRule`], [`StoppedBy`], [`ExpectedGain`], [`plateau`], [`TARGET_RATIO`], [`time_to_target`] | the end of a run, and the time to the quality of retraining |
//! | [`RunOptimizer`], [`OptimizerState`] | the optimizer of a run: any of Burn's ([`BurnOptimizer`]), [`DefaultOptimizer`], or a choice at run time ([`UpdateRule`]) |
//! | [`OnePassAdam`], [`MuonWithAdam`], [`MuonWithAdamConfig`], [`Lars`], [`LarsState`] | optimizers of our own, for any training loop |
//! | [`clip_norm`] | gradients clipped by their norm over all parameters, for any training loop |
//! | [`Distance`] | the distance of the distillation term |
//! | `ContrastiveStep`, `PairMetric`, `GainEarlyStoppingStrategy` | step, metrics and early stopping for Burn's `Learner` (feature `train`) |
//! | `EpochMetrics` | epochs of a trainer for Burn's renderers and loggers (feature `train`) |
//! | [`TrainError`], [`TrainErrorKind`] | the error of this crate |
//! | [`Stream`], [`Arriving`], [`Live`], [`NextUpdate`], [`Advanced`] | updates for one experience after the other |
//! | [`StreamState`], [`Experience`], [`SparseRow`] | what a stream remembers, and its matrix of risks |
//! | [`Strategy`], [`Policy`], [`When`], [`Decision`] | the method of the updates, their moment and their cost |
//! | [`Keep`], [`Buffer`], [`KeptSample`] | the old samples of a stream that later updates may use |
//! | [`Sampler`], [`BatchPlan`] | which old and new samples an epoch holds, for any training loop |
//! | [`Reservoir`] | a uniform sample of a stream in bounded memory, which stands for old data that are gone |
//! | [`WeightAverage`], [`GainRule`] | averaged parameters of any module; when to stop any training loop |
//! | [`Verdict`], [`PairedDifference`] | whether an encoder is better than the one before, by losses of held-out samples |
//! | [`Identity`], [`read_checkpoint`], [`write_checkpoint`] | files with the state of a run, complete or absent |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod average;
mod budget;
mod checkpoint;
mod devices;
mod error;
mod evaluation;
mod identity;
#[cfg(feature = "train")]
mod learner;
mod method;
mod negatives;
mod optimizer;
mod progress;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod sampling;
mod settings;
mod step;
mod stream;
mod trainer;
mod views;

pub use average::WeightAverage;
pub use budget::Budget;
pub use checkpoint::{read_checkpoint, write_checkpoint};
#[cfg(feature = "mpi")]
pub use devices::Mpi;
pub use error::{TrainError, TrainErrorKind};
pub use evaluation::{
    Answer, Evaluated, Evaluator, ExpectedGain, GainRule, Measured, PairedDifference, StopRule,
    StoppedBy, Verdict,
};
pub use icl_core::RateChoice;
pub use identity::Identity;
#[cfg(feature = "train")]
pub use learner::{
    ContrastiveStep, ContrastiveStepConfig, EpochMetrics, GainEarlyStoppingStrategy, OriginBatcher,
    PairBatch, PairInput, PairMetric, PairOutput,
};
pub use method::{
    DEFAULT, Distance, Loss, LossKind, MetaOrder, Method, NoiseSet, OptimizerChoice, REFERENCE,
    Sampling, Start, methods, parse_methods,
};
pub use negatives::{NegativesForm, NegativesPeak, NegativesSchedule, StepNegatives};
pub use optimizer::{
    BurnOptimizer, DefaultOptimizer, Lars, LarsState, MuonWithAdam, MuonWithAdamConfig,
    OnePassAdam, OptimizerState, RunOptimizer, UpdateRule, clip_norm,
};
pub use progress::{
    Callbacks, Cost, EpochReport, Evaluation, INERT_MOVE, Outcome, Progress, Seconds, StepReport,
    StepSeconds, TARGET_RATIO, TimeToTarget, TrainingRecord, inert_move, parameter_change,
    parameter_norm, plateau, time_to_target,
};
pub use sampling::{BatchPlan, Reservoir, Sampler};
#[cfg(feature = "testing")]
pub use sampling::{EpochPlan, Planner, StepPlan};
pub use settings::TrainingSettings;
pub use stream::{
    Advanced, Arriving, Buffer, Decision, Experience, Keep, KeptSample, Live, NextUpdate, Policy,
    SparseRow, Strategy, Stream, StreamMemory, StreamState, When,
};
pub use trainer::Trainer;
#[cfg(feature = "dataset")]
pub use views::pair_batcher::PairBatcher;
