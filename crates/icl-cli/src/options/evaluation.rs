//! Options of what is measured.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{ArgAction, Args};
use icl_core::{ErrorKind, Increment, Seed};
use icl_data::ContentHash;
use icl_report::HoldOutRule;
use icl_train::{TrainingSettings, Verdict};
use serde::Serialize;

use crate::options::bounds;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Share of the samples that are held out.
pub const HOLD_OUT: f64 = 0.1;

/// Exit code of an update that is worse.
const WORSE: u8 = 3;

/// Samples that no training sees.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Evaluation")]
pub struct HoldOutOptions {
    /// Share of the old and of the new samples that is held out; 0 for none. No training, no statistic and no stopping
    /// rule sees these samples, and the held-out risk is computed over them
    #[arg(long, value_name = "SHARE", default_value = HOLD_OUT.to_string())]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_out: Option<f64>,
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

/// Labels for the accuracies of an encoder.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Evaluation")]
pub struct TaskOptions {
    /// CSV file of labels by which accuracies are measured. It has the columns row,label or id,label: row is the number
    /// of a sample, counted from 0; id a column of a table, or the path of an image. A column data says which data set
    /// a sample is of: old, new, or the name of an experience. Without it, the classes of the data
    #[arg(long, value_name = "CSV")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<PathBuf>,
}

impl TaskOptions {
    /// Checks that samples are held out, on which accuracies are measured.
    ///
    /// # Errors
    /// If labels are given and none are.
    pub fn check(&self, share: f64) -> Result<(), Failure> {
        match self.task.is_some() && share == 0.0 {
            true => Err(Failure::input(anyhow!(
                "task: found it with --hold-out 0, expected held-out samples, on whose labels accuracies are measured"
            ))),
            false => Ok(()),
        }
    }
}

/// Consequences of the verdict on held-out samples.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Evaluation")]
pub struct VerdictOptions {
    /// Write the updated encoder even if it is worse on held-out samples. Without it, the encoder that came in is kept
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set
    )]
    pub accept: bool,
    /// Exit with 3 if the updated encoder is worse on old or on new held-out samples
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set
    )]
    pub exit_code: bool,
}

impl VerdictOptions {
    /// Returns the exit code after a verdict.
    pub fn code(&self, verdict: Option<&Verdict>) -> u8 {
        match self.exit_code && verdict.is_some_and(Verdict::is_worse) {
            true => WORSE,
            false => 0,
        }
    }
}

/// Samples of the training, and others that it does not see.
#[derive(Debug, PartialEq)]
pub struct Division {
    /// Samples of the training.
    pub trained: Increment,
    /// All samples that are held out; `None` if a part has too few.
    pub held_out: Option<Increment>,
    /// Held-out samples over which the risk is computed.
    pub measured: Option<Increment>,
    /// Share of all samples that is held out by their contents; 0 if none is.
    pub share: f64,
}

impl HoldOutOptions {
    /// Returns the share that is held out.
    pub fn share(&self) -> f64 {
        self.hold_out.unwrap_or(HOLD_OUT)
    }

