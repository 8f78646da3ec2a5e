//! One experience of a stream that all strategies go through.

use std::path::Path;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Group, Increment, Seed};
use icl_report::StreamedExperience;
use icl_train::{
    Callbacks, Decision, Experience, Stream, StreamState, TrainError, TrainErrorKind, UpdateRule,
};
use serde::{Deserialize, Serialize};

use crate::commands::stream::arrived::Arrived;
use crate::commands::stream::folder::{RECORD, StreamFolder};
use crate::commands::stream::gathered::Gathered;
use crate::commands::stream::options::Resolved;
use crate::commands::stream::provenance::Provenance;
use crate::commands::stream::strategy::{Done, StrategyRun, read_json, write_json};
use crate::domain::downstream::HeldOutComparison;
use crate::domain::encoder_file::EncoderFile;
use crate::domain::{Collated, Domain};
use crate::files::encoder_work::ENCODER;
use crate::files::whole;
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::progress::Display;

/// Facts about an experience that the chosen strategy has gone through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperienceRecord {
    /// The experience, as a line of `stream.jsonl` has it.
    #[serde(flatten)]
    pub streamed: StreamedExperience,
    /// Decision on an update; `None` for the first experience.
    pub decision: Option<Decision>,
    /// Risk of an untrained encoder on held-out samples.
    pub untrained_risk: f64,
    /// Accuracy of an untrained encoder on held-out samples; `None` without classes.
    pub untrained_accuracy: Option<f64>,
    /// Origin of its data.
    #[serde(flatten)]
    pub provenance: Provenance,
}

impl ExperienceRecord {
    /// Reads the facts about all experiences that a folder holds.
    ///
    /// # Errors
    /// If they cannot be read, or an experience is missing.
    pub fn all(folder: &StreamFolder) -> Result<Vec<Self>, Failure> {
        let names = folder.names()?.into_iter().enumerate();
        names
            .map(|(at, name)| read_json(&folder.experience(at, &name).join(RECORD)))
            .collect()
    }

    /// Returns the names of its files in a folder that is watched.
    pub fn names_of_files(&self) -> Vec<String> {
        self.provenance.names_of_files(&self.streamed.name)
    }
}

/// The next experience of a stream.
pub struct CurrentExperience<'a, D: Domain, B: AutodiffBackend> {
    pub resolved: &'a Resolved,
    pub from: Option<&'a EncoderFile<D>>,
    pub gathered: &'a Gathered<'a, D>,
    /// Labels of all samples so far, if there are any.
    pub labels: Option<&'a [Option<usize>]>,
    pub folder: &'a StreamFolder,
    pub devices: &'a [B::Device],
    pub group: &'a dyn Group,
    /// Folder of its files until it is complete.
    pub next: &'a Path,
    /// Its place in the stream.
    pub at: usize,
}

/// Stream of data of a domain.
type StreamOf<'a, D, B> = Stream<
    'a,
    B,
    <D as Domain>::Data,
    &'a <D as Domain>::Views,
    Collated<<D as Domain>::Collate>,
    UpdateRule,
>;

/// A strategy after the experience.
pub(super) struct StrategyOutcome<D: Domain, B: AutodiffBackend> {
    /// Encoder before its update; `None` without one or if it was rejected, and for the first experience.
    pub(super) before: Option<D::Encoder<B::InnerBackend>>,
    /// Encoder afterwards.
    pub(super) after: D::Encoder<B::InnerBackend>,
    pub(super) state: StreamState,
    pub(super) parameter_change: f64,
    pub(super) train_s: f64,
    /// Comparison before and after the update of the chosen strategy.
    pub(super) held_out: HeldOutComparison,
}

/// Returns the held-out samples of the first of these experiences.
pub(super) fn first_held_out(experiences: &[Experience]) -> Result<Increment, Failure> {
    Increment::before(experiences[0].held_out.clone()).map_err(Failure::input)
}

impl<D: Domain, B: AutodiffBackend> StrategyOutcome<D, B> {
    pub(super) fn experience(&self) -> &Experience {
        let last = self.state.experiences().last();
        last.expect("an experience has come")
    }
}

