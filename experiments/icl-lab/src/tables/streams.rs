//! Means over the seeds of what `scripts/streams.sh` has run: risks in nats over held-out samples, and costs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_cli::parts::Failure;
use icl_report::{Cells, StreamRecord};

use super::markdown::table;
use super::seeds::{MISSING, REFERENCE, lacks, mean, spread};

/// Seeds of the runs.
const SEEDS: [u64; 3] = [0, 1, 2];
/// Methods that ran at the cost of `icl`.
const EQUAL: [&str; 4] = ["warm", "replay", "fine-tuning", "retraining"];
/// Rules for the moment of an update.
const MOMENTS: [&str; 4] = ["every:2", "every:3", "drift", "drift:0.2"];

/// Course of one encoder through a stream of one seed.
struct Course {
    /// Mean risk of the last encoder over all experiences.
    last: Option<f64>,
    /// The same, above retraining's.
    gap: Option<f64>,
    /// Mean rise of the risk on an experience from its own update to the end.
    forgotten: Option<f64>,
    /// Mean risk on an experience when it came.
    served: Option<f64>,
    /// Mean accuracy of the last encoder over all experiences.
    accuracy: Option<f64>,
    /// Cost of all updates.
    charged: f64,
    n_updates: usize,
}

impl Course {
    fn new(
        (risk, accuracy): (&Cells, Option<&Cells>),
        charged: impl Iterator<Item = f64>,
        n_updates: usize,
        retraining: &Cells,
    ) -> Self {
        let n = risk.len();
        let cell = |row: usize, column: usize| risk[row].get(column).copied().flatten();
        let forgotten = (0..n.saturating_sub(1)).map(|at| Some(cell(n - 1, at)? - cell(at, at)?));
        let last = of_last(risk);
        let of_retraining = of_last(retraining);
        Self {
            last,
            gap: last
                .zip(of_retraining)
                .map(|(own, reference)| own - reference),
            forgotten: mean_of_all(forgotten),
            served: mean_of_all((1..n).map(|at| cell(at - 1, at))),
            accuracy: accuracy.and_then(of_last),
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
fn mean_of_all(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    values
        .filter(|values| !values.is_empty())
        .map(|values| mean(&values))
}

/// Runs of a data set, in the order of their seeds.
struct Runs {
    folder: PathBuf,
    name: String,
    /// `icl` at its own stop with its controls, by seed.
    of_icl: Vec<(u64, StreamRecord)>,
}

/// Courses with their seeds.
type Courses = Vec<(u64, Course)>;

impl Runs {
    fn read(folder: &Path, name: &str) -> Result<Self, Failure> {
        let mut of_icl = Vec::new();
        for seed in SEEDS {
            let own = read(&folder.join(format!("{name}-icl-own-{seed}")))?;
            of_icl.extend(own.map(|record| (seed, record)));
        }
        if of_icl.is_empty() {
            let expected = format!("folders {name}-icl-own-SEED");
            return Err(lacks(&folder.display().to_string(), &expected));
        }
        Ok(Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            of_icl,
        })
    }

    /// Returns the courses of `icl` at its own stop.
    fn icl(&self) -> Result<Courses, Failure> {
        let of = self.of_icl.iter();
        of.map(|(seed, record)| Ok((*seed, self.own(record, *seed)?)))
            .collect()
    }

    /// Returns the course of a run's own encoder.
    fn own(&self, record: &StreamRecord, seed: u64) -> Result<Course, Failure> {
        let of_icl = self.of_icl.iter().find(|(of, _)| *of == seed);
        let (_, of_icl) = of_icl.ok_or_else(|| lacks(&self.name, "icl at its own stop"))?;
        let steps = &record.experiences;
        Ok(Course::new(
            (&record.risk, record.accuracy.as_ref()),
            steps.iter().map(|step| step.training.charged_passes),
            steps.iter().skip(1).filter(|step| step.updated).count(),
            &control(of_icl, REFERENCE)?.risk,
        ))
    }

    /// Returns the courses of a control of `icl`, at its own stop.
    fn control(&self, method: &str) -> Result<Courses, Failure> {
        let mut courses = Vec::new();
        for (seed, record) in &self.of_icl {
            let of = control(record, method)?;
            let n_updates = if method == "never" {
                0
            } else {
                record.names.len() - 1
            };
            let course = Course::new(
                (&of.risk, of.accuracy.as_ref()),
                of.charged_passes.iter().copied(),
                n_updates,
                &control(record, REFERENCE)?.risk,
            );
            courses.push((*seed, course));
        }
        Ok(courses)
    }

    /// Returns the courses of other runs, such as `warm-equal`, of those seeds that have come to an end.
    fn others(&self, key: &str) -> Result<Courses, Failure> {
        let mut courses = Vec::new();
        for (seed, of_icl) in &self.of_icl {
            let record = read(&self.folder.join(format!("{}-{key}-{seed}", self.name)))?;
            let is_whole = |of: &StreamRecord| of.experiences.len() == of_icl.experiences.len();
            if let Some(record) = record.filter(is_whole) {
                courses.push((*seed, self.own(&record, *seed)?));
            }
        }
        Ok(courses)
    }

    /// Returns the courses of `icl` under a rule for the moment of an update.
    fn moment(&self, when: &str) -> Result<Courses, Failure> {
        self.others(&format!("icl-when{}", when.replace(':', "")))
    }
}

fn control<'a>(
    record: &'a StreamRecord,
    method: &str,
) -> Result<&'a icl_report::StreamControl, Failure> {
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

/// Writes mean and deviation of a quantity of the courses that have it.
fn cell(courses: &Courses, digits: usize, of: impl Fn(&Course) -> Option<f64>) -> String {
    let values: Vec<f64> = courses
        .iter()
        .filter_map(|(_, course)| of(course))
        .collect();
    spread(&values, digits)
}

/// Returns the tables of a page.
///
/// # Errors
/// If a record cannot be read, or lacks a control.
pub fn page(folder: &Path, name: &str) -> Result<String, Failure> {
    let runs = Runs::read(folder, name)?;
    let mut rows = vec![
        ("never", MISSING, runs.control("never")?),
        ("icl", "own", runs.icl()?),
    ];
    for method in ["warm", REFERENCE] {
        rows.push((method, "own", runs.control(method)?));
    }
    for method in EQUAL {
        rows.push((
            method,
            "cost of icl",
            runs.others(&format!("{method}-equal"))?,
        ));
    }
    let rows: Vec<Vec<String>> = rows
        .iter()
        .filter(|(.., courses)| !courses.is_empty())
        .map(|(method, stop, of)| {
            vec![
                (*method).to_owned(),
                (*stop).to_owned(),
                cell(of, 3, |it| it.last),
                cell(of, 3, |it| it.gap),
                cell(of, 3, |it| it.forgotten),
                cell(of, 3, |it| it.served),
                cell(of, 3, |it| it.accuracy),
                cell(of, 0, |it| Some(it.charged)),
            ]
        })
        .collect();
    let head = [
        "method",
        "stop",
        "risk at the end",
        "above retraining",
        "forgotten",
        "served",
        "accuracy (kNN)",
        "charged passes",
    ];
    let mut text = table(&head, "--:", &rows);
    write_untrained(&mut text, &runs);
    text += &moments(&runs)?;
    text += "Risk over held-out samples of each experience at the end, first seed:\n\n";
    text += &last_rows(&runs.of_icl[0].1);
    Ok(text)
}

fn write_untrained(text: &mut String, runs: &Runs) {
    let over_seeds = |of: &dyn Fn(&StreamRecord) -> Option<f64>| {
        let values: Vec<f64> = runs
            .of_icl
            .iter()
            .filter_map(|(_, record)| of(record))
            .collect();
        spread(&values, 3)
    };
    let risk = over_seeds(&|record| mean_of_all(record.untrained_risk.iter().copied()));
    let accuracy =
        over_seeds(&|record| mean_of_all(record.untrained_accuracy.as_ref()?.iter().copied()));
    let _ = write!(
        text,
        "Untrained encoder: risk {risk}, accuracy {accuracy}.\n\n"
    );
}

/// Returns the table of the rules for the moment of an update.
fn moments(runs: &Runs) -> Result<String, Failure> {
    let mut all = vec![("always", runs.icl()?), ("never", runs.control("never")?)];
    for when in MOMENTS {
        all.push((when, runs.moment(when)?));
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .filter(|(_, courses)| !courses.is_empty())
        .map(|(when, of)| {
            vec![
                (*when).to_owned(),
                cell(of, 1, |it| Some(it.n_updates as f64)),
                cell(of, 0, |it| Some(it.charged)),
                cell(of, 3, |it| it.served),
                cell(of, 3, |it| it.last),
            ]
        })
        .collect();
    let head = [
        "moment of an update",
        "updates",
        "charged passes",
        "served",
        "risk at the end",
    ];
    Ok(table(&head, "--:", &rows))
}

/// Returns the table of the risks of each encoder at the end.
fn last_rows(record: &StreamRecord) -> String {
    let controls = record
        .controls
        .iter()
        .map(|of| (of.method.as_str(), &of.risk));
    let rows: Vec<Vec<String>> = std::iter::once(("icl", &record.risk))
        .chain(controls)
        .map(|(method, risk)| {
            let shown = |cell: &Option<f64>| cell.map_or(MISSING.to_owned(), |x| format!("{x:.3}"));
            let cells = risk.last().into_iter().flatten().map(shown);
            std::iter::once(method.to_owned()).chain(cells).collect()
        })
        .collect();
    let head: Vec<&str> = std::iter::once("encoder")
        .chain(record.names.iter().map(String::as_str))
        .collect();
    table(&head, "--:", &rows)
}

/// Returns the tables of the overview, a row for each folder and name.
///
/// # Errors
/// If a record cannot be read or lacks a control, or a name is missing.
pub fn overview(streams: &[String]) -> Result<String, Failure> {
    let (pairs, rest) = streams.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(lacks(&rest[0], "a name after the folder"));
    }
    let (mut at_equal_cost, mut by_moment) = (Vec::new(), Vec::new());
    for [folder, name] in pairs {
        let runs = Runs::read(Path::new(folder), name)?;
        at_equal_cost.push(gaps(&runs)?);
        by_moment.push(costs_and_losses(&runs)?);
    }
    let mut head = vec!["data", "cost of icl / retraining", "icl"];
    head.extend(EQUAL);
    head.push("never");
    let mut text = table(&head, "--:", &at_equal_cost);
    head = vec!["data"];
    head.extend(MOMENTS);
    text += &table(&head, "--:", &by_moment);
    Ok(text)
}

/// Returns the row of the risks above retraining, at the cost of `icl`.
fn gaps(runs: &Runs) -> Result<Vec<String>, Failure> {
    let (icl, retraining) = (runs.icl()?, runs.control(REFERENCE)?);
    let shares = icl.iter().zip(&retraining);
    let shares: Vec<f64> = shares
        .map(|((_, a), (_, b))| a.charged / b.charged)
        .collect();
    let mut row = vec![
        format!("[{0}]({0}.md)", runs.name),
        format!("{:.2}", mean(&shares)),
    ];
    row.push(cell(&icl, 3, |it| it.gap));
    for method in EQUAL {
        row.push(cell(&runs.others(&format!("{method}-equal"))?, 3, |it| {
            it.gap
        }));
    }
    row.push(cell(&runs.control("never")?, 3, |it| it.gap));
    Ok(row)
}

/// Returns the row of the costs of the rules for the moment of an update, as shares of `always`, and of the service that
/// they lose, as shares of what `never` loses.
fn costs_and_losses(runs: &Runs) -> Result<Vec<String>, Failure> {
    let (always, never) = (runs.icl()?, runs.control("never")?);
    let mut row = vec![runs.name.clone()];
    for when in MOMENTS {
        let (mut cost, mut lost) = (Vec::new(), Vec::new());
        for (seed, course) in runs.moment(when)? {
            let ends = always.iter().zip(&never).find(|((of, _), _)| *of == seed);
            if let Some(((_, always), (_, never))) = ends {
                cost.push(course.charged / always.charged);
                let above = |it: &Course| Some(it.served? - always.served?);
                lost.extend(above(&course).zip(above(never)).map(|(own, all)| own / all));
            }
        }
        row.push(match cost.is_empty() {
            true => MISSING.to_owned(),
            false => format!("{}; {}", spread(&cost, 2), spread(&lost, 2)),
        });
    }
    Ok(row)
}