    /// Takes the share of an encoder's file, unless one was given. Reports if the encoder may have been trained on
    /// samples that are held out now: their risk before an update is too low then.
    pub fn inherit(&mut self, of_encoder: Option<f64>) {
        let share = self.hold_out.or(of_encoder).unwrap_or(HOLD_OUT);
        self.hold_out = Some(share);
        match of_encoder {
            _ if share == 0.0 => {}
            None => tell(format_args!(
                "note: the encoder's file does not say which samples were held out: it may have been trained on some that \
                 are held out now"
            )),
            Some(before) if before < share => tell(format_args!(
                "warning: hold-out: found {share}, and {before} in the encoder's file: it was trained on some of the old \
                 samples that are held out now, on which it looks better than it is"
            )),
            Some(_) => {}
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// At the first that is not valid.
    pub fn check(&self) -> Result<(), Failure> {
        if !(0.0..1.0).contains(&self.share()) {
            return Err(Failure::input(anyhow!(
                "hold-out: found {}, expected a share from 0 to below 1",
                self.share()
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

    /// Divides the data by the contents of the samples ([`ContentHash`]), each by itself: what is
    /// held out today was held out yesterday. Reports if too few samples of a part are held out for a risk; they are
    /// not trained on all the same, unless too few would be left.
    ///
    /// # Errors
    /// If the share is not valid, or those of `contents`, which returns the hashes of all samples by their indices.
    pub fn divide(
        &self,
        increment: Increment,
        contents: impl FnOnce() -> Result<Vec<u64>, Failure>,
        seed: Seed,
    ) -> Result<Division, Failure> {
        let share = self.share();
        let all = |increment| Division {
            trained: increment,
            held_out: None,
            measured: None,
            share: 0.0,
        };
        if share == 0.0 {
            return Ok(all(increment));
        }
        let contents = contents()?;
        let (trained, [old, new]) = match increment.hold_out_by(share, |index| contents[index]) {
            Ok(divided) => divided,
            Err(error) if error.kind() == ErrorKind::TooFew => {
                tell_too_few(&increment);
                return Ok(all(increment));
            }
            Err(error) => return Err(Failure::input(error)),
        };
        let numbers = [old.len(), new.len()];
        let held_out = match increment.new_data().is_empty() {
            true => Increment::before(old),
            false => Increment::try_new(old, new),
        };
        let held_out = held_out.and_then(|it| it.with_old_weight(increment.old_weight()));
        if held_out.is_err() {
            tell(format_args!(
                "note: of {} old and {} new samples {} and {} are held out, expected at least 2 of each: no held-out risk",
                increment.old().len(),
                increment.new_data().len(),
                numbers[0],
                numbers[1]
            ));
        }
        Ok(Division {
            trained,
            measured: held_out.as_ref().ok().map(|it| self.measured(it, seed)),
            held_out: held_out.ok(),
            share,
        })
    }

    /// Divides the data into those of the training and held-out samples, if there are to be any, by a draw with a seed:
    /// the seeds of `icl run` are repetitions, each with held-out samples of its own. Reports if a part has too few
    /// samples to hold any out.
    ///
    /// # Errors
    /// If the share is not valid.
    pub fn draw(
        &self,
        increment: Increment,
        seed: Seed,
    ) -> Result<(Increment, Option<Increment>), Failure> {
        let share = self.share();
        if share == 0.0 {
            return Ok((increment, None));
        }
        match increment.hold_out(share, seed.child("hold-out")) {
            Ok((rest, held_out)) => Ok((rest, Some(self.measured(&held_out, seed)))),
            Err(error) if error.kind() == ErrorKind::TooFew => {
                tell_too_few(&increment);
                Ok((increment, None))
            }
            Err(error) => Err(Failure::input(error)),
        }
    }

    /// Returns the held-out samples over which risks are computed.
    fn measured(&self, held_out: &Increment, seed: Seed) -> Increment {
        held_out.at_most(
            self.evaluation_samples,
            // The name is that of earlier versions: another one would draw other samples.
            seed.child("hold-out").child("panel"),
        )
    }
}

/// Returns the rule of [`HoldOutOptions::divide`] for a record, with the share of the encoder that came in.
pub fn rule(share: f64, share_before: Option<f64>) -> HoldOutRule {
    HoldOutRule {
        rule: ContentHash::RULE.to_owned(),
        share,
        share_before,
    }
}

/// Reports that nothing is held out.
fn tell_too_few(increment: &Increment) {
    tell(format_args!(
        "note: {} old and {} new samples are too few to hold any out: no held-out risk",
        increment.old().len(),
        increment.new_data().len()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(hold_out: f64, evaluation_samples: usize) -> HoldOutOptions {
        let options = HoldOutOptions {
            hold_out: Some(hold_out),
            evaluation_samples,
        };
        options.check().unwrap();
        options
    }

    #[test]
    fn held_out_samples_are_at_most_as_large_as_asked_for() {
        let increment = Increment::try_new((0..800).collect(), (800..1000).collect()).unwrap();
        let divided = |hold_out, evaluation_samples| {
            let options = options(hold_out, evaluation_samples);
            options.draw(increment.clone(), Seed::new(1)).unwrap()
        };
        let (rest, held_out) = divided(0.1, 50);
        assert_eq!((rest.old().len(), rest.new_data().len()), (720, 180));
        let held_out = held_out.unwrap();
        assert_eq!((held_out.old().len(), held_out.new_data().len()), (40, 10));
        assert_eq!(divided(0.0, 50), (increment.clone(), None));
        let few = Increment::try_new((0..800).collect(), vec![900, 901, 902]).unwrap();
        let divided = options(0.1, 50).draw(few.clone(), Seed::new(1)).unwrap();
        assert_eq!(divided, (few, None));
    }

    #[test]
    fn contents_decide_and_are_not_trained_on_where_they_are_few() {
        let increment = Increment::try_new((0..80).collect(), (80..100).collect()).unwrap();
        // Every tenth sample is held out.
        let contents = |of: &dyn Fn(usize) -> bool| -> Vec<u64> {
            (0..100)
                .map(|at| if of(at) { 0 } else { u64::MAX })
                .collect()
        };
        let divided = |options: HoldOutOptions, of: &dyn Fn(usize) -> bool| {
            options.divide(increment.clone(), || Ok(contents(of)), Seed::new(1))
        };
        let tenth = divided(options(0.1, 50), &|at| at % 10 == 0).unwrap();
        let held_out = tenth.held_out.unwrap();
        assert_eq!(held_out.old(), [0, 10, 20, 30, 40, 50, 60, 70]);
        assert_eq!(held_out.new_data(), [80, 90]);
        assert_eq!((tenth.trained.all().len(), tenth.share), (90, 0.1));
        let one_new = divided(options(0.1, 50), &|at| at % 80 == 0).unwrap();
        assert_eq!(one_new.held_out, None);
        assert_eq!((one_new.trained.all().len(), one_new.share), (98, 0.1));
        let most = divided(options(0.1, 50), &|at| at > 0).unwrap();
        assert_eq!((most.trained, most.share), (increment.clone(), 0.0));
        let none =
            options(0.0, 50).divide(increment.clone(), || panic!("not needed"), Seed::new(1));
        assert_eq!(none.unwrap().trained, increment);
    }

    #[test]
    fn the_share_is_that_of_the_file_unless_one_is_given() {
        let inherited = |given, of_encoder| {
            let mut options = HoldOutOptions {
                hold_out: given,
                evaluation_samples: 50,
            };
            options.inherit(of_encoder);
            options.share()
        };
        assert_eq!(inherited(None, Some(0.25)), 0.25);
        assert_eq!(inherited(Some(0.3), Some(0.25)), 0.3);
        assert_eq!(inherited(None, None), HOLD_OUT);
        assert_eq!(inherited(None, Some(0.0)), 0.0);
    }
}