impl<D: Domain, B: AutodiffBackend> CurrentExperience<'_, D, B> {
    /// Runs all strategies on the experience, and writes their results into its folder. Returns the record of the
    /// chosen strategy, and of each strategy the state and the accuracies afterwards.
    ///
    /// # Errors
    /// If a training fails or is interrupted, or a file cannot be written.
    pub fn go_through(
        &self,
        runs: &[StrategyRun<'_>],
        records: &[ExperienceRecord],
    ) -> Result<(ExperienceRecord, Vec<Done>), Failure> {
        let mut record = None;
        let mut done = Vec::with_capacity(runs.len());
        for run in runs {
            let outcome = match self.at {
                0 => self.begin(run)?,
                _ => self.update_or_wait(run)?,
            };
            let (accuracies, of_own) = self.measure(run, &outcome, records)?;
            record = record.or(of_own);
            let of_run = (outcome.state, accuracies);
            run.write(self.next, &of_run)?;
            done.push(of_run);
        }
        let record = record.expect("the first strategy is that of the method");
        write_json(&self.next.join(RECORD), &record)?;
        Ok((record, done))
    }

    pub(super) fn arrived(&self) -> &Arrived {
        &self.gathered.experiences[self.at]
    }

    pub(super) fn init(&self) -> Seed {
        Seed::new(self.resolved.training.seed).child("init")
    }

    pub(super) fn causes<'c>(&'c self, run: &'c StrategyRun<'_>) -> Causes<'c> {
        Causes {
            settings: &self.resolved.training.settings,
            method: run.strategy.method.as_ref(),
            file: self.from.map(|from| from.stored.path()),
        }
    }

    /// Returns the stream of a strategy.
    pub(super) fn stream(&self, run: &StrategyRun<'_>) -> StreamOf<'_, D, B> {
        self.gathered
            .stream(self.resolved)
            .strategy(run.strategy)
            .devices(self.devices.iter().cloned())
            .group(self.group)
    }

    /// Returns the stream of a strategy for measurements of an encoder: more samples are held out for risks, while
    /// statistics are estimated over as many samples as in a training.
    pub(super) fn measuring(&self, run: &StrategyRun<'_>) -> StreamOf<'_, D, B> {
        let settings = self.resolved.training.settings.clone();
        self.stream(run).settings(settings)
    }

    /// Trains on the first experience, or takes the encoder of `--from`; controls start from the chosen strategy's.
    fn begin(&self, run: &StrategyRun<'_>) -> Result<StrategyOutcome<D, B>, Failure> {
        let stream = self.stream(run);
        let arriving = self.arrived().arriving();
        let path = self.next.join(ENCODER);
        let given = match (run.is_own(), self.from) {
            (true, None) => None,
            (true, Some(from)) => Some(from.encoder::<B>(&self.devices[0])?),
            (false, _) => Some(self.read(&path)?),
        };
        let (after, state, [parameter_change, train_s]) = match given {
            Some(given) => {
                let encoder = given.valid();
                let state = stream.adopt(&encoder, &arriving);
                (encoder, state.map_err(failure)?, [0.0; 2])
            }
            None => {
                let untrained = self
                    .gathered
                    .domain
                    .fresh::<B>(self.init().child("old"), &self.devices[0])?;
                let causes = Causes {
                    file: self.resolved.options.encoder.weights.as_deref(),
                    ..self.causes(run)
                };
                let trained = self.trained(run, |callbacks| {
                    let first = stream.first(untrained, arriving, callbacks);
                    first.map_err(|error| of_training(&causes, &self.arrived().name, error))
                })?;
                let facts = [trained.parameter_change, trained.train_s];
                (trained.live.encoder, trained.live.state, facts)
            }
        };
        match self.from.filter(|_| run.is_own()) {
            Some(from) if self.is_as_in(from)? => whole::write(&path, from.stored.bytes())?,
            _ if run.is_own() => self.save(run, (&after, &state), &path)?,
            _ => {}
        }
        Ok(StrategyOutcome {
            before: None,
            after,
            state,
            parameter_change,
            train_s,
            held_out: HeldOutComparison::default(),
        })
    }

    /// Trains a strategy with a progress bar, checkpoints, and the signal to stop.
    pub(super) fn trained<T>(
        &self,
        run: &StrategyRun<'_>,
        train: impl FnOnce(&mut Callbacks<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let display = Display::new(1, self.resolved.training.settings.epochs as u64);
        display.begin(&format!("{}: {}", self.arrived().name, run.strategy.name));
        let mut callbacks = Callbacks::new()
            .on_progress(|progress| display.advance(&progress))
            .stop_when(interrupt::requested)
            .with_checkpoint(self.folder.state(self.at, run.state_name()));
        let trained = train(&mut callbacks);
        drop(callbacks);
        display.finish();
        trained
    }

    /// Reads an encoder of this stream, grown to the data.
    pub(super) fn read(&self, path: &Path) -> Result<D::Trained<B>, Failure> {
        let stored = EncoderFile::<D>::open(path)?;
        let encoder = stored.encoder::<B>(&self.devices[0])?;
        // New parts, such as rows of new items, start as in the initial encoder.
        let seed = self.init().child("old");
        Ok(self.gathered.domain.grow(encoder, seed))
    }
}

/// Returns the failure of a stream without a training.
pub(super) fn failure(error: TrainError) -> Failure {
    match error.kind() {
        TrainErrorKind::Left | TrainErrorKind::Group => Failure::Other(error.into()),
        _ => Failure::input(error),
    }
}

/// Returns the failure of a training in a stream.
pub(super) fn of_training(causes: &Causes<'_>, experience: &str, error: TrainError) -> Failure {
    match error.kind() {
        TrainErrorKind::Interrupted { .. } => Failure::Interrupted(error.at("").into()),
        TrainErrorKind::Invalid => failure(error),
        _ => {
            // The program writes names of experiences without quotes.
            let quoted = format!("{experience:?}");
            let place = error.place().replacen(&quoted, experience, 1);
            causes.training(error.at(place))
        }
    }
}
