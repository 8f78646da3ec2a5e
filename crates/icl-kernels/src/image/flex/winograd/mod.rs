//! Convolutions of 3 x 3 taps by Winograd's minimal filtering (Lavin and Gray, 2016), which multiplies 16 times where
//! the sum over taps multiplies 36 times.
//!
//! Outputs are computed four at a time, as quads of 2 x 2 pixels. A quad sees 4 x 4 inputs d, and with the taps g
//!
//! ```text
//! y = Aᵀ·[(G·g·Gᵀ) ⊙ (Bᵀ·d·B)]·A
//!
//!      1  0 −1  0         1    0    0
//! Bᵀ = 0  1  1  0     G = 1/2  1/2  1/2     Aᵀ = 1  1  1  0
//!      0 −1  1  0         1/2 −1/2  1/2          0  1 −1 −1
//!      0  1  0 −1         0    0    1
//! ```
//!
//! Each of the 16 products ⊙ is summed over channels, which makes it a product of matrices: quads by channels times
//! channels by channels. The transformations only add and halve, so that rounding errors stay near those of the sum
//! over taps. An input that is infinite or not a number makes all outputs of the quads that see it not a number.

mod product;
mod quads;
mod transform;
mod weight;
mod weight_gradient;

pub(super) use product::product;
pub(super) use quads::Quads;
pub(super) use weight_gradient::weight_gradient;

/// Number of products of a quad for each pair of channels.
const N_PRODUCTS: usize = 16;
/// Number of taps.
const N_TAPS: usize = 9;
