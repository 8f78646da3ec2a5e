//! Event files of TensorBoard.

mod events;
mod scalars;

pub use events::{Scalar, tensorboard_events};
pub use scalars::{training_scalars, update_scalars};
