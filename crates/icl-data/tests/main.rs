//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod data_dir;
mod hostile_parquet;
mod image_damage;
mod image_files;
mod image_folders_malformed;
mod image_formats;
mod image_malformed;
mod image_record;
mod image_reference;
mod image_views;
mod interaction_increments;
mod interactions;
mod table_columns;
mod table_fields;
mod table_formats;
mod table_increments;
mod table_malformed;
mod table_order;
mod table_reference;
mod table_views;
mod text_pairs;
mod tu_archives;
mod tu_files;
mod tu_format;
mod tu_malformed;
mod tu_reference;
mod unlabelled;
mod vectors;
mod written_data;
