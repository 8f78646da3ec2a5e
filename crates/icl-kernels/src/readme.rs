//! The README, whose example is compiled and run as a test of documentation.

#[doc = include_str!("../README.md")]
struct Readme;
