//! Labels of a downstream task: those of the data, or those of a file of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use anyhow::anyhow;
use icl_data::{Found, TextTable};

use crate::domain::data::DataSet;
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

const LABEL: &str = "label";
const ROW: &str = "row";
const DATA: &str = "data";

/// File of labels: a table of the columns `label` and either `row`, the number of a sample in its data, counted from 0,
/// or another one that names samples. With several data sets, a column `data` says which one a row is of.
#[derive(Debug)]
pub struct TaskFile {
    /// Path in messages.
    path: String,
    /// Column that names samples; `None` where their rows are given.
    id: Option<String>,
    has_data: bool,
    /// Line and class of each sample, by its data and by its row or name.
    samples: HashMap<[String; 2], (usize, usize)>,
}

/// Samples that were read from one data set.
pub struct Part<'a> {
    /// Name of the data set in the column `data`; empty if there is no other.
    pub name: &'a str,
    /// Numbers of the samples among those of all parts.
    pub samples: &'a [usize],
    /// Row of each sample in its data set.
    pub rows: Vec<usize>,
}

impl TaskFile {
    /// Reads the file of `--task`, if there is one, and lets the readers of the data know which column names samples.
    ///
    /// # Errors
    /// If it cannot be read, has other columns, an empty field or a sample twice, or gives rows of data of which an option
    /// leaves some out.
    pub fn open(
        path: Option<&Path>,
        readings: &mut [ReadingOptions],
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = path else {
            return Ok(None);
        };
        let table = icl_data::read_text_table(path);
        let table = table.map_err(|error| Failure::input(anyhow!("task: {error}")))?;
        let path = path.display().to_string();
        let file = Self::of_table(path, &table).map_err(Failure::input)?;
        for reading in readings {
            if file.id.is_none() && (reading.classes.is_some() || reading.limit.is_some()) {
                return Err(Failure::input(anyhow!(
                    "task: {}, line 1: found a column {ROW} with options that leave rows out (classes, limit), expected \
                     all rows, or a column that names the samples",
                    file.path
                )));
            }
            reading.id.clone_from(&file.id);
        }
        Ok(Some(file))
    }

    fn of_table(path: String, table: &TextTable) -> Result<Self, anyhow::Error> {
        let columns = &table.columns;
        let [label, data] = [LABEL, DATA].map(|name| columns.iter().position(|it| it == name));
        let others = (0..columns.len()).filter(|&at| ![label, data].contains(&Some(at)));
        let others: Vec<usize> = others.collect();
        let (Some(label), &[key]) = (label, &others[..]) else {
            return Err(anyhow!(
                "task: {path}, line 1: found the columns {}, expected {LABEL} and either {ROW} or one that names the \
                 samples (and {DATA}, where rows are of several data sets)",
                Found::new(&columns.join(","))
            ));
        };
        let id = (columns[key] != ROW).then(|| columns[key].clone());
        let mut labels: Vec<(usize, [String; 2], &String)> = Vec::new();
        for (line, row) in &table.rows {
            if let Some(empty) = row.iter().position(String::is_empty) {
                return Err(anyhow!(
                    "task: {path}, line {line}, column {}: found nothing, expected a text",
                    columns[empty]
                ));
            }
            let name = match (&id, row[key].parse::<usize>()) {
                (Some(_), _) => row[key].clone(),
                // "07" is row 7.
                (None, Ok(number)) => number.to_string(),
                (None, Err(_)) => {
                    return Err(anyhow!(
                        "task: {path}, line {line}, column {ROW}: found {}, expected a whole number from 0",
                        Found::new(&row[key])
                    ));
                }
            };
            let data = data.map(|at| row[at].clone());
            labels.push((*line, [data.unwrap_or_default(), name], &row[label]));
        }
        let names: BTreeSet<&String> = labels.iter().map(|it| it.2).collect();
        if names.len() < 2 {
            return Err(anyhow!(
                "task: {path}: found {} different labels, expected at least 2",
                names.len()
            ));
        }
        let classes: BTreeMap<&String, usize> = names.into_iter().zip(0..).collect();
        let mut samples: HashMap<[String; 2], (usize, usize)> = HashMap::new();
        for (line, sample, label) in labels {
            let named = Found::new(&sample[1]);
            if let Some((before, _)) = samples.insert(sample, (line, classes[label])) {
                return Err(anyhow!(
                    "task: {path}, line {line}: found {named} again, expected each sample once (first on line {before})"
                ));
            }
        }
        Ok(Self {
            path,
            id,
            has_data: data.is_some(),
            samples,
        })
    }

