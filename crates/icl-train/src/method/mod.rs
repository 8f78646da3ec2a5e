//! Methods: five axes of choices, the points of these axes, and the registry of named points.

mod blend;
pub(crate) mod loss;
mod optimizer_choice;
mod point;
mod registry;
mod sampling;
mod start;

pub use loss::{Distance, Loss, LossKind, NoiseSet};
pub use optimizer_choice::{MetaOrder, OptimizerChoice};
pub use point::Method;
pub use registry::{DEFAULT, REFERENCE, methods, parse_methods};
pub use sampling::Sampling;
pub use start::Start;
