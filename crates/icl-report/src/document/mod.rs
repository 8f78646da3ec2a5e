//! Documents and their three formats: HTML, Markdown and terminal.

mod block;
mod html;
mod markdown;
mod table;
mod terminal;
mod terminal_table;

pub(crate) use block::Block;
pub use block::Document;
pub(crate) use table::{Column, Row, Table, TableCell};
pub use terminal::DEFAULT_WIDTH;
