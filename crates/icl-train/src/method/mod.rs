//! Methods: their axes, and the registry that names them.

pub(crate) mod objective;
mod point;
mod registry;

pub use objective::{Noise, Objective};
pub use point::{Method, OptimizerChoice, Start};
pub use registry::{DEFAULT, YARDSTICK, method, methods};
