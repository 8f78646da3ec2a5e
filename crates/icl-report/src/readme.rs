//! The README, whose example is compiled as a test of documentation.

#[doc = include_str!("../README.md")]
struct Readme;
