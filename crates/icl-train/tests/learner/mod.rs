//! Parts for Burn's own training loop.

mod run;
mod trainer;
mod values;
