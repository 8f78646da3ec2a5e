//! Losses of incremental contrastive learning on tensors, and the traits that connect an encoder and a
//! data set to the trainer.
//!
//! Equation numbers are those of Ji et al., "Unbiased and Efficient Self-Supervised Incremental
//! Contrastive Learning" (WSDM 2023).
//!
//! | item | content |
//! |---|---|
//! | [`cosine_similarity`], [`Contrast`] | the similarity of embeddings; the terms of the losses for a batch |
//! | [`Draws`], [`drawn_nce_i`], [`catalogue_nce_i`], [`catalogue_log_noise`] | noise that is drawn for each anchor, from its batch or from a catalogue |
//! | [`InfoNce`], [`nce_i`], [`log_mixed_noise`] | NCE-I (Eq. 1, 2), also under mixed noise (Eq. 27) |
//! | [`NtXent`] | NT-Xent: NCE-I whose noise is both views of the other samples |
//! | [`change_ratio`], [`IncrementalInfoNce`], [`nce_ii`] | change ratio (Eq. 6) and NCE-II (Eq. 7, 8) |
//! | [`NoiseLosses`], [`Strategy`] | the bias of each strategy (Table 2) and Theorem 1 |
//! | [`exact_risk`], [`exact_risk_with_rows`], [`exact_risk_of_group`], [`ExactRisk`], [`RiskRows`] | the risk over all pairs of the data, with the bound of Theorem 2 and the AUC |
//! | [`held_out_risk`], [`held_out_nce_i`], [`HeldOutRisk`] | the risk over samples that no training has seen, with its standard error |
//! | [`Encoder`], [`Samples`], [`Views`], [`Collate`] | the traits to implement |
//! | [`TrainableEncoder`], [`CollateFor`] | bounds of encoders that are trained |
//! | `FromDataset`, `FromBatcher` (feature `dataset`) | any data set and batcher of Burn as samples and collation |
//! | [`PairEmbeddings`], [`Catalogue`] | embeddings of positive pairs; candidates for their negatives |
//! | [`Pairing`], [`Side`], [`Both`] | views that depend on their pair and on other samples; two kinds of views |
//! | [`mixup`] | mixup noise: views by mixing samples |
//! | [`ranks_among`] | ranks of positives among explicit noise |
//! | [`negatives`] | how many negatives InfoNCE should have |
//! | [`drift`] | drift of the noise: the bias of inference with its distribution without drift |
//! | [`Augment`], [`Stack`] | views by a function and collation of lists of numbers |
//! | [`Increment`], [`GrowthRatio`], [`ByOrigin`] | old and new data; quantities of all, old and new data |
//! | [`RateChoice`], [`Schedule`] | sources of the learning rate; those that are functions of the step |
//! | [`StepRule`], [`StepLosses`], [`Stepped`], [`Purpose`] | what takes the place of a plain step |
//! | [`graph`] | batches of graphs |
//! | [`bags`] | batches of histories and of texts |
//! | [`ErrorOf`], [`Error`], [`ErrorKind`], [`KindAbove`] | rejected input: where, what was found, what was expected |
//! | [`Seed`] | one root seed for each run |
//! | [`Group`], [`Alone`], [`Threads`], [`Gathered`] | members that train one encoder together |
//! | [`has_double_precision`], [`host_values`] | properties of devices |
//! | [`beside_kernels`], [`in_pool_of_kernels`] | the threads on which kernels of the CPU share their work |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod atomic_file;
mod augment;
#[cfg(feature = "burn")]
pub mod bags;
mod both;
mod by_origin;
#[cfg(feature = "burn")]
mod collate;
#[cfg(feature = "burn")]
mod contrast;
#[cfg(feature = "dataset")]
mod dataset;
pub mod drift;
#[cfg(feature = "burn")]
mod encoder;
mod error;
#[cfg(feature = "burn")]
pub mod graph;
mod group;
mod growth_ratio;
mod increment;
mod input_file;
mod legible;
#[cfg(feature = "burn")]
mod loss;
#[cfg(feature = "burn")]
pub mod mixup;
#[cfg(feature = "burn")]
#[doc(hidden)]
pub mod module_bytes;
pub mod negatives;
mod pairing;
#[cfg(feature = "burn")]
mod pairs;
mod partial_folder;
mod rate;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
#[cfg(feature = "burn")]
mod record_value;
mod samples;
#[cfg(feature = "burn")]
mod saved_tensors;
mod seed;
#[cfg(feature = "burn")]
mod step_rule;
#[cfg(feature = "burn")]
mod trainable;

pub use augment::Augment;
pub use both::Both;
pub use by_origin::{ByOrigin, Origin};
#[cfg(feature = "dataset")]
pub use dataset::{FromBatcher, FromDataset};
pub use error::{Error, ErrorKind, ErrorOf, KindAbove};
pub use group::{Alone, Gathered, Group, Threads};
pub use growth_ratio::GrowthRatio;
#[cfg(any(test, feature = "testing"))]
pub use icl_kernels::testing;
pub use increment::Increment;
pub use pairing::{Pairing, Side};
pub use rate::{RateChoice, Schedule};
pub use samples::{HostRows, SampleError, Samples, Views};
pub use seed::{Rng, Seed};
// Files and messages, for the other crates of this project alone.
#[doc(hidden)]
pub use {
    atomic_file::{AtomicFile, write_atomically},
    input_file::InputFile,
    legible::{Found, legible, one_line},
    partial_folder::PartialFolder,
};
#[cfg(feature = "burn")]
pub use {
    collate::{Collate, Stack},
    contrast::{
        Contrast, Draws, catalogue_log_noise, cosine_similarity, normalize,
        paired_cosine_similarity, ranks_among,
    },
    encoder::{Batches, Encoder, Mode},
    icl_kernels::{beside_kernels, has_double_precision, host_values, in_pool_of_kernels},
    loss::{
        ExactRisk, HeldOutRisk, IncrementalInfoNce, IncrementalInfoNceConfig, InfoNce,
        InfoNceConfig, NoiseLosses, NtXent, NtXentConfig, RiskRows, Strategy, catalogue_nce_i,
        change_ratio, drawn_nce_i, drawn_nce_i_rows, exact_nce_i, exact_nce_i_rows,
        exact_nce_i_rows_of_group, exact_risk, exact_risk_of_group, exact_risk_with_rows,
        held_out_nce_i, held_out_risk, held_out_risk_with_losses, log_change_ratio,
        log_mixed_noise, nce_i, nce_ii,
    },
    pairs::{Catalogue, PairEmbeddings},
    step_rule::{Purpose, StepLosses, StepRule, Stepped},
    trainable::{CollateFor, TrainableEncoder},
};
