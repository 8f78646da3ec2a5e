//! Plasticity: whether an encoder that has been updated often can still learn, and starts that restore it.

mod activity;
mod blend;
mod measures;
mod norm;
mod start;
mod trainability;

pub use activity::UnitActivity;
pub use measures::Plasticity;
pub use norm::parameter_norm;
pub use start::Started;
pub use trainability::Trainability;
