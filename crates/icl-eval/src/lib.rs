//! Evaluation of frozen embeddings.
//!
//! | item | content |
//! |---|---|
//! | [`Protocol`], [`Accuracy`] | accuracy of embeddings |
//! | [`CrossValidated`] | protocols by stratified cross-validation, on given folds |
//! | [`LinearProbe`], [`LinearClassifier`] | multinomial logistic regression on standardised embeddings |
//! | [`KnnProtocol`] | votes of the nearest neighbours |
//! | [`FewLabels`] | nearest neighbour from a few labelled samples of each class |
//! | [`Task`], [`TaskErrors`] | prediction of the labels of held-out samples from a few labelled ones, sample by sample |
//! | [`Watch`], [`Work`] | progress of a measurement, and a request to stop it |
//! | [`cross_validation`] | folds and the choice of a hyper-parameter by inner folds, for protocols of one's own |
//! | [`Floors`], [`FloorFeatures`] | accuracies without training, reported next to every accuracy |
//! | [`Accuracies`], [`AccuracyWithFloors`] | a protocol for the embeddings of an encoder, with its floors |
//! | [`NeighboursKept`] | share of nearest neighbours that an update keeps |
//! | [`AlignmentSettings`], [`AlignmentMap`], [`AlignmentForm`] | map from old to new embeddings of the same samples |
//! | [`HiddenLayer`] | residual part of a map |
//! | [`FormComparison`] | the form of a map that fits rows best, by cross-validation |
//! | [`cross_version_recall`], [`CrossVersionRecall`] | retrieval of an old gallery by new queries |
//! | [`remaining_distances`], [`moved_most_first`] | what a map does not explain, and the order in which to embed again |
//! | [`RankingProtocol`], [`Candidates`], [`RankedTarget`], [`Ranking`], [`TargetPosition`] | AUC, HR@k and nDCG@k of targets among items |
//! | [`TransferMatrix`], [`Transfer`], [`TRANSFER_FORMULAS`] | what a stream of experiences forgets and gains |
//! | [`effective_rank`] | effective rank of embeddings (RankMe) |
//! | [`PrincipalPlane`] | map of embeddings in the plane |
//! | [`EvalError`], [`EvalErrorKind`] | the error of this crate |
//! | [`Matrix`] | embeddings or other features on the host |

mod accuracies;
mod alignment;
pub mod cross_validation;
mod effective_rank;
mod error;
mod floors;
mod linear;
mod matrix;
mod neighbours;
mod plane;
mod principal_axes;
mod protocol;
mod ranking;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod task;
mod transfer;
mod watch;

pub use accuracies::{Accuracies, AccuracyWithFloors};
pub use alignment::{
    AlignmentForm, AlignmentMap, AlignmentSettings, CrossVersionRecall, FormComparison,
    HiddenLayer, cross_version_recall, moved_most_first, remaining_distances,
};
pub use cross_validation::{Accuracy, stratified_folds};
pub use effective_rank::effective_rank;
pub use error::{EvalError, EvalErrorKind};
pub use floors::{FloorFeatures, Floors};
pub use linear::{LinearClassifier, LinearProbe, LinearProbeConfig};
pub use matrix::Matrix;
pub use neighbours::{
    FewLabels, FewLabelsConfig, KnnProtocol, KnnProtocolConfig, KnnVotes, NeighboursKept,
    NeighboursKeptConfig,
};
pub use plane::PrincipalPlane;
pub use protocol::{CrossValidated, Protocol};
pub use ranking::{Candidates, RankedTarget, Ranking, RankingProtocol, TargetPosition};
pub use task::{Task, TaskErrors};
pub use transfer::{Better, TRANSFER_FORMULAS, Transfer, TransferFormula, TransferMatrix};
pub use watch::{Watch, Work};
