//! The integration tests of the crate as one program: it is linked once, and generic code is compiled once
//! for all of them.

#![allow(clippy::unwrap_used, reason = "a failed test says enough")]

mod dacl_theory;
mod drawn_noise;
mod drift;
mod drift_subset;
mod drift_verdict;
mod groups;
mod limits;
mod losses;
mod negatives;
mod noise_gradient;
mod ranks;
