//! Groups of options that commands share, and the types of their values.

pub mod bounds;
pub mod budget;
pub mod choice;
pub mod classes;
pub mod command_line;
pub mod data;
pub mod encoder;
pub mod evaluation;
pub mod execution;
pub mod kind;
pub mod loss;
pub mod method;
pub mod nesting;
pub mod noise;
pub mod output;
pub mod protocol;
pub mod settings;
pub mod split;
pub mod training;
