//! Words and numbers as every format shows them.

pub(crate) mod escape;
pub(crate) mod number;
pub(crate) mod rich_text;
pub(crate) mod wrap;
