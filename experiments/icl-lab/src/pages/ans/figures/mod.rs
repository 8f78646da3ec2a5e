//! Figures that follow from the paper's equations, without data or training, and the claims that rest on them.

mod best_k;
mod figure4;
mod figure5;
mod page;
mod printed_claim;
mod stage_charts;
mod target;

pub use page::ans_document;
pub use target::AnsTarget;
