//! Test support for this crate and for those whose pages are made with it: made-up records, and checks of pages.

mod pages;
pub(crate) mod runs;
mod streams;

pub use pages::{assert_fits, assert_sound, row, text_of};
pub use runs::{comparison, reaching, record};
pub use streams::stream;
