//! Settings of linear classifiers that are trained for a fixed number of epochs.

use icl_core::Seed;

use super::fit::Recipe;
use super::rule::{DescentRule, RateDecay};
use crate::EvalError;
use crate::cross_validation::{checked_grid, checked_n_folds};

/// Settings of [`DescentProbe`](crate::DescentProbe).
#[derive(Debug, Clone, PartialEq)]
pub struct DescentProbeConfig {
    pub(super) recipe: Recipe,
    pub(super) rates: Vec<f64>,
    pub(super) n_folds: usize,
    pub(super) n_inner_folds: usize,
    pub(super) seed: Seed,
}

impl DescentProbeConfig {
    /// Returns the classifier of InfoGraph's code (Sun et al., 2020, `logistic_classify`), which DACL
    /// follows on graphs (Verma et al., 2021, section 5.3): 100 updates by Adam on all samples at once, 10
    /// folds. The learning rates to choose from are those of DACL, 10⁻⁴, 10⁻³ and 10⁻²; InfoGraph's is
    /// 10⁻².
    pub fn info_graph() -> Self {
        Self {
            recipe: Recipe {
                rule: DescentRule::Adam,
                decay: RateDecay::Constant,
                n_epochs: 100,
                batch_size: None,
            },
            rates: vec![1e-4, 1e-3, 1e-2],
            n_folds: 10,
            n_inner_folds: 5,
            seed: Seed::new(0),
        }
    }

    /// Returns the classifier of DACL's tables (Verma et al., 2021, section 5.1): 200 epochs in batches of
    /// 256 by LARS, with a learning rate of 0.1 that falls as a cosine, without weight decay. The paper
    /// tests on the test set of the data; the number of folds is the usual 5.
    ///
    /// For images the paper prints the same with a learning rate of 1 (section 5.2).
    pub fn dacl_tables() -> Self {
        Self {
            recipe: Recipe {
                rule: DescentRule::Lars,
                decay: RateDecay::Cosine,
                n_epochs: 200,
                batch_size: Some(256),
            },
            rates: vec![0.1],
            n_folds: 5,
            n_inner_folds: 5,
            seed: Seed::new(0),
        }
    }

    /// Sets the optimizer.
    pub fn with_rule(mut self, rule: DescentRule) -> Self {
        self.recipe.rule = rule;
        self
    }

    /// Sets the course of the learning rate.
    pub fn with_decay(mut self, decay: RateDecay) -> Self {
        self.recipe.decay = decay;
        self
    }

    /// Sets the number of epochs, which is that of updates if a batch contains all samples.
    pub fn with_n_epochs(mut self, n_epochs: usize) -> Self {
        self.recipe.n_epochs = n_epochs;
        self
    }

    /// Sets the batch size. `None` is all training samples; otherwise the last batch of an epoch has what
    /// is left.
    pub fn with_batch_size(mut self, batch_size: Option<usize>) -> Self {
        self.recipe.batch_size = batch_size;
        self
    }

    /// Sets the learning rates to choose from, ascending. If there is a single one, nothing is chosen and
    /// there are no inner folds.
    pub fn with_rates(self, rates: Vec<f64>) -> Self {
        Self { rates, ..self }
    }

    /// Sets the number of outer folds.
    pub fn with_n_folds(self, n_folds: usize) -> Self {
        Self { n_folds, ..self }
    }

    /// Sets the number of inner folds.
    pub fn with_n_inner_folds(self, n_inner_folds: usize) -> Self {
        Self {
            n_inner_folds,
            ..self
        }
    }

    /// Sets the seed of first weights and batches.
    pub fn with_seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// Returns the settings if they are valid.
    ///
    /// # Errors
    /// As [`try_init`](Self::try_init).
    pub(super) fn checked(self) -> Result<Self, EvalError> {
        let Ok(rates) = checked_grid(self.rates.clone()) else {
            return Err(EvalError::Rates { found: self.rates });
        };
        let counts = [
            ("epochs", Some(self.recipe.n_epochs)),
            ("batch size", self.recipe.batch_size),
        ];
        for (setting, count) in counts {
            if count == Some(0) {
                return Err(EvalError::Zero { setting });
            }
        }
        let n_folds = checked_n_folds(self.n_folds)?;
        let n_inner_folds = checked_n_folds(self.n_inner_folds)?;
        Ok(Self {
            rates,
            n_folds,
            n_inner_folds,
            ..self
        })
    }
}
