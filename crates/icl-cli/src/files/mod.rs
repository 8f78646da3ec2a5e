//! Files that the program reads and writes.

pub mod atomic;
pub mod checksum;
pub mod encoder_work;
pub mod npy;
pub mod tensors;
pub mod work_folder;
