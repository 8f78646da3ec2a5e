//! ResNet-18, and reading torchvision's weights for it.

mod block;
mod config;
mod encoder;
mod stem;
#[cfg(feature = "weights")]
mod torchvision;
#[cfg(feature = "weights")]
mod weights;

pub use self::config::ResNetConfig;
#[cfg(feature = "export")]
pub(crate) use self::config::{D_FEATURES, STAGES};
pub use self::encoder::ResNet;
pub use self::stem::Stem;
#[cfg(feature = "export")]
pub(crate) use self::torchvision::torchvision_name;
#[cfg(feature = "weights")]
pub use self::weights::{WeightsLayout, read_weights};
