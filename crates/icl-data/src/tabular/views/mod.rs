//! Views of rows: mixup noise, Gaussian noise, exchanged columns.

mod config;
mod kind;
mod mixture;
mod table_views;

pub use config::TableViewsConfig;
pub use kind::NoiseKind;
pub use table_views::TableViews;

#[cfg(test)]
mod tests;
