//! Options of the commands: groups that commands share, and how arguments and files become options.

pub mod bounds;
pub mod choice;
pub mod command_line;
pub mod config_file;
pub mod data;
pub mod devices;
pub mod encoder;
pub mod evaluation;
pub mod execution;
pub mod increment;
pub mod inputs;
pub mod method;
pub mod negatives;
pub mod nesting;
pub mod noise;
pub mod output;
pub mod parse;
pub mod protocol;
pub mod similar;
pub mod training;
pub mod values;
