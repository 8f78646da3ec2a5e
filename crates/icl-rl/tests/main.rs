//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

#[allow(dead_code, reason = "the unit tests use the rest of it")]
mod backend;
mod control;
mod episodes;
mod saving;
