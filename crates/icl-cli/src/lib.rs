//! The program `icl` as a function, so that tests can run it in their own process.
//!
//! | item | meaning |
//! |---|---|
//! | [`main`] | the whole program |
//! | [`call`], [`Refusal`] | one call of it, and why it failed |
//! | [`add_protocols`], [`NamedProtocol`] | protocols of a program that is built on this one |
//! | [`main_of`], [`parts`] | commands of such a program |

#[cfg(not(any(
    feature = "flex",
    feature = "tch",
    feature = "wgpu",
    feature = "vulkan",
    feature = "cuda"
)))]
compile_error!(
    "the program needs at least one backend: build it with one of the features `flex`, `tch`, \
     `wgpu`, `vulkan` and `cuda`"
);

mod backend;
mod call;
mod command_line;
mod commands;
mod domain;
mod files;
mod options;
pub mod parts;
mod process;

pub use call::{Refusal, call, main, main_of};
pub use options::protocol::{NamedProtocol, add_protocols};
