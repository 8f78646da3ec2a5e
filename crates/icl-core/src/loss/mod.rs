//! The losses of the paper: pure functions of the terms of a [`Contrast`](crate::Contrast), modules
//! that hold a checked configuration, and the exact risk over a whole data set.

mod bias;
mod drawn;
mod exact_risk;
mod held_out_risk;
mod incremental;
mod info_nce;
mod noise_of_rows;
mod nt_xent;

pub use bias::{NoiseLosses, Strategy};
pub use drawn::{catalogue_nce_i, drawn_nce_i, drawn_nce_i_rows};
pub use exact_risk::{
    ExactRisk, RiskRows, exact_nce_i, exact_nce_i_rows, exact_nce_i_rows_of_group, exact_risk,
    exact_risk_of_group, exact_risk_with_rows,
};
pub use held_out_risk::{HeldOutRisk, held_out_nce_i, held_out_risk, held_out_risk_with_losses};
pub use incremental::{
    IncrementalInfoNce, IncrementalInfoNceConfig, change_ratio, log_change_ratio, nce_ii,
};
pub use info_nce::{InfoNce, InfoNceConfig, log_mixed_noise, nce_i};
pub use nt_xent::{NtXent, NtXentConfig};
