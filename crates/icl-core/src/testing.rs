//! Test support of all crates: a backend to test on, closeness, finite differences, faults of the disk.

pub use icl_kernels::testing::{
    LOGARITHM_ERROR, TestAutodiff, TestBackend, assert_close, finite_difference,
    has_double_precision, precisions, to_vec,
};

pub use crate::faults::{Fault, FaultyDisk, Operations, WAITS};
pub use crate::file_system::choose_file_system;
