//! The commands of the program, one module each.

pub mod align;
pub mod backends;
pub mod compare_backends;
pub mod completions;
pub mod diagnose;
pub mod embed;
pub mod export;
pub mod fetch;
pub mod keep;
pub mod man;
pub mod methods;
pub mod negatives;
pub mod report;
pub mod run;
pub mod show;
pub mod split;
pub mod stream;
pub mod train;
pub mod update;
