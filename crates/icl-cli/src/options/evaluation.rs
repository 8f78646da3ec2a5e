//! Options of what is measured.

use anyhow::anyhow;
use clap::Args;
use icl_core::{ErrorKind, Increment, Seed};
use icl_train::TrainingSettings;
use serde::Serialize;

use crate::options::bounds;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Share of the samples that are held out.
const HOLD_OUT: f64 = 0.1;

/// Samples that no training sees.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Evaluation")]
pub struct HoldOutOptions {
    /// Share of the old and of the new samples that no training, no statistic and no stopping rule sees, and
    /// over which the held-out risk is computed; 0 for none
    #[arg(long, value_name = "SHARE", default_value_t = HOLD_OUT)]
    pub hold_out: f64,
    /// Maximum number of samples over which a risk is computed at the end, of those held out and of those of the
    /// training
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::SAMPLES),
        default_value_t = TrainingSettings::default().evaluation_samples,
        alias = "panel"
    )]
    pub evaluation_samples: usize,
}

impl HoldOutOptions {
    /// Checks the numbers.
    ///
    /// # Errors
    /// At the first that is not valid.
    pub fn check(&self) -> Result<(), Failure> {
        if !(0.0..1.0).contains(&self.hold_out) {
            return Err(Failure::input(anyhow!(
                "hold-out: found {}, expected a share from 0 to below 1",
                self.hold_out
            )));
        }
        if self.evaluation_samples < 4 {
            return Err(Failure::input(anyhow!(
                "evaluation-samples: found {}, expected at least 4",
                self.evaluation_samples
            )));
        }
        Ok(())
    }

    /// Divides the data into those of the training and held-out samples, if there are to be any. Tells if a part has too
    /// few samples to hold any out.
    ///
    /// # Errors
    /// If the share is not valid.
    pub fn divide(
        &self,
        increment: Increment,
        seed: Seed,
    ) -> Result<(Increment, Option<Increment>), Failure> {
        if self.hold_out == 0.0 {
            return Ok((increment, None));
        }
        let seed = seed.child("hold-out");
        match increment.hold_out(self.hold_out, seed) {
            Ok((rest, held_out)) => Ok((
                rest,
                Some(held_out.at_most(self.evaluation_samples, seed.child("panel"))),
            )),
            Err(error) if error.kind() == ErrorKind::TooFew => {
                tell(format_args!(
                    "note: {} old and {} new samples are too few to hold any out: no held-out risk",
                    increment.old().len(),
                    increment.new_data().len()
                ));
                Ok((increment, None))
            }
            Err(error) => Err(Failure::input(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_out_samples_are_at_most_as_large_as_asked_for() {
        let increment = Increment::try_new((0..800).collect(), (800..1000).collect()).unwrap();
        let divided = |hold_out, evaluation_samples| {
            let options = HoldOutOptions {
                hold_out,
                evaluation_samples,
            };
            options.check().unwrap();
            options.divide(increment.clone(), Seed::new(1)).unwrap()
        };
        let (rest, held_out) = divided(0.1, 50);
        assert_eq!((rest.old().len(), rest.new_data().len()), (720, 180));
        let held_out = held_out.unwrap();
        assert_eq!((held_out.old().len(), held_out.new_data().len()), (40, 10));
        assert_eq!(divided(0.0, 50), (increment.clone(), None));
        let few = Increment::try_new((0..800).collect(), vec![900, 901, 902]).unwrap();
        let options = HoldOutOptions {
            hold_out: 0.1,
            evaluation_samples: 50,
        };
        let divided = options.divide(few.clone(), Seed::new(1)).unwrap();
        assert_eq!(divided, (few, None));
    }
}
