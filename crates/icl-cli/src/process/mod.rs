//! The process and its surroundings: failures, interrupts, threads, child processes, groups of processes, the terminal.

pub mod causes;
pub mod child;
pub mod failure;
pub mod group;
pub mod interrupt;
pub mod limits;
pub mod progress;
pub mod terminal;
pub mod threads;
