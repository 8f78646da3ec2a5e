//! Speed-ups over retraining: Tables 3 and 4, and Figure 4.

mod page;
mod sweep;
mod sweep_chart;
mod table;

pub(crate) use page::blocks as table_blocks;
pub(crate) use sweep::blocks as sweep_blocks;
