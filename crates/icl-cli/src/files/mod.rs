//! Files that the program reads and writes.

pub mod apart;
pub mod destination;
pub mod embedding_format;
pub mod embeddings;
pub mod encoder_work;
pub mod manifest;
pub mod new_folders;
pub mod npy;
mod npy_header;
pub mod output_files;
pub mod row_facts;
pub mod tensor_rows;
pub mod whole;
pub mod work_folder;
pub mod work_place;
