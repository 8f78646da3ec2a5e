//! Generated inputs for every reader of the project, and the promise that each of them keeps.
//!
//! A [`Case`] is a valid input of a [`Format`] and edits of it. The same cases come from a seed ([`Campaign`]) and from
//! cargo-fuzz, whose targets are in `fuzz_targets`.
//!
//! | item | meaning |
//! |---|---|
//! | [`Format`], [`Reader`], [`Told`], [`formats`], [`Make`] | a reader with valid inputs of it |
//! | [`Valid`], [`Part`] | a valid input, and what it consists of |
//! | [`Case`], [`Edit`] | an input: a valid one, and what is changed in it |
//! | [`Trial`], [`Reading`], [`Breach`] | one reading of an input, and how it can break the promise |
//! | [`Campaign`], [`Summary`] | many seeded cases of a format, and their results |
//! | [`measured`] | the memory that a piece of work takes at most |
//! | [`check`] | one case, for cargo-fuzz |

mod campaign;
mod case;
mod edit;
mod format;
mod memory;
mod parts;
mod trial;

pub use campaign::{Campaign, Summary};
pub use case::{Case, check};
pub use edit::Edit;
pub use format::{Format, Make, Reader, Told, formats};
pub use memory::measured;
pub use parts::{Part, Valid};
pub use trial::{Breach, Reading, Trial};
