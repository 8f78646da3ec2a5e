//! NT-Xent, the loss of SimCLR (Chen et al., 2020), which the DACL paper trains with (its Algorithm 1).

use std::ops::Range;

use burn::config::Config;
use burn::tensor::{Tensor, backend::Backend};
use icl_kernels::rows::{LeftOut, log_sum_exp};

use super::info_nce::nce_i;
use crate::Error;
use crate::contrast::log_space::softplus;
use crate::contrast::similarity::normalize;
use crate::contrast::terms::{positive_logits, some};
use crate::error::check_loss;

/// Configuration of [`NtXent`].
#[derive(Config, Debug)]
pub struct NtXentConfig {
    /// Temperature τ, a finite number above 0.
    #[config(default = 0.5)]
    pub temperature: f64,
    /// Number of negatives K, a finite number above 0; by default the number of noise samples, which is
    /// 2N − 2 in a batch of N pairs, as published. Another K is a factor of their mean.
    #[config(default = "None")]
    pub negatives: Option<f64>,
}

impl NtXentConfig {
    /// Creates the loss.
    ///
    /// # Errors
    /// [`Error`] if τ or K is not a finite number above 0.
    pub fn try_init(&self) -> Result<NtXent, Error> {
        check_loss(self.temperature, self.negatives)?;
        Ok(NtXent {
            temperature: self.temperature,
            negatives: self.negatives,
        })
    }

    /// Creates the loss.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init(&self) -> NtXent {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// NT-Xent: NCE-I (Definition 2) whose noise is both views of all other samples, with every view an anchor.
///
/// ```text
/// ℓ(i, j) = −log( exp(s_ij) / Σ_{k ≠ i} exp(s_ik) ), s = cos/τ      DACL, Eq. 2 and Algorithm 1, line 20
///         = softplus(log K + log E f⁻ − s_ij)                        as NCE-I, with K = 2N − 2 and
/// E f⁻    = 1/(2N − 2)·Σ_{k ∉ {i, j}} exp(s_ik)
/// ```
///
/// ```
/// use burn::tensor::Tensor;
/// use icl_core::NtXentConfig;
/// type B = burn::backend::Flex;
///
/// let same = Tensor::<B, 2>::ones([4, 3], &Default::default());
/// let loss = NtXentConfig::new().init().forward(same.clone(), same);
/// assert!((loss.into_scalar() - 7_f32.ln()).abs() < 1e-6); // log(2N − 1)
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NtXent {
    temperature: f64,
    negatives: Option<f64>,
}

impl NtXent {
    /// Computes the mean loss over the 2N views of N pairs: `[n, d]`, `[n, d]` → `[1]`, in nats.
    ///
    /// # Panics
    /// If the shapes differ or n < 2.
    pub fn forward<B: Backend>(&self, first: Tensor<B, 2>, second: Tensor<B, 2>) -> Tensor<B, 1> {
        self.forward_no_reduction(first, second).mean()
    }

    /// Computes the loss of each view, those of `first` before those of `second`: `[n, d]`, `[n, d]` →
    /// `[2·n]`, in nats.
    ///
    /// # Panics
    /// If the shapes differ or n < 2.
    pub fn forward_no_reduction<B: Backend>(
        &self,
        first: Tensor<B, 2>,
        second: Tensor<B, 2>,
    ) -> Tensor<B, 1> {
        let rows = 0..first.dims()[0];
        self.forward_rows(first, second, rows)
    }

