//! What the paper claims in its tables and figures, and what measures it: the targets with their
//! grids, the paper's numbers as data, and speed-ups over the seeds.

mod accuracy;
mod accuracy_verdict;
mod cell;
mod data_set;
mod group;
mod losses;
mod numbers;
mod pages;
mod provenance;
mod speed;
mod speed_table;
mod speed_up;
mod sweep;
mod target;
mod wording;

pub use cell::Cell;
pub use data_set::DataSet;
pub use group::Reproduction;
pub use numbers::{
    ACCURACY_DIFFERENCE, AVERAGE_IMPROVEMENT, FIGURE_4, PAPER_METHODS, PaperSpeedUp, Span,
    paper_speed_up,
};
pub use pages::document;
pub use provenance::Provenance;
pub use speed_up::{Outcome, Rule, SpeedUp, outcome, outcomes, speed_up};
pub use target::{MethodSet, Target};
