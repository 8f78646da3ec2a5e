//! The process and its surroundings: failures, interrupts, child processes, the terminal.

pub mod child;
pub mod failure;
pub mod interrupt;
pub mod progress;
pub mod terminal;
