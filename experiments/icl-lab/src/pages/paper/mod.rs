//! Tables and figures of the paper: their numbers as data, the grids that reproduce them, and the
//! documents that compare both.

mod accuracy;
mod accuracy_verdict;
mod data_set;
mod group;
mod losses;
mod numbers;
mod pages;
mod provenance;
mod speed;
mod target;

pub use data_set::DataSet;
pub use group::{Cell, Reproduction};
pub use pages::document;
pub use provenance::Provenance;
pub use target::{MethodSet, Target};
