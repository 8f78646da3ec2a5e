//! What an encoder's embeddings are worth: the paper's protocol, a linear probe and nearest
//! neighbours, the floors that stand beside every accuracy, a map of the embeddings in the plane, and
//! the neighbours that an update keeps.

mod accuracy;
mod directions;
mod error;
mod floors;
mod folds;
mod judgement;
mod knn;
mod linear;
mod matrix;
mod neighbours;
mod nested;
mod parts;
mod plane;
mod principal_axes;
mod protocol;
mod svm;

pub use accuracy::Accuracy;
pub use error::EvalError;
pub use floors::{FloorFeatures, Floors};
pub use folds::{shuffled_stratified_folds, stratified_folds};
pub use judgement::{Accuracies, Judgement};
pub use knn::{KnnProtocol, KnnProtocolConfig, KnnVotes};
pub use linear::{LinearClassifier, LinearProbe, LinearProbeConfig};
pub use matrix::Matrix;
pub use neighbours::{NeighboursKept, NeighboursKeptConfig};
pub use parts::Parts;
pub use plane::PrincipalPlane;
pub use protocol::Protocol;
pub use svm::{SvmClassifier, SvmProtocol, SvmProtocolConfig};
