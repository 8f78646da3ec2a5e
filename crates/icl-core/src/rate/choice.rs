//! The rate axis: sources of the learning rate.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Source of the learning rate.
///
/// Every choice starts from a base learning rate lr of the settings: that of the update, or lr_s for the
/// inner steps of meta-optimization (Eq. 11), which have a policy of their own.
/// [`Cosine`](Self::Cosine), [`WarmupCosine`](Self::WarmupCosine), [`MetaDecay`](Self::MetaDecay) and
/// [`Hypergradient`](Self::Hypergradient) are controls for the learned rates: they also change the rate
/// during a run, without an agent.
///
/// The text of a choice (`Display`, `FromStr`) is given in parentheses below.
///
/// ```
/// use icl_core::RateChoice;
///
/// assert_eq!("cosine".parse(), Ok(RateChoice::Cosine));
/// assert_eq!(RateChoice::LearnedAsPublished.to_string(), "learned-published");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateChoice {
    /// The base learning rate in every step (`fixed`).
    Fixed,
    /// Half a cosine from the base learning rate to 0 over the maximum number of epochs (`cosine`;
    /// Loshchilov and Hutter, 2017, without restarts).
    ///
    /// ```text
    /// lr(t) = lr·(1 + cos(π·t/T))/2
    /// ```
    Cosine,
    /// A rise over the first twentieth of a run whose length is known, then a linear fall to 0 at its end (`linear`). A
    /// run's length is known under a budget, and where no rule ends it before its last epoch; the rate of other runs is
    /// fixed.
    ///
    /// ```text
    /// lr(c) = lr·min(1, (c + 0.01)/0.05)·(1 − c)        c = share of the run that is done, from 0 to 1
    /// ```
    Linear,
    /// Linear warm-up to the base learning rate over the first tenth of the steps, then half a cosine to 0
    /// (`warmup-cosine`; Chen et al., 2020, and Verma et al., 2021, section 5.2).
    ///
    /// ```text
    /// lr(t) = lr·(t + 1)/W                          t < W = ⌈T/10⌉
    /// lr(t) = lr·(1 + cos(π·(t − W)/(T − W)))/2     t ≥ W
    /// ```
    ///
    /// The papers warm up over the first 10 of 100 (ImageNet) or 1000 epochs; a share of the steps suits
    /// short runs, too. Chen et al. start at a rate of 0, at which the first step moves nothing.
    WarmupCosine,
    /// The schedule of [`WarmupCosine`](Self::WarmupCosine) with a peak that falls over the updates of a stream
    /// (`meta-decay`; after TiC-LM, Li et al., 2025, whose code has it as a schedule of the maximum learning rate). It
    /// is the rate that one cosine over all steps so far and those of this run would have at the end of this run's
    /// warm-up.
    ///
    /// ```text
    /// peak = lr·(1 + cos(π·P/(P + T − W)))/2        P steps before this run, T of this run, W = ⌈T/10⌉
    /// ```
    ///
    /// P comes from [`Schedule::after_steps`](crate::Schedule::after_steps); with P = 0 it is
    /// [`WarmupCosine`](Self::WarmupCosine). Runs of equal length have the peaks 1, 0.46, 0.22 and 0.13 of lr. T is the
    /// maximum number of steps: where a rule ends runs long before, the steps that were done are few compared with it,
    /// and the peak hardly falls. Deviation: both cosines of TiC-LM end at 3 % of the first rate, those here at 0.
    MetaDecay,
    /// Hypergradient descent (`hypergradient`; Baydin et al., 2018): the rate grows while the gradient
    /// points in the direction of the last step, and falls while it points against it.
    ///
    /// ```text
    /// lr ← lr·(1 + 0.02·cos(∇L(θ_t), θ_{t−1} − θ_t))
    /// ```
    Hypergradient,
    /// DDPG agents with the state, action and reward of the paper (`learned-published`; Eq. 13–15).
    ///
    /// ```text
    /// s_t = L_t        lr_t = lr·max(1 + a_t, 0.001), a_t ∈ [−1, 1]        r_t = L_t − L_{t+1}
    /// ```
    ///
    /// The rewards of a run sum to a difference of two losses, and each is dominated by the noise of the
    /// batches.
    #[serde(rename = "learned-published")]
    LearnedAsPublished,
    /// DDPG agents with a normalised state, a logarithmic action and a paired reward (`learned`; not in
    /// the paper): the reward compares the losses of one batch before and after the agent's last action.
    ///
    /// ```text
    /// lr_t = lr·10^(d·a), a ∈ [−1, 1], chosen every 8 steps        d = 1, or 2.5 for inner steps by SGD
    /// ```
    Learned,
}

impl RateChoice {
    const ALL: [Self; 8] = [
        Self::Fixed,
        Self::Cosine,
        Self::Linear,
        Self::WarmupCosine,
        Self::MetaDecay,
        Self::Hypergradient,
        Self::LearnedAsPublished,
        Self::Learned,
    ];
}

impl fmt::Display for RateChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixed => "fixed",
            Self::Cosine => "cosine",
            Self::Linear => "linear",
            Self::WarmupCosine => "warmup-cosine",
            Self::MetaDecay => "meta-decay",
            Self::Hypergradient => "hypergradient",
            Self::LearnedAsPublished => "learned-published",
            Self::Learned => "learned",
        })
    }
}

impl FromStr for RateChoice {
    /// List of the valid texts.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_it = |choice: &Self| choice.to_string() == text;
        Self::ALL.into_iter().find(is_it).ok_or(
            "fixed, cosine, linear, warmup-cosine, meta-decay, hypergradient, learned-published or learned",
        )
    }
}
