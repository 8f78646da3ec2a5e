//! Parts for Burn's own training loop.

mod run;
mod values;
