//! The number of negatives that InfoNCE should have, by a model of label noise (Wu, Wu and Huang, "Rethinking InfoNCE:
//! How Many Negative Samples Do You Need?", IJCAI 2022). Equation numbers are those of that paper.
//!
//! The score of a positive is drawn from N(μ, 1) and those of the K negatives from N(0, 1). A label is *reliable* if
//! the positive has the highest score; a prediction is *right* if its score of the positive is the highest. The larger
//! K, the more a right answer teaches and the rarer are reliable labels.
//!
//! | item | content |
//! |---|---|
//! | [`reliability`] | P(μ, K), the probability that the positive has the highest score (Eq. 3, 4) |
//! | [`separation`], [`auc`] | the separation μ of an AUC and back (Eq. 7, in closed form) |
//! | [`Shares`] | good, bad and easy samples, and the training effectiveness (Eq. 5, 6) |
//! | [`probabilities_by_k`], [`effectiveness_by_k`] | P(A) and P(B), and the effectiveness, at K = 1, 2, … |
//! | [`advise`] | the number of negatives of an update, from two AUCs |
//! | [`Optimum`] | the largest effectiveness with its flat range |
//! | [`course`] | the separations of predictions during a simulated training |
//! | [`Ranks`], [`Rank`] | measured AUC and measured P(B; K), from the scores of positives and noise |
//!
//! Everything is plain arithmetic in double precision; no backend is needed.

mod advice;
mod effectiveness;
mod normal;
mod optimum;
mod ranks;
mod reliability;

pub use advice::{MAX_ADVISED, advise};
pub use effectiveness::Shares;
pub use optimum::{FLAT, MAX_K, Optimum, course, effectiveness_by_k, probabilities_by_k};
pub use ranks::{Rank, Ranks};
pub use reliability::{auc, reliability, separation};
