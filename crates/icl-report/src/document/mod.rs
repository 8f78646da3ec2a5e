//! Documents, and the formats that they are written in.

pub(crate) mod blocks;
pub(crate) mod html;
pub(crate) mod shell;

pub use blocks::Document;
