//! Runs of one data set, by their seeds.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_cli::parts::Failure;
use icl_report::{Cells, StreamControl, StreamRecord};

use crate::tables::seeds::{interval, lacks, mean};

/// Methods that ran at the cost of `icl`, each without evaluations of its own rule.
pub const EQUAL: [&str; 5] = ["icl", "warm", "replay", "fine-tuning", "retraining"];
/// Rules for the moment of an update.
pub const MOMENTS: [&str; 4] = ["every:2", "every:3", "drift", "drift:0.2"];

/// Course of one encoder through a stream of one seed.
pub struct Course {
    /// Mean risk of the last encoder over all experiences.
    pub last: Option<f64>,
    /// Mean rise of the risk on an experience from its own update to the end.
    pub forgotten: Option<f64>,
    /// Mean risk on an experience when it came: that of the encoder before its update.
    pub served: Option<f64>,
    /// Mean accuracy of the last encoder over all experiences.
    pub accuracy: Option<f64>,
    /// Cost of all updates.
    pub charged: f64,
    pub n_updates: usize,
}

impl Course {
    fn new(
        (risk, accuracy): (&Cells, Option<&Cells>),
        charged: impl Iterator<Item = f64>,
        n_updates: usize,
    ) -> Self {
        let n = risk.len();
        let cell = |row: usize, column: usize| risk[row].get(column).copied().flatten();
        let forgotten = (0..n.saturating_sub(1)).map(|at| Some(cell(n - 1, at)? - cell(at, at)?));
        Self {
            last: of_last(risk),
            forgotten: mean_of_all(forgotten),
            served: mean_of_all((1..n).map(|at| cell(at - 1, at))),
            accuracy: accuracy.and_then(of_last),
            // The first experience has a training, not an update.
            charged: charged.skip(1).sum(),
            n_updates,
        }
    }
}

/// Returns the mean of a matrix's last row.
fn of_last(cells: &Cells) -> Option<f64> {
    mean_of_all(cells.last()?.iter().copied())
}

/// Returns the mean; `None` without values, or if one is missing.
pub fn mean_of_all(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    values
        .filter(|values| !values.is_empty())
        .map(|values| mean(&values))
}

/// Runs of a data set, in the order of their seeds.
pub struct Runs {
    folder: PathBuf,
    pub name: String,
    /// `icl` at its own stop with its controls, by seed.
    pub of_icl: Vec<(u64, StreamRecord)>,
}

/// Courses with their seeds.
pub type Courses = Vec<(u64, Course)>;

impl Runs {
    /// Finds the runs of all seeds.
    ///
    /// # Errors
    /// If there are none, or a record cannot be read.
    pub fn read(folder: &Path, name: &str) -> Result<Self, Failure> {
        let first = format!("{name}-icl-own-");
        let listed = std::fs::read_dir(folder);
        let listed = listed.map_err(|error| Failure::file(folder, "cannot be read", error))?;
        let seed = |file: std::io::Result<std::fs::DirEntry>| {
            let name = file.ok()?.file_name().into_string().ok()?;
            name.strip_prefix(&first)?.parse::<u64>().ok()
        };
        let mut seeds: Vec<u64> = listed.filter_map(seed).collect();
        seeds.sort_unstable();
        let mut of_icl = Vec::new();
        for seed in seeds {
            let own = read(&folder.join(format!("{first}{seed}")))?;
            of_icl.extend(own.map(|record| (seed, record)));
        }
        if of_icl.is_empty() {
            let expected = format!("folders {first}SEED");
            return Err(lacks(&folder.display().to_string(), &expected));
        }
        Ok(Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            of_icl,
        })
    }

    /// Returns the courses of `icl` at its own stop.
    pub fn icl(&self) -> Courses {
        let of = self.of_icl.iter();
        of.map(|(seed, record)| (*seed, own(record))).collect()
    }

    /// Returns the courses of a control of `icl`, at its own stop.
    ///
    /// # Errors
    /// If a record lacks the control.
    pub fn control(&self, method: &str) -> Result<Courses, Failure> {
        let mut courses = Vec::new();
        for (seed, record) in &self.of_icl {
            let of = control(record, method)?;
            let n_updates = if method == "never" {
                0
            } else {
                record.names.len() - 1
            };
            let charged = of.charged_passes.iter().copied();
            let course = Course::new((&of.risk, of.accuracy.as_ref()), charged, n_updates);
            courses.push((*seed, course));
        }
        Ok(courses)
    }

    /// Returns the record of another run, such as `warm-equal`, of a seed; `None` where it has not come to an end.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn record(&self, key: &str, seed: u64) -> Result<Option<StreamRecord>, Failure> {
        let of_icl = self.of_icl.iter().find(|(of, _)| *of == seed);
        let record = read(&self.folder.join(format!("{}-{key}-{seed}", self.name)))?;
        Ok(record.filter(|it| {
            of_icl.is_some_and(|(_, of_icl)| it.experiences.len() == of_icl.experiences.len())
        }))
    }

    /// Returns the courses of other runs, of those seeds that have come to an end.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub fn others(&self, key: &str) -> Result<Courses, Failure> {
        let mut courses = Vec::new();
        for (seed, _) in &self.of_icl {
            let record = self.record(key, *seed)?;
            courses.extend(record.map(|record| (*seed, own(&record))));
        }
        Ok(courses)
    }

    /// Returns the courses of a method at the cost of `icl`.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub fn equal(&self, method: &str) -> Result<Courses, Failure> {
        self.others(&format!("{method}-equal"))
    }

    /// Returns the courses of `icl` under a rule for the moment of an update.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub fn moment(&self, when: &str) -> Result<Courses, Failure> {
        self.others(&format!("icl-when{}", when.replace(':', "")))
    }
}

/// Returns the course of a run's own encoder.
fn own(record: &StreamRecord) -> Course {
    let steps = &record.experiences;
    Course::new(
        (&record.risk, record.accuracy.as_ref()),
        steps.iter().map(|step| step.training.charged_passes),
        steps.iter().skip(1).filter(|step| step.updated).count(),
    )
}

fn control<'a>(record: &'a StreamRecord, method: &str) -> Result<&'a StreamControl, Failure> {
    let found = record.controls.iter().find(|of| of.method == method);
    found.ok_or_else(|| lacks(&record.data, &format!("the control {method}")))
}

fn read(folder: &Path) -> Result<Option<StreamRecord>, Failure> {
    let path = folder.join("matrix.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| Failure::file(&path, "cannot be read", error))?;
    let record = serde_json::from_str(&text);
    let record = record.map_err(|error| Failure::input(anyhow!("{}: {error}", path.display())))?;
    Ok(Some(record))
}

/// Returns a quantity of the courses that have it.
pub fn values(courses: &Courses, of: impl Fn(&Course) -> Option<f64>) -> Vec<f64> {
    let all = courses.iter().filter_map(|(_, course)| of(course));
    all.collect()
}

/// Writes the mean difference of a quantity from that of other courses of the same seeds, with its interval.
pub fn above(courses: &Courses, others: &Courses, of: impl Fn(&Course) -> Option<f64>) -> String {
    let difference = |(seed, course): &(u64, Course)| {
        let (_, other) = others.iter().find(|(of, _)| of == seed)?;
        Some(of(course)? - of(other)?)
    };
    let differences: Vec<f64> = courses.iter().filter_map(difference).collect();
    interval(&differences, 3)
}
