//! The optimizers of a linear classifier.

use nalgebra::DMatrix;

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-8;
const MOMENTUM: f64 = 0.9;
const TRUST: f64 = 0.001;

/// Optimizer of a linear classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DescentRule {
    /// Adam (Kingma and Ba, 2015) with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8.
    Adam,
    /// Layer-wise adaptive rate scaling (You et al., 2017) in the form of SimCLR's code (Chen et al.,
    /// 2020), without weight decay. Intercepts are not scaled (t = 1).
    ///
    /// ```text
    /// t = 0.001·‖W‖/‖g‖, or 1 if ‖W‖ or ‖g‖ is 0        v ← 0.9·v + lr·t·g        W ← W − v
    /// ```
    Lars,
}

/// Course of the learning rate over the updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RateDecay {
    /// The same rate in every update.
    Constant,
    /// Half a cosine from the rate to 0 (Loshchilov and Hutter, 2017, without restarts).
    ///
    /// ```text
    /// lr(t) = lr·(1 + cos(π·t/T))/2        t = update, counted from 0, of T
    /// ```
    Cosine,
}

impl RateDecay {
    /// Returns the factor of the learning rate in one of `n_updates` updates.
    pub(super) fn factor(self, update: usize, n_updates: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => {
                let share = update as f64 / n_updates as f64;
                (1.0 + (std::f64::consts::PI * share).cos()) / 2.0
            }
        }
    }
}

/// Optimizer of the parameters `[d + 1, classes]` of several classifiers, side by side, with its state.
///
/// The last row contains the intercepts. Each classifier has its own learning rate and is a parameter
/// tensor of its own.
pub(super) struct Descending {
    rule: DescentRule,
    n_classes: usize,
    n_updates: i32,
    /// First moments of Adam, velocity of LARS.
    first: DMatrix<f64>,
    /// Second moments of Adam.
    second: DMatrix<f64>,
}

impl Descending {
    /// Creates the state before the first update of parameters of this shape.
    pub(super) fn new(rule: DescentRule, n_classes: usize, shape: (usize, usize)) -> Self {
        let zeros = || DMatrix::zeros(shape.0, shape.1);
        Self {
            rule,
            n_classes,
            n_updates: 0,
            first: zeros(),
            second: zeros(),
        }
    }

    /// Updates the parameters, with one learning rate for each classifier.
    pub(super) fn update(
        &mut self,
        rates: &[f64],
        parameters: &mut DMatrix<f64>,
        gradient: &DMatrix<f64>,
    ) {
        self.n_updates += 1;
        let n_rows = parameters.nrows();
        // Columns are contiguous, and so is the block of each classifier.
        let size = n_rows * self.n_classes;
        let blocks = parameters
            .as_mut_slice()
            .chunks_exact_mut(size)
            .zip(gradient.as_slice().chunks_exact(size))
            .zip(self.first.as_mut_slice().chunks_exact_mut(size))
            .zip(self.second.as_mut_slice().chunks_exact_mut(size));
        for ((((parameters, gradient), first), second), &rate) in blocks.zip(rates) {
            match self.rule {
                DescentRule::Adam => {
                    adam(rate, self.n_updates, parameters, gradient, first, second);
                }
                DescentRule::Lars => lars(rate, n_rows, parameters, gradient, first),
            }
        }
    }
}

/// Makes update number `time` of Adam.
fn adam(
    rate: f64,
    time: i32,
    parameters: &mut [f64],
    gradient: &[f64],
    first: &mut [f64],
    second: &mut [f64],
) {
    // Kingma and Ba (2015), Algorithm 1, with both bias corrections taken out of the loop.
    let rate = rate / (1.0 - BETA_1.powi(time));
    let scale = (1.0 - BETA_2.powi(time)).recip();
    let moments = first.iter_mut().zip(second);
    for ((parameter, g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
        *m = BETA_1 * *m + (1.0 - BETA_1) * g;
        *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
        *parameter -= rate * *m / ((*v * scale).sqrt() + EPSILON);
    }
}

/// Makes an update of LARS to columns of `n_rows` parameters, the last of each an intercept.
fn lars(rate: f64, n_rows: usize, parameters: &mut [f64], gradient: &[f64], velocity: &mut [f64]) {
    let length = |values: &[f64]| {
        let weights = values
            .chunks_exact(n_rows)
            .flat_map(|column| &column[..n_rows - 1]);
        weights.map(|w| w * w).sum::<f64>().sqrt()
    };
    let (of_weights, of_gradient) = (length(parameters), length(gradient));
    // With ‖W‖ = 0 the weights would never move, and with ‖g‖ = 0 the quotient has no value.
    let trust = if of_weights > 0.0 && of_gradient > 0.0 {
        TRUST * of_weights / of_gradient
    } else {
        1.0
    };
    let values = parameters.iter_mut().zip(gradient).zip(velocity);
    for (place, ((parameter, g), v)) in values.enumerate() {
        // As in SimCLR's code, intercepts are not scaled.
        let is_intercept = (place + 1) % n_rows == 0;
        let step = if is_intercept { rate } else { rate * trust };
        *v = MOMENTUM * *v + step * g;
        *parameter -= *v;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_falls_from_1_to_nearly_0() {
        assert_eq!(RateDecay::Cosine.factor(0, 8), 1.0);
        assert!((RateDecay::Cosine.factor(4, 8) - 0.5).abs() < 1e-15);
        assert!(RateDecay::Cosine.factor(8, 8).abs() < 1e-15);
        assert_eq!(RateDecay::Constant.factor(7, 8), 1.0);
    }

    #[test]
    fn weights_of_0_take_a_plain_step_and_intercepts_always_do() {
        let gradient = DMatrix::from_column_slice(3, 2, &[0.1, 0.2, 0.3, 0.0, 0.0, -0.4]);
        let mut parameters = DMatrix::zeros(3, 2);
        let mut rule = Descending::new(DescentRule::Lars, 2, (3, 2));
        rule.update(&[2.0], &mut parameters, &gradient);
        let expected = DMatrix::from_column_slice(3, 2, &[-0.2, -0.4, -0.6, 0.0, 0.0, 0.8]);
        assert!((&parameters - expected).amax() < 1e-15);
        // ‖W‖ is twice ‖g‖ now, and the velocity as long as W.
        rule.update(&[2.0], &mut parameters, &gradient);
        let weight = -0.2 - 0.9 * 0.2 - 2.0 * 0.002 * 0.1;
        assert!((parameters[0] - weight).abs() < 1e-15);
        assert!((parameters[2] - (-0.6 - 0.9 * 0.6 - 0.6)).abs() < 1e-15);
    }
}