    /// Computes the loss of both views of some pairs of a batch, those of n′ `rows`, in the order of
    /// [`forward_no_reduction`](Self::forward_no_reduction): `[n, d]`, `[n, d]` → `[2·n′]`, in nats. All pairs are
    /// noise.
    ///
    /// # Panics
    /// If the shapes differ, n < 2 or a row does not exist.
    pub fn forward_rows<B: Backend>(
        &self,
        first: Tensor<B, 2>,
        second: Tensor<B, 2>,
        rows: Range<usize>,
    ) -> Tensor<B, 1> {
        let [n, _] = first.dims();
        assert_eq!(
            first.dims(),
            second.dims(),
            "first (left) and second views (right) must have the same shape"
        );
        assert!(
            n >= 2,
            "NT-Xent needs a batch of at least 2 pairs, found {n}"
        );
        let n_noise = (2 * n - 2) as f64;
        let views = [first, second].map(normalize);
        let anchors = views.each_ref().map(|views| some(views.clone(), &rows));
        let [first, second] = anchors.clone();
        let positive = positive_logits(first, second, self.temperature);
        let of_anchors = |anchors: &Tensor<B, 2>| {
            let log_sums = views.each_ref().map(|noise| {
                log_sum_exp(
                    anchors.clone(),
                    noise.clone(),
                    self.temperature,
                    LeftOut::Own(-(rows.start as isize)),
                )
            });
            let [of_first, of_second] = log_sums;
            // log(exp(a) + exp(b)) = a + softplus(b − a)
            let log_noise = of_first.clone() + softplus(of_second - of_first) - n_noise.ln();
            let negatives = self.negatives.unwrap_or(n_noise);
            // Eq. (2) of DACL
            nce_i(positive.clone(), log_noise, negatives)
        };
        Tensor::cat(anchors.each_ref().map(of_anchors).to_vec(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
    use burn::tensor::TensorData;
    use rand::RngExt;

    fn draw(n: usize, d: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Seed::new(seed).rng();
        (0..n)
            .map(|_| (0..d).map(|_| rng.random::<f64>() - 0.5).collect())
            .collect()
    }

    fn tensor<B: Backend>(rows: &[Vec<f64>]) -> Tensor<B, 2> {
        let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
        Tensor::from_data(data, &Default::default())
    }

    /// Algorithm 1 of the paper, lines 17 to 20, in its order of rows: 2k − 1 and 2k are a pair.
    fn algorithm_1(first: &[Vec<f64>], second: &[Vec<f64>], tau: f64) -> Vec<f64> {
        let n = first.len();
        let z: Vec<&Vec<f64>> = (0..2 * n)
            .map(|row| [first, second][row % 2].get(row / 2).unwrap())
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let s =
            |i: usize, j: usize| dot(z[i], z[j]) / (dot(z[i], z[i]) * dot(z[j], z[j])).sqrt() / tau;
        let l = |i: usize, j: usize| {
            let others = (0..2 * n).filter(|&k| k != i);
            -(s(i, j).exp() / others.map(|k| s(i, k).exp()).sum::<f64>()).ln()
        };
        let of = |side: usize| (0..n).map(move |k| (2 * k + side, 2 * k + 1 - side));
        of(0).chain(of(1)).map(|(i, j)| l(i, j)).collect()
    }

    #[test]
    fn it_is_the_double_loop_of_algorithm_1() {
        let (first, second) = (draw(6, 4, 1), draw(6, 4, 2));
        for tau in [0.1, 0.5, 1.0] {
            let loss = NtXentConfig::new().with_temperature(tau).init();
            let losses = loss.forward_no_reduction(tensor::<TestBackend>(&first), tensor(&second));
            let expected = algorithm_1(&first, &second, tau);
            assert_close(&to_vec(&losses), &expected, 1e-5);
            let mean = expected.iter().sum::<f64>() / 12.0;
            let forward = loss.forward(tensor::<TestBackend>(&first), tensor(&second));
            assert_close(&to_vec(&forward), &[mean], 1e-5);
        }
    }

    #[test]
    fn closed_forms() {
        let n = 5;
        for tau in [0.01_f64, 0.1, 0.5, 1.0] {
            let loss = NtXentConfig::new().with_temperature(tau).init();
            let of = |rows: &[Vec<f64>]| {
                let rows = tensor::<TestBackend>(rows);
                to_vec(&loss.forward(rows.clone(), rows))[0]
            };
            let parallel = of(&vec![vec![0.3, -0.4]; n]);
            assert_close(&[parallel], &[(2.0 * n as f64 - 1.0).ln()], 1e-5);
            let one_hot: Vec<Vec<f64>> = (0..n)
                .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
                .collect();
            let expected = ((2.0 * n as f64 - 2.0) * (-1.0 / tau).exp()).ln_1p();
            let found = of(&one_hot);
            assert!(
                (found - expected).abs() <= 1e-6 + 1e-5 * expected,
                "{found} {expected}"
            );
        }
    }

    /// The mean of two NCE-I, one for each view as anchor, whose noise is explicit.
    #[test]
    fn it_is_nce_i_over_the_joint_noise() {
        use crate::InfoNceConfig;
        let (first, second) = (draw(4, 3, 5), draw(4, 3, 6));
        for negatives in [None, Some(31.0)] {
            let config = InfoNceConfig::new().with_negatives(negatives.or(Some(6.0)));
            let one = |row: usize, [anchors, positives]: [&[Vec<f64>]; 2]| {
                let others = (0..4).filter(|&other| other != row);
                let noise: Vec<Vec<f64>> = others
                    .flat_map(|other| [first[other].clone(), second[other].clone()])
                    .collect();
                let loss = config
                    .clone()
                    .with_temperature(0.5)
                    .init()
                    .forward_with_negatives(
                        tensor::<TestBackend>(&anchors[row..=row]),
                        tensor(&positives[row..=row]),
                        tensor(&noise),
                    );
                to_vec(&loss)[0]
            };
            let expected: Vec<f64> = [[&first[..], &second], [&second, &first]]
                .iter()
                .flat_map(|&sides| (0..4).map(move |row| (row, sides)))
                .map(|(row, sides)| one(row, sides))
                .collect();
            let loss = NtXentConfig::new().with_negatives(negatives).init();
            let found = loss.forward_no_reduction(tensor::<TestBackend>(&first), tensor(&second));
            assert_close(&to_vec(&found), &expected, 1e-5);
        }
    }

    #[test]
    fn the_order_of_samples_does_not_matter() {
        let (first, second) = (draw(5, 3, 7), draw(5, 3, 8));
        let turned = |rows: &[Vec<f64>]| [&rows[2..], &rows[..2]].concat();
        let loss = NtXentConfig::new().init();
        let here = loss.forward(tensor::<TestBackend>(&first), tensor(&second));
        let there = loss.forward(
            tensor::<TestBackend>(&turned(&first)),
            tensor(&turned(&second)),
        );
        assert_close(&to_vec(&here), &to_vec(&there), 1e-6);
    }

    /// Against central differences of Algorithm 1's double loop in double precision.
    #[test]
    fn the_gradient_is_that_of_the_double_loop() {
        let views = [draw(4, 3, 9), draw(4, 3, 10)];
        let tau = 0.2;
        let leaves = views
            .each_ref()
            .map(|rows| tensor::<TestAutodiff>(rows).require_grad());
        let loss = NtXentConfig::new().with_temperature(tau).init();
        let gradients = loss
            .forward(leaves[0].clone(), leaves[1].clone())
            .backward();
        let value = |views: &[Vec<Vec<f64>>; 2]| {
            algorithm_1(&views[0], &views[1], tau).iter().sum::<f64>() / 8.0
        };
        for side in 0..2 {
            let found = to_vec(&leaves[side].grad(&gradients).unwrap());
            for at in 0..12 {
                let moved = |by: f64| {
                    let mut views = views.clone();
                    views[side][at / 3][at % 3] += by;
                    value(&views)
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let error = (found[at] - expected).abs();
                assert!(error < 1e-5 * expected.abs().max(1.0), "{at} {error}");
            }
        }
    }

    #[test]
    #[should_panic = "NT-Xent needs a batch of at least 2 pairs, found 1"]
    fn one_pair_has_no_negative() {
        let row = Tensor::<TestBackend, 2>::ones([1, 3], &Default::default());
        NtXentConfig::new().init().forward(row.clone(), row);
    }

    #[test]
    fn wrong_numbers_are_errors() {
        let error = |config: NtXentConfig| config.try_init().unwrap_err().to_string();
        let config = NtXentConfig::new;
        assert_eq!(
            error(config().with_temperature(0.0)),
            "temperature: found 0, expected a number above 0"
        );
        assert_eq!(
            error(config().with_negatives(Some(f64::NAN))),
            "negatives (K): found NaN, expected a number above 0"
        );
    }
}
