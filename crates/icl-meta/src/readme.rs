//! The README of this crate, whose examples are compiled and run as tests of documentation.

#[doc = include_str!("../README.md")]
struct Readme;
