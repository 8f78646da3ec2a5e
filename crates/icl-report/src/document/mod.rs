//! Documents and their three formats: HTML, Markdown and terminal.

mod block;
mod html;
mod markdown;
mod table;
mod terminal;
mod terminal_table;

pub use block::{Block, Document};
pub use table::{Column, Row, Table, TableCell};
pub use terminal::DEFAULT_WIDTH;
