//! The laboratory: makes the tables and figures of the papers again, next to the numbers that they print.
//!
//! It may use every crate of the product; no crate of the product uses it.
