//! The crate's README and those pages of the book whose examples are compiled and run as tests of
//! documentation. The program of the crate's README also runs as a crate outside the workspace, in
//! tests/readme.rs.

#[doc = include_str!("../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/book/src/tutorial.md")]
struct Tutorial;

#[doc = include_str!("../../../docs/book/src/own-encoder.md")]
struct OwnEncoder;

#[doc = include_str!("../../../docs/book/src/own-training-loop.md")]
struct OwnTrainingLoop;

#[doc = include_str!("../../../docs/book/src/methods.md")]
struct Methods;

#[doc = include_str!("../../../docs/book/src/checkpoints.md")]
struct Checkpoints;

#[doc = include_str!("../../../docs/book/src/burn.md")]
struct WithBurn;
