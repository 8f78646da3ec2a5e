//! The crate's README, whose example is compiled and run as a test of documentation. That of the
//! repository is tested as a crate outside the workspace, in tests/readme.rs.

#[doc = include_str!("../README.md")]
struct Readme;
