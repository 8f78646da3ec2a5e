//! Many seeded cases of one format.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use icl::core::Seed;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::format::Format;
use crate::parts::Part;
use crate::trial::{Breach, Reading, Trial, write};

/// Time after which a reading that has not ended ends the process.
const HANGING: Duration = Duration::from_secs(60);

/// Number of breaches after which a campaign ends.
const MAX_BREACHES: usize = 10;

/// Results of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the format.
    pub format: String,
    /// Number of inputs that were read.
    pub n_inputs: u64,
    /// Number of those that were accepted.
    pub n_accepted: u64,
    /// Largest number of bytes of memory that an input took.
    pub n_bytes: u64,
    /// Longest time that an input took, in seconds.
    pub seconds: f64,
    /// Breaches of the promise, each with the folder of its input.
    pub breaches: Vec<(String, String)>,
}

/// Cases of one format, which a seed determines.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// The format.
    pub format: &'a Format,
    /// Number of the cases.
    pub n_inputs: u64,
    /// Seed of their choice.
    pub seed: u64,
}

impl Campaign<'_> {
    /// Reads the inputs that were found before, the valid ones, and then the generated ones. Inputs at which the reader
    /// breaks its promise are written into `folder`, with as few edits as still break it.
    ///
    /// The input that is being read lies in `folder/current.txt` as a path, so that it is known after an abort.
    ///
    /// # Errors
    /// If a file cannot be written or read, or a valid input is refused.
    pub fn run(&self, found: &Path, folder: &Path) -> Result<Summary> {
        std::fs::create_dir_all(folder)?;
        let trial = Trial::new(self.format)?;
        std::fs::write(
            folder.join("current.txt"),
            trial.folder().display().to_string(),
        )?;
        let watch = Watch::start();
        let mut summary = Summary {
            format: self.format.name.to_owned(),
            ..Summary::default()
        };
        for (name, files) in found_inputs(&found.join(self.format.name))? {
            let reading = watch.during(|| trial.run(&files))?;
            summary.add(&reading);
            if let Some(breach) = reading.breach {
                summary.breaches.push((breach.to_string(), name));
            }
        }
        for valid in &self.format.valid {
            let reading = watch.during(|| trial.run(&(valid.pack)(&valid.parts)?))?;
            summary.add(&reading);
            let told = reading.told.map(|told| told.message);
            let breach = reading.breach.map(|breach| breach.to_string());
            if let Some(refused) = breach.or(told) {
                let names: Vec<&str> = valid.parts.iter().map(|part| &part.name[..]).collect();
                let shown = format!("a valid input that is refused: {refused}");
                summary.breaches.push((shown, names.join(", ")));
            }
        }
        let seed = Seed::new(self.seed).child(self.format.name);
        for number in 0..self.n_inputs {
            let mut rng = seed.at(number).rng();
            let mut bytes = vec![0; rng.random_range(40..=160)];
            rng.fill_bytes(&mut bytes);
            let case = Case::of(&bytes).context("too few bytes for a case")?;
            // Parts that cannot be packed are no input.
            let Ok(files) = case.files(self.format) else {
                continue;
            };
            let reading = watch.during(|| trial.run(&files))?;
            summary.add(&reading);
            if let Some(breach) = reading.breach {
                let simplest = watch.during(|| simplest(&trial, self.format, case, &breach))?;
                let at = folder.join(format!("{}-{number}", self.seed));
                write(&at, &simplest.files(self.format)?)?;
                let shown = at.display().to_string();
                summary.breaches.push((breach.to_string(), shown));
                if summary.breaches.len() >= MAX_BREACHES {
                    break;
                }
            }
        }
        Ok(summary)
    }
}

impl Summary {
    fn add(&mut self, reading: &Reading) {
        self.n_inputs += 1;
        self.n_accepted += u64::from(reading.told.is_none() && reading.breach.is_none());
        self.n_bytes = self.n_bytes.max(reading.n_bytes);
        self.seconds = self.seconds.max(reading.time.as_secs_f64());
    }
}

/// Returns the case without the edits that the breach does not need.
fn simplest(trial: &Trial<'_>, format: &Format, case: Case, breach: &Breach) -> Result<Case> {
    let mut simplest = case;
    'shorter: loop {
        for case in simplest.simpler() {
            let Ok(files) = case.files(format) else {
                continue;
            };
            let found = trial.run(&files)?.breach;
            let is_same =
                |found: Breach| std::mem::discriminant(&found) == std::mem::discriminant(breach);
            if found.is_some_and(is_same) {
                simplest = case;
                continue 'shorter;
            }
        }
        return Ok(simplest);
    }
}

/// Returns the inputs that were found before, by the names of their folders.
fn found_inputs(folder: &Path) -> Result<Vec<(String, Vec<Part>)>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut inputs = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let mut files = Vec::new();
        collect(&entry.path(), "", &mut files)?;
        inputs.push((entry.path().display().to_string(), files));
    }
    inputs.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(inputs)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<Part>) -> Result<()> {
    for entry in folder.read_dir()? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push(Part::new(&name, std::fs::read(entry.path())?));
        }
    }
    Ok(())
}

/// Ends the process if a reading hangs.
struct Watch;

/// Seconds that the current reading has left; 0 between two readings.
static LEFT: AtomicU64 = AtomicU64::new(0);

impl Watch {
    fn start() -> Self {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let left = LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    left.checked_sub(1)
                });
                if left == Ok(1) {
                    eprintln!("a reading did not end within {HANGING:?}");
                    std::process::abort();
                }
            }
        });
        Self
    }

    fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        LEFT.store(HANGING.as_secs(), Ordering::Relaxed);
        let result = work();
        LEFT.store(0, Ordering::Relaxed);
        result
    }
}
