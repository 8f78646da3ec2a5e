//! Pages of the papers' tables and figures: the printed numbers, ours, and how they agree.

pub mod ans;
pub mod dacl;
pub mod paper;
mod printed;
