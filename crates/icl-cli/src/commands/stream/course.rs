//! The course of a stream on one backend: one experience after the other.

use std::thread::sleep;
use std::time::Duration;

use anyhow::anyhow;
use burn::tensor::backend::AutodiffBackend;
use icl_train::{Stream, TrainError};

use crate::backend::OnBackend;
use crate::commands::stream::folder::{RECORD, StreamFolder};
use crate::commands::stream::gathered::{Gathered, like};
use crate::commands::stream::lane::{Lane, read_json, write_json};
use crate::commands::stream::options::Resolved;
use crate::commands::stream::source::Source;
use crate::commands::stream::step::{Step, StepRecord};
use crate::commands::stream::summary;
use crate::domain::Domain;
use crate::domain::encoder_file::EncoderFile;
use crate::process::failure::Failure;
use crate::process::group::group;
use crate::process::interrupt;
use crate::process::terminal::tell;

/// Time between two looks at a folder that is watched.
const WATCH: Duration = Duration::from_millis(500);

/// Waits for more experiences, where there may be more; whether to look again.
pub fn is_more(source: &Source) -> bool {
    if !source.is_watched() || interrupt::requested() {
        return false;
    }
    sleep(WATCH);
    !interrupt::requested()
}

/// Stream whose first experience has been read.
pub struct Course<'a, D: Domain> {
    pub resolved: &'a Resolved,
    pub source: &'a Source,
    /// Encoder that was trained on the first experience, if it is not to be trained.
    pub from: Option<&'a EncoderFile<D>>,
    pub gathered: Gathered<'a, D>,
    /// Folder in which the stream continues.
    pub resumed: Option<StreamFolder>,
}

impl<D: Domain> OnBackend for Course<'_, D> {
    type Output = ();

    fn run<B: AutodiffBackend>(mut self, device: B::Device) -> Result<(), Failure> {
        self.estimate::<B>()?;
        let resolved = self.resolved;
        let config = toml::to_string(&resolved.options).map_err(Failure::input)?;
        let mut folder = match self.resumed.take() {
            Some(folder) => folder,
            None => {
                let out = resolved.options.output.out.clone().unwrap_or_default();
                StreamFolder::begin(&out, &config)?
            }
        };
        match self.advance::<B>(&mut folder, &config, &device) {
            Ok(record) => {
                let document = icl_report::stream_document(&record)
                    .map_err(|error| Failure::Other(error.into()))?;
                resolved.options.tables.print(&document, folder.path())
            }
            Err(failure) => Err(folder.fail(failure)),
        }
    }
}

impl<D: Domain> Course<'_, D> {
    /// Estimates what is estimated from data from the training samples of the first experience.
    pub fn estimate<B: AutodiffBackend>(&mut self) -> Result<(), Failure> {
        let options = &self.resolved.options;
        let gathered = &self.gathered;
        let (views, collate) = (gathered.domain.views(), gathered.domain.collate());
        let stream = Stream::<B, D::Data, _, _>::new(&gathered.data, views, collate)
            .hold_out(options.course.hold_out())
            .panel(options.course.panel())
            .seed(self.resolved.training.seed);
        let first = gathered.experiences[0].arriving();
        let first = stream.training_samples(&first).map_err(Failure::input)?;
        let split = like(options.source.split().as_ref());
        let outliers = options.data.reading.outliers;
        self.gathered
            .estimate(&first, self.from.is_none(), &split, outliers)
    }

    /// Goes through all experiences that the folder does not hold, and returns the record.
    fn advance<B: AutodiffBackend>(
        &mut self,
        folder: &mut StreamFolder,
        config: &str,
        device: &B::Device,
    ) -> Result<icl_report::StreamRecord, Failure> {
        let resolved = self.resolved;
        let names = folder.names()?;
        let mut lanes = Lane::all(resolved);
        let mut steps: Vec<StepRecord> = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let path = folder.experience(at, name);
            steps.push(read_json(&path.join(RECORD))?);
            for lane in &mut lanes {
                lane.read(&path, at + 1 == names.len())?;
                if at + 1 < names.len() {
                    // A kill may have left it.
                    lane.forget(&path);
                }
            }
        }
        let write = |steps: &[StepRecord], lanes: &[Lane], folder: &StreamFolder| {
            let record = summary::record(resolved, self.source, steps, lanes)?;
            let made = folder.begin_summary()?;
            summary::write(&made, config, &record, lanes)?;
            folder.publish_summary(&made)
        };
        if !steps.is_empty() {
            write(&steps, &lanes, folder)?;
        }
        let group = group();
        loop {
            let at = steps.len();
            if !self.is_read_until(at, &steps)? {
                match is_more(self.source) {
                    true => continue,
                    false => return summary::record(resolved, self.source, &steps, &lanes),
                }
            }
            let is_stopped = group.any(interrupt::requested());
            if is_stopped.map_err(TrainError::Group)? {
                return Err(Failure::Interrupted(anyhow!(
                    "the stream was interrupted after {at} experiences"
                )));
            }
            let next = folder.begin_experience()?;
            let step = Step::<D, B> {
                resolved,
                from: self.from,
                gathered: &self.gathered,
                folder,
                device,
                group: &*group,
                next: &next,
                at,
            };
            let record = step.run(&mut lanes, &steps)?;
            write_json(&next.join(RECORD), &record)?;
            for lane in &lanes {
                lane.write(&next)?;
            }
            let name = &self.gathered.experiences[at].name;
            folder.publish(at, name)?;
            let path = folder.experience(at, name);
            for lane in &mut lanes {
                lane.publish(&path);
                if at > 0 {
                    lane.forget(&folder.experience(at - 1, &steps[at - 1].streamed.name));
                }
            }
            steps.push(record);
            write(&steps, &lanes, folder)?;
        }
    }

    /// Reads experiences until there is one of this number; whether there is. What the folder holds must be of the same data.
    pub fn is_read_until(&mut self, at: usize, steps: &[StepRecord]) -> Result<bool, Failure> {
        let known: Vec<String> = steps.iter().map(|it| it.streamed.name.clone()).collect();
        let listed = self.source.listed(&known)?;
        let experiences = self.gathered.experiences.len();
        for listed in listed.iter().take(at + 1).skip(experiences) {
            listed.check_apart(self.resolved.folder())?;
            self.gathered
                .read(listed, &self.resolved.options.data.reading)?;
        }
        let pairs = self.gathered.experiences.iter().zip(steps);
        for (arrived, step) in pairs {
            let (found, expected) = (&arrived.checksum, &step.checksum);
            if (found, &arrived.name) != (expected, &step.streamed.name) {
                return Err(Failure::input(anyhow!(
                    "experience {}: found data with the checksum {found}, expected those of {} with {expected}, with which the \
                     stream was begun",
                    arrived.name,
                    step.streamed.name
                )));
            }
        }
        let is_there = at < self.gathered.experiences.len();
        if is_there && at > 0 {
            tell(format_args!(
                "experience {}: {} {}",
                self.gathered.experiences[at].name,
                self.gathered.experiences[at].samples.len(),
                D::SAMPLES
            ));
        }
        Ok(is_there)
    }
}
