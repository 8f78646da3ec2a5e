//! The losses under each noise distribution, and the bias of each strategy (Table 2, Theorem 1).

use burn::tensor::{Tensor, backend::Backend};

use super::incremental::{log_change_ratio, nce_ii};
use super::info_nce::{log_mixed_noise, nce_i};
use crate::{Contrast, GrowthRatio, Origin};

/// Losses of a set of anchors under each noise distribution, in nats.
///
/// The names `old`, `new` and `all` are those of the noise, not of the anchors: every tensor has one
/// value for each of the n anchors.
///
/// ```
/// use burn::tensor::Tensor;
/// use icl_core::{Contrast, GrowthRatio, NoiseLosses, Origin, Strategy};
/// type B = burn::backend::Flex;
///
/// let rows = |rows: [[f32; 2]; 2]| Tensor::<B, 2>::from_data(rows, &Default::default());
/// let (anchors, positives) = (rows([[1.0, 0.0], [0.0, 1.0]]), rows([[0.9, 0.1], [0.1, 0.9]]));
/// let (old_noise, new_noise) = (rows([[-1.0, 0.0], [0.0, -1.0]]), rows([[1.0, 1.0], [1.0, 0.8]]));
/// let contrast = Contrast::explicit(anchors, positives, old_noise, new_noise, 0.5);
/// let losses = NoiseLosses::new(&contrast, 16.0, GrowthRatio::from_counts(300, 100));
/// // The new noise is closer to the anchors than the old: the estimate for the old encoder is too low.
/// let bias = losses.bias(Strategy::Inference, Origin::Old);
/// assert!(bias.max().into_scalar() < 0.0);
/// ```
#[derive(Debug, Clone)]
pub struct NoiseLosses<B: Backend> {
    /// NCE-I under p(X), L^{I,X} `[n]`.
    pub old: Tensor<B, 1>,
    /// NCE-I under p(ΔX), L^{I,ΔX} `[n]`.
    pub new: Tensor<B, 1>,
    /// NCE-I under p(X′), L^{I,X′}, which retraining minimises `[n]`.
    pub all: Tensor<B, 1>,
    /// NCE-II, L^{II} `[n]`.
    pub nce_ii: Tensor<B, 1>,
    /// Logarithm of the change ratio r `[n]`.
    pub log_change_ratio: Tensor<B, 1>,
}

/// A strategy of Table 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Keeps the old encoder.
    Inference,
    /// Trains by NCE-I on ΔX with noise p(ΔX).
    FineTuning,
    /// Trains by NCE-I on X′ with noise p(X′).
    Retraining,
    /// Trains by NCE-II and NCE-I under p(X) on X, and by NCE-I under p(X′) on ΔX.
    Icl,
}

impl<B: Backend> NoiseLosses<B> {
    /// Computes all losses from the terms of the anchors. `negatives` is K; it must be above 0, which
    /// is not checked.
    pub fn new(contrast: &Contrast<B>, negatives: f64, alpha: GrowthRatio) -> Self {
        let nce = |log_noise: Tensor<B, 1>| nce_i(contrast.positive.clone(), log_noise, negatives);
        let (old, new) = (&contrast.log_noise_old, &contrast.log_noise_new);
        let log_r = log_change_ratio(contrast, negatives);
        Self {
            // Eq. (1)
            old: nce(old.clone()),
            new: nce(new.clone()),
            // Eq. (2) with Eq. (27)
            all: nce(log_mixed_noise(old.clone(), new.clone(), alpha)),
            nce_ii: nce_ii(log_r.clone(), alpha),
            log_change_ratio: log_r,
        }
    }

    /// Computes the bias of a strategy on anchors of one origin, in nats: the loss of the strategy minus
    /// the loss of retraining, L^{I,X′} `[n]`.
    ///
    /// ```text
    ///              X                                  ΔX
    /// inference    L^{I,X} − L^{I,X′} = −log r^{X→X′}  0 − L^{I,X′}
    /// fine-tuning  L^{I,X} − L^{I,X′}                  L^{I,ΔX} − L^{I,X′} = −log r^{ΔX→X′}
    /// retraining   0                                   0
    /// ICL          L^{I,X} + L^{II} − L^{I,X′} = 0     0
    /// ```
    ///
    /// with r of Eq. 6, so that log r^{X→X′} is L^{II}.
    ///
    /// The signs deviate from the paper's. Table 2 has +log r in these cells; its proof takes the
    /// differences as they are here, but calls their ratios r (Eq. 36, 40), although they are the
    /// reciprocals of Eq. 6. Table 2 also gives inference on ΔX as +L^{I,X′}. Here all cells have the
    /// same sign convention. The bias of ICL on X is computed, not assumed: it is the residual of
    /// Theorem 1, 0 to rounding.
    pub fn bias(&self, strategy: Strategy, origin: Origin) -> Tensor<B, 1> {
        let all = self.all.clone();
        match (strategy, origin) {
            (Strategy::Inference | Strategy::FineTuning, Origin::Old) => self.old.clone() - all,
            (Strategy::Inference, Origin::New) => all.neg(),
            (Strategy::FineTuning, Origin::New) => self.new.clone() - all,
            (Strategy::Icl, Origin::Old) => self.old.clone() + self.nce_ii.clone() - all,
            (Strategy::Retraining, _) | (Strategy::Icl, Origin::New) => all * 0.0,
        }
    }
}
