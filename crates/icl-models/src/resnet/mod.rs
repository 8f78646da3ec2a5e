//! ResNet-18, and reading torchvision's weights for it.

mod block;
mod config;
mod convolution;
mod encoder;
mod stem;
#[cfg(feature = "weights")]
mod weights;

pub use self::config::ResNetConfig;
pub use self::encoder::ResNet;
pub use self::stem::Stem;
#[cfg(feature = "weights")]
pub use self::weights::{WeightsLayout, read_weights};
