//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod align;
mod apart;
mod backends;
mod compare_backends;
mod config_file;
mod damaged_encoder;
mod diagnose;
mod earlier_names;
mod embed;
#[cfg(feature = "flex")]
mod exchanged_encoders;
#[cfg(feature = "flex")]
mod export;
mod first_run;
mod foreign_files;
mod full_disk;
mod held_out;
mod images;
mod inner_steps;
mod interactions;
mod kills;
mod learning;
mod long_names;
mod malformed_data;
mod methods;
mod negatives;
mod optimizers;
mod options;
#[cfg(feature = "flex")]
mod options_page;
mod origin;
mod outcome;
mod outliers;
mod output_folder;
mod processes;
mod report;
mod resume;
mod run;
mod several_devices;
mod shell_files;
mod small_memory;
mod special_files;
mod step_negatives;
mod stream;
mod support;
mod table_fields;
mod tables;
mod task;
mod ten_days;
mod text_pairs;
mod train;
mod unlabelled;
mod update;
mod vector_stores;
mod written_encoders;
