//! The axes of start and optimizer.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::method::error::MethodError;

/// The encoder that a run starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// θ₀, trained on the old data.
    Trained,
    /// A fresh encoder.
    Scratch,
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trained => "trained",
            Self::Scratch => "scratch",
        })
    }
}

impl FromStr for Start {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        match text {
            "trained" => Ok(Self::Trained),
            "scratch" => Ok(Self::Scratch),
            _ => Err(MethodError::Value {
                axis: "start",
                found: text.to_owned(),
                expected: "trained or scratch",
            }),
        }
    }
}

/// How gradients become an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OptimizerChoice {
    /// Every gradient is applied to θ (Eq. 10), by Adam or SGD as the settings say.
    Plain,
    /// Old data are support, new data query (Eq. 11 and 12): the gradient of the query's loss at the
    /// adapted parameters θ′ is applied to θ. Without an order, the settings decide it.
    Meta(Option<MetaOrder>),
}

/// Whether the gradient of the query's loss is taken through the inner steps of meta-optimization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetaOrder {
    /// No: the gradient at θ′ is taken for the one at θ (first-order MAML, Finn et al., 2017).
    First,
    /// Yes, by Hessian-vector products, see [`second_order`](icl_meta::second_order).
    Second,
}

impl OptimizerChoice {
    /// Returns whether it is meta-optimization.
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
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        match text {
            "plain" => Ok(Self::Plain),
            "meta" => Ok(Self::Meta(None)),
            "meta:first" => Ok(Self::Meta(Some(MetaOrder::First))),
            "meta:second" => Ok(Self::Meta(Some(MetaOrder::Second))),
            _ => Err(MethodError::Value {
                axis: "optimizer",
                found: text.to_owned(),
                expected: "plain, meta, meta:first or meta:second",
            }),
        }
    }
}
