//! Keeps a contrastive encoder up to date as data arrives: an extension of [Burn](https://burn.dev) 0.21.
//!
//! This crate is the front door: it re-exports the other crates under one name each, and [`prelude`] has what most
//! programs need. Each part can be used alone. The book of the project has the tutorial.
//!
//! | I want to | use |
//! |---|---|
//! | update an encoder when data arrives | [`Trainer::update`](train::Trainer::update) with [`Method::icl`](train::Method::icl) |
//! | train the first encoder | [`Trainer::pretrain`](train::Trainer::pretrain) |
//! | bring an encoder of my own | [`Encoder`](core::Encoder), which any module of Burn can implement |
//! | bring samples and augmentations | [`Samples`](core::Samples), [`Augment`](core::Augment), [`Views`](core::Views), [`Collate`](core::Collate), [`Stack`](core::Stack) |
//! | use data sets, batchers and data loaders of Burn | `core::FromDataset`, `core::FromBatcher`, `train::PairBatcher` (feature `dataset`) |
//! | use another optimizer or schedule of Burn | [`Trainer::optimizer`](train::Trainer::optimizer), [`Trainer::scheduler`](train::Trainer::scheduler), [`Trainer::rates`](train::Trainer::rates) |
//! | train in Burn's `Learner` | `train::ContrastiveStep`, `train::PairMetric`, `train::GainEarlyStoppingStrategy` (feature `train`) |
//! | compute losses in my own loop | [`InfoNce`](core::InfoNce), [`NtXent`](core::NtXent), [`IncrementalInfoNce`](core::IncrementalInfoNce), [`nce_i`](core::nce_i), [`nce_ii`](core::nce_ii) |
//! | draw old and new samples for an epoch | [`Sampler`](train::Sampler) |
//! | average the weights over steps | [`WeightAverage`](train::WeightAverage) |
//! | know when to stop | [`GainRule`](train::GainRule) in a loop of my own, [`StopRule`](train::StopRule) in the trainer |
//! | choose the number of negatives | [`advise`](core::negatives::advise) from two AUCs, [`StepNegatives`](train::StepNegatives) in the trainer |
//! | compute the exact risk | [`exact_risk`](core::exact_risk) of embeddings, [`Evaluator::evaluate`](train::Evaluator::evaluate) of an encoder |
//! | measure the change ratio and the bias | [`change_ratio`](core::change_ratio), [`NoiseLosses`](core::NoiseLosses) |
//! | measure the risk on held-out samples | [`held_out_risk`](core::held_out_risk) of embeddings, [`Evaluator::held_out_risk`](train::Evaluator::held_out_risk) of an encoder |
//! | measure accuracies with their floors | [`Accuracies`](eval::Accuracies) with [`KnnProtocolConfig`](eval::KnnProtocolConfig), [`LinearProbeConfig`](eval::LinearProbeConfig) or [`FewLabelsConfig`](eval::FewLabelsConfig) |
//! | measure a ranking of items | [`RankingProtocol`](eval::RankingProtocol) |
//! | align stored embeddings with new ones | [`AlignmentSettings::fit`](eval::AlignmentSettings::fit), [`cross_version_recall`](eval::cross_version_recall), [`NeighboursKept`](eval::NeighboursKept) |
//! | test whether the data have drifted | [`DriftTest`](core::drift::DriftTest) |
//! | update for one experience after the other | [`Stream`](train::Stream) with [`Policy`](train::Policy) and [`Keep`](train::Keep) |
//! | know what a stream forgets | [`TransferMatrix`](eval::TransferMatrix) |
//! | follow, end and resume a run | [`Callbacks`](train::Callbacks) |
//! | train on several devices or threads | [`Trainer::devices`](train::Trainer::devices), [`Trainer::group`](train::Trainer::group) with [`Threads`](core::Threads) |
//! | save and load an encoder | Burn's recorders, or [`StoredEncoder`](models::StoredEncoder), the file of the program `icl` |
//! | write other `.safetensors` | [`StoredTensor`](models::StoredTensor), [`safetensors_bytes`](models::safetensors_bytes) |
//! | begin with weights of PyTorch | [`ResNet`](models::ResNet), `models::read_weights` (feature `weights`) |
//! | take an encoder that is here | [`Mlp`](models::Mlp), [`ResNet`](models::ResNet), [`ConvNet`](models::ConvNet), [`Gcn`](models::Gcn), [`Gin`](models::Gin), [`TwoTower`](models::TwoTower), [`WordTower`](models::WordTower); [`ProjectionHead`](models::ProjectionHead) |
//! | read a table, images, graphs, interactions or texts | [`read_table`](data::read_table), [`read_images`](data::read_images), [`read_tu`](data::read_tu), [`read_interactions`](data::read_interactions), [`read_text_pairs`](data::read_text_pairs) |
//! | divide data into old and new | [`Split`](data::Split), [`StreamSplit`](data::StreamSplit), [`Increment`](core::Increment) |
//! | use meta-optimization or learned rates | `icl::meta`, [`Method::named`](train::Method::named) (feature `meta`) |
//!
//! Evaluation (`icl-eval`), the drift test and the arithmetic of negatives (`icl-core` without its default features)
//! are built without Burn.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod prelude;
#[cfg(doctest)]
mod readme;

#[doc(inline)]
pub use icl_core as core;
#[doc(inline)]
pub use icl_data as data;
#[doc(inline)]
pub use icl_eval as eval;
#[cfg(feature = "meta")]
#[doc(inline)]
pub use icl_meta as meta;
#[doc(inline)]
pub use icl_models as models;
#[doc(inline)]
pub use icl_train as train;