    /// Returns the label of each sample of `data`, which consist of `parts`, as a number; `None` for a sample without
    /// one. Reports how many samples have one.
    ///
    /// # Errors
    /// Those of [`labels_so_far`](Self::labels_so_far), or if a row is of none of the parts, or no sample has a label.
    pub fn labels<D: DataSet>(
        &self,
        data: &D,
        parts: &[Part<'_>],
    ) -> Result<Vec<Option<usize>>, Failure> {
        let labels = self.labels_so_far(data, parts)?;
        let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
        let is_foreign = |sample: &[String; 2]| self.has_data && !names.contains(&&*sample[0]);
        if let Some((line, sample)) = self.first(is_foreign) {
            return Err(self.wrong(format!(
                ", line {line}, column {DATA}: found {}, expected one of {}",
                Found::new(&sample[0]),
                names.join(", ")
            )));
        }
        let n_found = labels.iter().flatten().count();
        if n_found == 0 {
            return Err(self.wrong(format!(
                ": found none of its {} samples in {}, expected some",
                self.samples.len(),
                Found::new(data.name())
            )));
        }
        tell(format_args!(
            "note: task: {n_found} of {} {} have a label",
            data.n_samples(),
            D::SAMPLES
        ));
        Ok(labels)
    }

    /// Returns the label of each sample of data to which further parts may be added, as [`labels`](Self::labels) does.
    ///
    /// # Errors
    /// If the file gives names and the samples have none, or rows and not which data they are of, or a row that the data
    /// do not have.
    pub fn labels_so_far<D: DataSet>(
        &self,
        data: &D,
        parts: &[Part<'_>],
    ) -> Result<Vec<Option<usize>>, Failure> {
        let needs_data = self.id.is_none() && parts.iter().all(|part| !part.name.is_empty());
        if needs_data != self.has_data {
            let [found, expected] = match self.has_data {
                true => [
                    "a column",
                    "none, since samples are named or of one data set",
                ],
                false => ["no column", "one, since rows are of several data sets"],
            };
            return Err(self.wrong(format!(
                ", line 1: found {found} {DATA}, expected {expected}"
            )));
        }
        let label = |[data, name]: [&str; 2]| {
            let sample = [data, name].map(ToOwned::to_owned);
            self.samples.get(&sample).map(|it| it.1)
        };
        let mut labels = vec![None; data.n_samples()];
        if let Some(id) = &self.id {
            let ids = data.ids(id).ok_or_else(|| {
                self.wrong(format!(
                    ", line 1: found a column {}, expected {ROW}: the {} of {} have no such names",
                    Found::new(id),
                    D::SAMPLES,
                    Found::new(data.name())
                ))
            })?;
            let found = ids.iter().map(|name| label(["", name]));
            return Ok(found.collect());
        }
        for part in parts {
            let rows: HashSet<String> = part.rows.iter().map(usize::to_string).collect();
            let is_absent = |[data, row]: &[String; 2]| data == part.name && !rows.contains(row);
            if let Some((line, sample)) = self.first(is_absent) {
                return Err(self.wrong(format!(
                    ", line {line}, column {ROW}: found {}, expected the number of a sample, counted from 0",
                    sample[1]
                )));
            }
            for (&at, row) in part.samples.iter().zip(&part.rows) {
                labels[at] = label([part.name, &row.to_string()]);
            }
        }
        Ok(labels)
    }

    /// Returns the first line whose sample is such, and the sample.
    fn first(&self, is_such: impl Fn(&[String; 2]) -> bool) -> Option<(usize, &[String; 2])> {
        let such = self.samples.iter().filter(|(sample, _)| is_such(sample));
        such.map(|(sample, (line, _))| (*line, sample)).min()
    }

    fn wrong(&self, what: String) -> Failure {
        Failure::input(anyhow!("task: {}{what}", self.path))
    }
}

/// Returns the classes of the data as labels; `None` if they have none.
pub fn labels_of_data<D: DataSet>(data: &D) -> Option<Vec<Option<usize>>> {
    let has_labels = data.has_labels() && data.check_labels("").is_ok();
    has_labels.then(|| data.labels().into_iter().map(Some).collect())
}
