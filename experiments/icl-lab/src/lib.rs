//! The laboratory: makes the tables and figures of the papers again, next to the numbers that they print.
//!
//! It may use every crate of the product; no crate of the product uses it.
//!
//! | module | content |
//! |---|---|
//! | [`commands`] | `icl-lab reproduce` |
//! | [`pages`] | the pages of `icl-lab reproduce` |
//! | [`svm`] | the paper's protocol: a support vector machine on frozen embeddings |
//! | [`tables`] | `icl-lab tables`: the tables of the pages under `docs/results` that no paper prints |
//! | [`descent`] | linear classifiers that are trained for a fixed number of epochs, as papers print them |

pub mod commands;
pub mod descent;
pub mod pages;
pub mod svm;
pub mod tables;
