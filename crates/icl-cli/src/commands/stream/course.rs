//! The course of a stream on one backend: one experience after the other.

use std::cell::Cell;
use std::path::PathBuf;

use anyhow::anyhow;
use burn::tensor::backend::AutodiffBackend;
use icl_core::Samples;
use icl_report::{CommandOutcome, StreamRecord};
use icl_train::TrainError;

use crate::backend::OnBackend;
use crate::commands::stream::arrived::Arrived;
use crate::commands::stream::current::serve;
use crate::commands::stream::experience::{CurrentExperience, ExperienceRecord};
use crate::commands::stream::folder::{AtWork, StreamFolder};
use crate::commands::stream::gathered::{Gathered, like};
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::options::Resolved;
use crate::commands::stream::provenance::{Provenance, changed};
use crate::commands::stream::source::Source;
use crate::commands::stream::strategy::{N_MEMORIES, StrategyRun};
use crate::commands::stream::summary::{Summary, record};
use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::domain::encoder_file::EncoderFile;
use crate::domain::task_labels::{Part, TaskFile, labels_of_data};
use crate::process::failure::Failure;
use crate::process::group::group;
use crate::process::interrupt;
use crate::process::terminal::tell;

/// Stream whose first experience has been read.
pub struct Course<'a, D: Domain> {
    pub resolved: &'a Resolved,
    /// File of labels, if there is one.
    pub labels: Option<&'a TaskFile>,
    pub source: &'a mut Source,
    /// Encoder that was trained on the first experience, if it is not to be trained.
    pub from: Option<&'a EncoderFile<D>>,
    pub gathered: Gathered<'a, D>,
    /// Folder in which the stream continues.
    pub resumed: Option<StreamFolder>,
    /// Facts about the experiences that it holds.
    pub records: Vec<ExperienceRecord>,
    /// Runs of all strategies, that of the chosen one first.
    pub runs: Vec<StrategyRun<'a>>,
    /// Whether the first experience has proved usable.
    pub is_begun: &'a Cell<bool>,
}

impl<D: Domain> OnBackend for Course<'_, D> {
    type Output = u8;

    /// Runs the stream, and returns the exit code.
    fn run<B: AutodiffBackend>(mut self, devices: &[B::Device]) -> Result<u8, Failure> {
        self.estimate::<B>()?;
        self.is_begun.set(true);
        let resolved = self.resolved;
        let config = toml::to_string(&resolved.options).map_err(Failure::input)?;
        let mut folder = match self.resumed.take() {
            Some(folder) => folder,
            None => {
                let out = resolved.options.out.clone().unwrap_or_default();
                StreamFolder::begin(&out, &config)?
            }
        };
        match self.advance::<B>(&mut folder, &config, devices) {
            Ok(record) => {
                let document = icl_report::stream_document(&record)
                    .map_err(|error| Failure::Other(error.into()))?;
                let options = &resolved.options;
                let last = record.experiences.last();
                let exit = options
                    .verdict
                    .code(last.and_then(|it| it.verdict.as_ref()));
                let outcome = CommandOutcome::of_stream(&record, exit);
                let document = (&document, options.wide);
                let printed = options.json.print(outcome, document, None, folder.path());
                printed.map(|()| exit)
            }
            Err(failure) => Err(folder.fail(failure)),
        }
    }
}

