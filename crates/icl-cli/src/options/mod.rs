//! Options: what a command line or a configuration file may say.

pub mod command_line;
pub mod images;
pub mod training;
pub mod values;
