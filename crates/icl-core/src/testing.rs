//! Test support of all crates: a backend to test on, closeness, finite differences.

pub use icl_kernels::testing::{
    LOGARITHM_ERROR, TestAutodiff, TestBackend, assert_close, finite_difference,
    has_double_precision, precisions, to_vec,
};