impl<D: Domain> Course<'_, D> {
    /// Estimates the statistics of the data, such as means of columns, from training samples of the first experience.
    pub fn estimate<B: AutodiffBackend>(&mut self) -> Result<(), Failure> {
        let options = &self.resolved.options;
        let first = self.gathered.experiences[0].arriving();
        let stream = self.gathered.stream::<B>(self.resolved);
        let first = stream.training_samples(&first).map_err(Failure::input)?;
        let split = like(options.source.split.as_ref());
        let outliers = options.data.reading.outliers;
        self.gathered
            .estimate(&first, self.from.is_none(), &split, outliers)
    }

    /// Continues from the experiences that the folder holds, and reads their data again.
    fn resume(&mut self, folder: &StreamFolder) -> Result<(), Failure> {
        let names = self.records.iter().map(|it| &it.streamed.name).enumerate();
        let paths: Vec<PathBuf> = names
            .map(|(at, name)| folder.experience(at, name))
            .collect();
        self.runs.iter_mut().try_for_each(|run| run.read(&paths))?;
        // The order is checked before any data are compared.
        self.source.listed(&self.runs[0].state)?;
        for at in 0..self.records.len() {
            if !self.is_read_until(at)? {
                break;
            }
        }
        self.check()
    }

    /// Runs all experiences that the folder does not hold yet, and returns the record.
    fn advance<B: AutodiffBackend>(
        &mut self,
        folder: &mut StreamFolder,
        config: &str,
        devices: &[B::Device],
    ) -> Result<StreamRecord, Failure> {
        self.resume(folder)?;
        let resolved = self.resolved;
        if !self.records.is_empty() {
            // A kill may have come between an experience and the encoder to serve.
            serve(folder.path(), &self.runs[0].encoder, self.records.len())?;
        }
        let mut summary = Summary::new(resolved, config);
        let group = group();
        loop {
            summary.keep_up(folder, self.source, &self.records, &self.runs, false)?;
            let at = self.records.len();
            let is_there = self.is_read_until(at)?;
            if !is_there && self.source.wait() {
                continue;
            }
            let is_stopped = group.any(interrupt::requested());
            let is_stopped = is_stopped.map_err(TrainError::from)?;
            if is_stopped && (is_there || self.source.is_watched()) {
                summary.keep_up(folder, self.source, &self.records, &self.runs, true)?;
                return Err(Failure::Interrupted(anyhow!(
                    "the stream was interrupted after {at} experiences"
                )));
            }
            if !is_there {
                summary.keep_up(folder, self.source, &self.records, &self.runs, true)?;
                return record(resolved, self.source, &self.records, &self.runs);
            }
            let arrived = &self.gathered.experiences[at];
            if self.source.is_watched() {
                folder.note_at_work(&AtWork {
                    at,
                    provenance: Provenance {
                        files: arrived.provenance.names_of_files(&arrived.name),
                        ..arrived.provenance.clone()
                    },
                })?;
            }
            let labels = self.labels()?;
            let next = folder.begin_experience()?;
            let experience = CurrentExperience::<D, B> {
                resolved,
                from: self.from,
                gathered: &self.gathered,
                labels: labels.as_deref(),
                folder,
                devices,
                group: &*group,
                next: &next,
                at,
            };
            let (record, done) = match experience.go_through(&self.runs, &self.records) {
                Ok(done) => done,
                Err(failure) => {
                    summary.keep_up(folder, self.source, &self.records, &self.runs, true)?;
                    return Err(failure);
                }
            };
            let name = &record.streamed.name;
            folder.publish(at, name)?;
            let path = folder.experience(at, name);
            for (run, done) in self.runs.iter_mut().zip(done) {
                run.publish(&path, done);
                if let Some(old) = at.checked_sub(N_MEMORIES) {
                    let name = &self.records[old].streamed.name;
                    run.forget(&folder.experience(old, name));
                }
            }
            serve(folder.path(), &self.runs[0].encoder, at + 1)?;
            self.records.push(record);
        }
    }

    /// Returns the labels of all samples so far: those of the file, in which rows are of the divided data or of an
    /// experience, or the classes of the data.
    fn labels(&self) -> Result<Option<Vec<Option<usize>>>, Failure> {
        let data = &self.gathered.data;
        let Some(file) = self.labels else {
            return Ok(labels_of_data(data));
        };
        let all: Vec<usize> = (0..data.n_samples()).collect();
        let parts = match self.source {
            Source::Divided(_) => vec![Part {
                name: "",
                samples: &all,
                rows: Some(data.positions()),
            }],
            _ => self.gathered.experiences.iter().map(part_of).collect(),
        };
        let labels = file.labels_so_far(data, &parts)?;
        let arrived = &self.gathered.experiences[self.records.len()];
        let n_found = arrived.samples.iter().filter(|at| labels[**at].is_some());
        tell(format_args!(
            "note: {}: {} of {} {} have a label",
            arrived.name,
            n_found.count(),
            arrived.samples.len(),
            <D::Data as DataSet>::SAMPLES
        ));
        Ok(Some(labels))
    }

    /// Reads experiences up to this number, those with a record again. Returns whether there is one of this number.
    pub fn is_read_until(&mut self, at: usize) -> Result<bool, Failure> {
        let resolved = self.resolved;
        while self.gathered.experiences.len() <= at {
            let gathered = &self.gathered;
            let n = gathered.experiences.len();
            let read = |parts: &[Listed]| gathered.read(parts, &resolved.options.data.reading);
            let next = self.source.next(
                resolved,
                (n, self.records.get(n)),
                &self.runs[0].state,
                read,
            )?;
            let Some((_, next)) = next else {
                return Ok(false);
            };
            self.gathered.push(next);
        }
        if at > 0 && at >= self.records.len() {
            tell(format_args!(
                "experience {}: {} {}",
                self.gathered.experiences[at].name,
                self.gathered.experiences[at].samples.len(),
                <D::Data as DataSet>::SAMPLES
            ));
        }
        Ok(true)
    }

    /// Checks that the data of all experiences that the folder holds are those that it was begun with.
    fn check(&self) -> Result<(), Failure> {
        let pairs = self
            .gathered
            .experiences
            .iter()
            .zip(&self.records)
            .enumerate();
        for (at, (arrived, record)) in pairs {
            let (found, expected) = (&arrived.provenance, &record.provenance);
            if (&found.checksum, &arrived.name) == (&expected.checksum, &record.streamed.name) {
                continue;
            }
            let data = match &*self.source {
                Source::Watched(watched) => {
                    let files = expected.changed_files(&record.streamed.name, &found.checksum);
                    let paths: Vec<String> =
                        files.iter().map(|it| watched.listed(it).data).collect();
                    paths.join(" or ")
                }
                Source::Manifest(_) | Source::Divided(_) => arrived.name.clone(),
            };
            let wrong = Failure::input(anyhow!(
                "found data with the checksum {}, expected those of {} with {}, with which the stream was begun",
                found.checksum,
                record.streamed.name,
                expected.checksum
            ));
            return Err(changed(&data, at, wrong));
        }
        Ok(())
    }
}

/// Returns the samples of an experience with their rows in it.
fn part_of(arrived: &Arrived) -> Part<'_> {
    let is_merged = !arrived.provenance.files.is_empty();
    Part {
        name: &arrived.name,
        samples: &arrived.samples,
        rows: (!is_merged).then(|| (0..arrived.samples.len()).collect()),
    }
}
