//! What the paper claims in its tables and figures, and what measures it: the targets with their
//! grids, the paper's numbers as data, and speed-ups over the seeds.

mod cell;
mod data_set;
mod paper;
mod speed_up;
mod target;

pub use cell::Cell;
pub use data_set::DataSet;
pub use paper::{
    ACCURACY_DIFFERENCE, AVERAGE_IMPROVEMENT, FIGURE_4, PAPER_METHODS, PaperSpeedUp, Span,
    paper_speed_up,
};
pub use speed_up::{Outcome, Rule, SpeedUp, outcome, outcomes, speed_up};
pub use target::{MethodSet, Target};
