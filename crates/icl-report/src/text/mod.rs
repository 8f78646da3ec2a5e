//! Words and numbers as every format shows them.

pub(crate) mod escape;
pub mod number;
pub(crate) mod rich_text;
pub(crate) mod wrap;

pub use escape::escape;
pub use rich_text::RichText;
