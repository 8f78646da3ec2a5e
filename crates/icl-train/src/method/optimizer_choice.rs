//! The optimizer axis.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Rule that turns the gradients of a step into an update: the optimizer axis.
///
/// The text of a choice (`Display`, `FromStr`) is given in parentheses below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptimizerChoice {
    /// Plain updates (`plain`): the gradient of each batch is applied to θ (Eq. 10), by the optimizer of
    /// [`Trainer::optimizer`](crate::Trainer::optimizer).
    ///
    /// ```text
    /// θ ← θ − lr·∇L(θ)
    /// ```
    Plain,
    /// Meta-optimization (`meta`, `meta:first`, `meta:second`): inner steps of gradient descent on support
    /// batches with old anchors lead to θ′ (Eq. 11), and the gradient of the loss of a query batch with new
    /// anchors at θ′ is applied to θ (Eq. 12).
    ///
    /// ```text
    /// θ′ ← θ′ − lr_s·∇L_s(θ′), from θ′ = θ        θ ← θ − lr_q·∇_θ L_q(θ′)
    /// ```
    ///
    /// Without an order, [`TrainingSettings::meta_order`](crate::TrainingSettings::meta_order) decides
    /// it. The loss must separate old noise from new, see [`Loss::separates_noise`](crate::Loss::separates_noise).
    Meta(Option<MetaOrder>),
}

/// Order of the derivative in meta-optimization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetaOrder {
    /// First order: the gradient at θ′ replaces the gradient at θ (first-order MAML, Finn et al., 2017).
    First,
    /// Second order: the gradient is computed through the inner steps by Hessian-vector products, see
    /// `icl_meta::second_order`.
    Second,
}

impl OptimizerChoice {
    /// Returns the order of the derivative; `default` for meta-optimization without an order of its own, and
    /// `None` for plain updates.
    pub fn order(self, default: MetaOrder) -> Option<MetaOrder> {
        match self {
            Self::Plain => None,
            Self::Meta(order) => Some(order.unwrap_or(default)),
        }
    }

    /// Returns whether the choice is meta-optimization.
    pub fn is_meta(self) -> bool {
        matches!(self, Self::Meta(_))
    }
}

impl fmt::Display for OptimizerChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Meta(None) => "meta",
            Self::Meta(Some(MetaOrder::First)) => "meta:first",
            Self::Meta(Some(MetaOrder::Second)) => "meta:second",
        })
    }
}

impl FromStr for OptimizerChoice {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        match text {
            "plain" => Ok(Self::Plain),
            "meta" => Ok(Self::Meta(None)),
            "meta:first" => Ok(Self::Meta(Some(MetaOrder::First))),
            "meta:second" => Ok(Self::Meta(Some(MetaOrder::Second))),
            _ => {
                let expected = "plain, meta, meta:first or meta:second";
                Err(TrainError::new("optimizer", text, expected))
            }
        }
    }
}
