//! Methods: five axes of choices, the points of these axes, and the registry of named points.

mod axes;
pub(crate) mod error;
pub(crate) mod loss;
mod point;
mod registry;

pub use axes::{MetaOrder, OptimizerChoice, Start};
pub use error::MethodError;
pub use loss::{Loss, LossKind, NoiseSet};
pub use point::Method;
pub use registry::{DEFAULT, REFERENCE, methods, parse_methods};
