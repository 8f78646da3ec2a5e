//! Division of the data of a seed: samples of the training, and others that are held out.

use anyhow::anyhow;
use icl_core::{Error, GrowthRatio, Increment, Seed};

use crate::options::evaluation::HoldOutOptions;
use crate::process::failure::Failure;

/// Rule by which the data of each seed are divided, by a draw of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct DivisionRule {
    /// Number of old and of new samples that are held out; `None` for a share of them.
    pub hold_out_samples: Option<usize>,
    /// Growth ratio of what is left for the training; `None` for all of it.
    pub alpha: Option<GrowthRatio>,
}

impl DivisionRule {
    /// Divides the data. The held-out samples get the growth ratio of the training samples, so that both risks are
    /// under the same noise distribution: an old sample counts as several, or some old samples are left out.
    ///
    /// # Errors
    /// If there are too few samples.
    pub fn divide(
        &self,
        increment: Increment,
        options: &HoldOutOptions,
        seed: Seed,
    ) -> Result<(Increment, Option<Increment>), Failure> {
        let (n_old, n_new) = (increment.old().len(), increment.new_data().len());
        let (trained, held_out) = match self.hold_out_samples {
            None => options.draw(increment, seed)?,
            Some(n) => {
                let divided = increment.hold_out_each(n, seed.child("hold-out"));
                let (trained, held_out) = divided.map_err(|_| {
                    Failure::input(anyhow!(
                        "hold-out-samples: found {n} with {n_old} old and {n_new} new samples, expected from 2 to \
                         {}, so that two of each are left for the training",
                        n_old.min(n_new).saturating_sub(2)
                    ))
                })?;
                (trained, Some(held_out))
            }
        };
        let trained = match self.alpha {
            None => trained,
            Some(alpha) => {
                let thinned = trained.thinned(alpha, seed.child("alpha"));
                thinned.map_err(|error| of_alpha(alpha, &error))?
            }
        };
        if self.hold_out_samples.is_none() && self.alpha.is_none() {
            return Ok((trained, held_out));
        }
        let alpha = trained.growth_ratio();
        let held_out = held_out.map(|it| with_growth_ratio(it, alpha, seed));
        Ok((trained, held_out.transpose()?))
    }
}

/// Returns held-out samples with a growth ratio.
fn with_growth_ratio(
    held_out: Increment,
    alpha: GrowthRatio,
    seed: Seed,
) -> Result<Increment, Failure> {
    // α = n_new / (n_new + weight·n_old). A weight below 1 is not valid: then old samples are left out instead.
    let odds = (1.0 - alpha.value()) / alpha.value();
    let weight = odds * held_out.new_data().len() as f64 / held_out.old().len() as f64;
    let weighted = match weight >= 1.0 {
        true => held_out.with_old_weight(weight),
        false => held_out.thinned(alpha, seed.child("hold-out")),
    };
    weighted.map_err(|error| of_alpha(alpha, &error))
}

/// Names the option at fault for too few samples.
fn of_alpha(alpha: GrowthRatio, error: &Error) -> Failure {
    Failure::input(anyhow!("alpha: found {}: {error}", alpha.value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(
        n: Option<usize>,
        alpha: Option<f64>,
    ) -> Result<(Increment, Option<Increment>), Failure> {
        let increment = Increment::try_new((0..900).collect(), (900..1500).collect()).unwrap();
        let rule = DivisionRule {
            hold_out_samples: n,
            alpha: alpha.map(|alpha| GrowthRatio::try_new(alpha).unwrap()),
        };
        let options = HoldOutOptions {
            hold_out: Some(0.1),
            evaluation_samples: 2048,
        };
        rule.divide(increment, &options, Seed::new(1))
    }

    fn numbers(of: &Increment) -> (usize, usize) {
        (of.old().len(), of.new_data().len())
    }

    #[test]
    fn held_out_samples_have_the_growth_ratio_of_the_training() {
        for (n, alpha, trained, held_out) in [
            (Some(100), None, (800, 500), (100, 100)),
            (Some(100), Some(0.1), (800, 89), (100, 100)),
            (Some(100), Some(0.8), (125, 500), (25, 100)),
            (None, Some(0.1), (810, 90), (90, 60)),
        ] {
            let (found, of_held_out) = divided(n, alpha).unwrap();
            let of_held_out = of_held_out.unwrap();
            assert_eq!(numbers(&found), trained);
            assert_eq!(numbers(&of_held_out), held_out);
            let [one, other] = [&found, &of_held_out].map(|it| it.growth_ratio().value());
            // Numbers of samples are whole.
            assert!((one - other).abs() < 1e-3, "{one} and {other}");
            let mut all = [found.all(), of_held_out.all()].concat();
            all.sort_unstable();
            all.dedup();
            let n = trained.0 + trained.1 + held_out.0 + held_out.1;
            assert_eq!(all.len(), n, "no sample is on both sides");
        }
    }

    #[test]
    fn without_a_number_and_a_growth_ratio_a_share_is_held_out() {
        let (trained, held_out) = divided(None, None).unwrap();
        let held_out = held_out.unwrap();
        assert_eq!(
            (numbers(&trained), numbers(&held_out)),
            ((810, 540), (90, 60))
        );
        assert_eq!(held_out.old_weight(), 1.0);
    }

    #[test]
    fn too_few_samples_are_an_error() {
        for n in [0, 1, 599, 900, usize::MAX] {
            let error = divided(Some(n), None).unwrap_err().to_string();
            let expected = format!(
                "hold-out-samples: found {n} with 900 old and 600 new samples, expected from 2 to 598,"
            );
            assert!(error.starts_with(&expected), "{error}");
        }
        assert!(divided(Some(598), None).is_ok());
        for alpha in [0.0, 1e-4, 0.999, 1.0] {
            let error = divided(Some(100), Some(alpha)).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("alpha: found {alpha}: ")),
                "{error}"
            );
        }
    }
}
