//! How far each strategy's loss is from that of retraining (Table 2), Theorem 1 and Theorem 2.

use burn::tensor::{Tensor, backend::Backend};

use crate::loss::{log_change_ratio, log_mixed_noise, nce_i, nce_ii};
use crate::{Contrast, GrowthRatio};

/// The losses of a set of anchors under each noise distribution, in nats, one of each an anchor.
#[derive(Debug, Clone)]
pub struct NoiseLosses<B: Backend> {
    /// L^{I,X}: NCE-I under p(X) `[n]`.
    pub old: Tensor<B, 1>,
    /// L^{I,ΔX}: NCE-I under p(ΔX) `[n]`.
    pub new: Tensor<B, 1>,
    /// L^{I,X′}: NCE-I under p(X′), what retraining minimises `[n]`.
    pub all: Tensor<B, 1>,
    /// L^{II} `[n]`.
    pub nce_ii: Tensor<B, 1>,
    /// log r, r the change ratio `[n]`.
    pub log_change_ratio: Tensor<B, 1>,
}

/// A strategy of Table 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The old encoder is kept.
    Inference,
    /// NCE-I on ΔX with noise p(ΔX).
    FineTuning,
    /// NCE-I on X′ with noise p(X′).
    Retraining,
    /// NCE-II and NCE-I under p(X) on X, NCE-I under p(X′) on ΔX.
    Icl,
}

/// The data that an anchor belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// X.
    Old,
    /// ΔX.
    New,
}

impl<B: Backend> NoiseLosses<B> {
    /// All losses of one contrast. `negatives` is K.
    pub fn new(contrast: &Contrast<B>, negatives: f64, alpha: GrowthRatio) -> Self {
        let nce = |log_noise: Tensor<B, 1>| nce_i(contrast.positive.clone(), log_noise, negatives);
        let (old, new) = (&contrast.log_noise_old, &contrast.log_noise_new);
        let log_r = log_change_ratio(contrast, negatives);
        Self {
            old: nce(old.clone()),
            new: nce(new.clone()),
            all: nce(log_mixed_noise(old.clone(), new.clone(), alpha)),
            nce_ii: nce_ii(log_r.clone(), alpha),
            log_change_ratio: log_r,
        }
    }

    /// The bias of a strategy on anchors of one part: the loss that it stands for minus the loss of
    /// retraining, L^{I,X′}, in nats `[n]`.
    ///
    /// ```text
    ///              X                                  ΔX
    /// inference    L^{I,X} − L^{I,X′} = −log r^{X→X′}  0 − L^{I,X′}
    /// fine-tuning  L^{I,X} − L^{I,X′}                  L^{I,ΔX} − L^{I,X′} = −log r^{ΔX→X′}
    /// retraining   0                                   0
    /// ICL          L^{I,X} + L^{II} − L^{I,X′} = 0     0
    /// ```
    ///
    /// with r of Eq. (6), so that log r^{X→X′} is L^{II}. Table 2 has +log r in these places; its
    /// proof takes the differences as they stand here, and calls their ratios (Eq. 36, 40) r although
    /// they are the reciprocals of Eq. (6). Table 2 also gives inference on ΔX as +L^{I,X′}. Here the
    /// sign is one throughout. The zero of ICL on X is computed, not assumed: it is Theorem 1's
    /// residual, 0 to rounding.
    pub fn bias(&self, strategy: Strategy, part: Part) -> Tensor<B, 1> {
        let all = self.all.clone();
        match (strategy, part) {
            (Strategy::Inference | Strategy::FineTuning, Part::Old) => self.old.clone() - all,
            (Strategy::Inference, Part::New) => all.neg(),
            (Strategy::FineTuning, Part::New) => self.new.clone() - all,
            (Strategy::Icl, Part::Old) => self.old.clone() + self.nce_ii.clone() - all,
            (Strategy::Retraining, _) | (Strategy::Icl, Part::New) => all * 0.0,
        }
    }
}

/// The terms of Theorem 2, which bounds the difference of empirical risks by α·R_old.
///
/// The paper lets R_old go to 0 because training has minimised it. In practice it is 0.7 to 2.5
/// nats when training on the old data ends, so a run reports both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskBound {
    /// R_old, the mean of L^{I,X} over X, in nats.
    pub risk_old: f64,
    /// α·R_old, in nats.
    pub bound: f64,
}

impl RiskBound {
    /// The bound for this mean of L^{I,X} over X.
    pub fn new(risk_old: f64, alpha: GrowthRatio) -> Self {
        Self {
            risk_old,
            bound: alpha.value() * risk_old,
        }
    }
}
