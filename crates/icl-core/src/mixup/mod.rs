//! Mixup noise: a sample mixed with another one, or with Gaussian noise, as a view of itself (Verma et al.,
//! "Towards Domain-Agnostic Contrastive Learning", ICML 2021; equation numbers here are those of that paper).
//!
//! | item | mixture of x and a partner x̃ |
//! |---|---|
//! | [`linear`], [`linear_rows`] | λ·x + (1 − λ)·x̃ (Eq. 3, and Eq. 4 on hidden vectors) |
//! | [`geometric`], [`geometric_rows`] | x^λ · x̃^(1 − λ) (Eq. 5), shifted by ε |
//! | [`binary`], [`binary_rows`] | x·m + x̃·(1 − m), m ∈ {0, 1} (Eq. 6) |
//! | [`gaussian`] | x + δ, δ Gaussian: the noise that the paper compares with |
//! | [`MixingRange`] | the distribution of λ |
//!
//! [`MixupNote`] is a note about settings that are allowed but rarely make sense.
//!
//! The functions on slices mix one sample in place on the host; those on tensors mix rows `[n, d]` and can
//! be differentiated.

mod binary;
mod gaussian;
mod geometric;
mod linear;
mod range;

pub use binary::{binary, binary_rows};
pub use gaussian::gaussian;
pub use geometric::{geometric, geometric_rows};
pub use linear::{linear, linear_rows};
pub use range::{MixingRange, MixupNote};
