//! Options of the commands: groups that commands share, and how arguments and files become options.

pub mod bounds;
pub mod choice;
pub mod classes;
pub mod command_line;
pub mod config_file;
pub mod data;
pub mod encoder;
pub mod evaluation;
pub mod execution;
pub mod inputs;
pub mod kind;
pub mod loss;
pub mod method;
pub mod nesting;
pub mod noise;
pub mod output;
pub mod parse;
pub mod protocol;
pub mod settings;
pub mod similar;
pub mod split;
pub mod training;
