//! What an encoder's embeddings are worth: the paper's protocol, the floors that stand beside every
//! accuracy, a map of the embeddings in the plane, and the neighbours that an update keeps.

mod error;
mod floors;
mod folds;
mod matrix;
mod neighbours;
mod nested;
mod parts;
mod plane;
mod protocol;
mod svm;

pub use error::EvalError;
pub use floors::{FloorFeatures, Floors};
pub use folds::{shuffled_stratified_folds, stratified_folds};
pub use matrix::Matrix;
pub use neighbours::{NeighboursKept, NeighboursKeptConfig};
pub use parts::Parts;
pub use plane::PrincipalPlane;
pub use protocol::{Accuracy, SvmProtocol, SvmProtocolConfig};
pub use svm::SvmClassifier;
