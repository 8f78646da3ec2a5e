//! Meta-optimization: an inner loop on the support set, and the gradient of the query's loss at its
//! end.

mod adapt;
mod adaptation;
mod descend;
mod gradient_algebra;
mod nested;
mod second_order;

pub use adapt::{Adapted, InnerStep, adapt, first_order, owned};
pub use adaptation::relative_move;
pub use nested::nested_second_order;
pub use second_order::second_order;
