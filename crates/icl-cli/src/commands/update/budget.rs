//! The budget of an update in passes, and the predicted cost of retraining.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use icl_report::text::number::{duration, percent};
use icl_train::{
    Budget, Callbacks, Cost, Identity, StopRule, TrainError, TrainingSettings, read_checkpoint,
    write_checkpoint,
};

use crate::files::work_folder::{INPUT, WorkFolder};
use crate::options::budget::UpdateBudget;
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::group::group;
use crate::process::interrupt;
use crate::process::terminal::tell;

/// Maximum number of steps whose time is measured before an update, and their maximum share of its budget.
const TIMED: (usize, f64) = (8, 0.05);
/// Time after which the measurement ends, if two steps have ended.
const LONGEST: Duration = Duration::from_secs(10);
/// Number of samples of an evaluation: the timed steps need none.
const FEWEST: usize = 4;
/// Views of a sample in an epoch.
const VIEWS: f64 = 2.0;
/// Name of the file of the budget in the folder of the work.
const NAME: &str = "budget";

/// Cost of retraining on old and new data, as it is predicted.
#[derive(Debug, Clone, Copy)]
pub struct Retraining {
    /// Charged passes for each sample.
    passes_per_sample: f64,
    /// Whether the encoder's file says so.
    is_known: bool,
    n_samples: usize,
}

impl Retraining {
    /// Predicts the cost from the passes per sample in the encoder's file, or where it does not say, from the maximum
    /// number of epochs.
    pub fn predict(of_encoder: Option<f64>, epochs: usize, n_samples: usize) -> Self {
        Self {
            passes_per_sample: of_encoder.unwrap_or(VIEWS * epochs as f64),
            is_known: of_encoder.is_some(),
            n_samples,
        }
    }

    /// Returns the cost in full passes, if the encoder's file says what its training cost.
    pub fn known_passes(&self) -> Option<f64> {
        self.is_known.then(|| self.passes())
    }

    fn passes(&self) -> f64 {
        self.passes_per_sample * self.n_samples as f64
    }

    /// Returns a budget in passes, on a machine that takes so many in a second.
    fn budget(&self, budget: UpdateBudget, passes_per_s: f64) -> f64 {
        match budget {
            UpdateBudget::None => f64::INFINITY,
            UpdateBudget::Share(share) => share * self.passes(),
            UpdateBudget::Passes(passes) => passes,
            UpdateBudget::Minutes(minutes) => 60.0 * minutes * passes_per_s,
        }
    }

    /// Returns the budget of an update, and prints what the update will cost on this machine: `train` takes a few steps
    /// of it, whose time is measured. Interrupted work keeps its budget: minutes are not measured again.
    ///
    /// # Errors
    /// Those of the steps, or if the budget cannot be read or kept.
    pub fn within(
        &self,
        requested: UpdateBudget,
        (settings, causes): (&TrainingSettings, &Causes<'_>),
        work: &WorkFolder,
        train: impl FnOnce(TrainingSettings, &mut Callbacks<'_>) -> Result<Cost, TrainError>,
    ) -> Result<Option<Budget>, Failure> {
        if requested == UpdateBudget::None {
            return Ok(None);
        }
        let path = work.state(NAME).with_extension(INPUT);
        let identity = Identity::new([]);
        if let Some(passes) = read_checkpoint(&path, &identity)? {
            return Ok(Some(Budget::Passes(passes)));
        }
        if matches!(requested, UpdateBudget::Share(_)) && !self.is_known {
            tell(format_args!(
                "note: the encoder's file does not say what its training cost: retraining is predicted by --epochs, \
                 {} passes",
                self.passes()
            ));
        }
        let passes_per_s = self
            .speed(requested, settings, train)
            .map_err(|error| causes.training(error))?;
        // All members of a group have the budget of the first.
        let mut bytes = passes_per_s.to_le_bytes().to_vec();
        group().broadcast(0, &mut bytes).map_err(TrainError::from)?;
        let passes_per_s = bytes.try_into().map_or(passes_per_s, f64::from_le_bytes);
        let passes = self.budget(requested, passes_per_s);
        write_checkpoint(&path, &identity, &passes)?;
        self.tell(passes, passes_per_s);
        Ok(Some(Budget::Passes(passes)))
    }

    /// Measures the passes per second of the first steps. The first step alone is left out where there are more: it
    /// prepares the device.
    fn speed(
        &self,
        requested: UpdateBudget,
        settings: &TrainingSettings,
        train: impl FnOnce(TrainingSettings, &mut Callbacks<'_>) -> Result<Cost, TrainError>,
    ) -> Result<f64, TrainError> {
        let settings = TrainingSettings {
            stop: StopRule::Never,
            evaluate_every: Some(usize::MAX),
            monitor_samples: FEWEST,
            evaluation_samples: FEWEST,
            ..settings.clone()
        };
        let (n_timed, share) = TIMED;
        let passes_of_step = VIEWS * settings.batch_size as f64;
        let affordable = share * self.budget(requested, f64::INFINITY) / passes_of_step;
        // Two at least: the first one is left out of the time.
        let n_timed = (affordable as usize).clamp(2, n_timed);
        let mut ends = vec![Instant::now()];
        let mut callbacks = Callbacks::new()
            .stop_when(interrupt::requested)
            .end_when(|_| {
                ends.push(Instant::now());
                ends.len() > n_timed || ends.len() > 2 && ends[0].elapsed() > LONGEST
            });
        let cost = train(settings, &mut callbacks)?;
        drop(callbacks);
        if ends.len() == 1 {
            ends.push(Instant::now());
        }
        let n_steps = ends.len() - 1;
        let first = usize::from(n_steps > 1);
        let time = ends[n_steps] - ends[first];
        let passes = cost.training * (n_steps - first) as f64 / n_steps as f64;
        // A coarse clock may measure 0.
        Ok(passes / time.as_secs_f64().max(f64::MIN_POSITIVE))
    }

    /// Prints what an update of so many passes will cost.
    fn tell(&self, passes: f64, passes_per_s: f64) {
        let share = match self.known_passes() {
            None => String::new(),
            Some(of_retraining) => format!(
                ", {} of what retraining would cost",
                percent(passes / of_retraining)
            ),
        };
        let seconds = passes / passes_per_s;
        let end = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map(|now| (now.as_secs_f64() + seconds) / 60.0)
            .unwrap_or_default() as u64;
        tell(format_args!(
            "budget: {passes:.0} passes{share}, at most {} on this machine, until {:02}:{:02} UTC",
            duration(seconds),
            end / 60 % 24,
            end % 60
        ));
    }
}
