//! The rule of the inner steps.

use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::{Adam, AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::AutodiffBackend;
use serde::{Deserialize, Serialize};

use crate::inner_loop::descend::descend;

/// Rule by which the gradient of the support loss becomes an inner step (Eq. 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InnerRule {
    /// Gradient descent without momentum, as in the paper.
    ///
    /// ```text
    /// θ⁽ʲ⁺¹⁾ = θ⁽ʲ⁾ − lr_s·g⁽ʲ⁾        g⁽ʲ⁾ = ∇L_s(θ⁽ʲ⁾)
    /// ```
    Sgd,
    /// Adam (Kingma and Ba, 2015) with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8, whose state is fresh at the start of
    /// every inner loop. Not in the paper.
    ///
    /// ```text
    /// m ← β₁·m + (1 − β₁)·g⁽ʲ⁾      v ← β₂·v + (1 − β₂)·g⁽ʲ⁾²      m = v = 0 before j = 0
    /// θ⁽ʲ⁺¹⁾ = θ⁽ʲ⁾ − lr_s·(m/(1 − β₁ʲ⁺¹)) / (√(v/(1 − β₂ʲ⁺¹)) + ε)
    /// ```
    ///
    /// The first step of a fresh state is lr_s·sign(g), so that a loop of one step moves every parameter by
    /// lr_s. Only first-order gradients make sense with it: the derivative of sign(g) is 0 almost everywhere.
    Adam,
}

/// Rule with its state within one inner loop.
pub(super) enum InnerState<M: AutodiffModule<B>, B: AutodiffBackend> {
    Sgd,
    Adam(Box<OptimizerAdaptor<Adam, M, B>>),
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> InnerState<M, B> {
    /// Creates a rule without state.
    pub(super) fn new(rule: InnerRule) -> Self {
        match rule {
            InnerRule::Sgd => Self::Sgd,
            InnerRule::Adam => Self::Adam(Box::new(
                AdamConfig::new()
                    .with_beta_1(0.9)
                    .with_beta_2(0.999)
                    .with_epsilon(1e-8)
                    .init(),
            )),
        }
    }

    /// Takes an inner step.
    pub(super) fn step(&mut self, module: M, gradients: GradientsParams, rate: f64) -> M {
        match self {
            Self::Sgd => descend(module, &gradients, rate),
            Self::Adam(adam) => adam.step(rate, module, gradients),
        }
    }
}
