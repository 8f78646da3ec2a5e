//! Labels of a downstream task: those of the data, or those of a file of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    /// Name of the data set in the column `data`.
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
    /// If the file gives names and the samples have none, or rows and not which data they are of, or a row that the data
    /// do not have, or no label of any sample.
    pub fn labels<D: DataSet>(
        &self,
        data: &D,
        parts: &[Part<'_>],
    ) -> Result<Vec<Option<usize>>, Failure> {
        let wrong = |what: String| Failure::input(anyhow!("task: {}{what}", self.path));
        let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
        let needs_data = self.id.is_none() && parts.len() > 1;
        if needs_data != self.has_data {
            let [found, expected] = match self.has_data {
                true => [
                    "a column",
                    "none, since samples are named or of one data set",
                ],
                false => ["no column", "one, since rows are of several data sets"],
            };
            return Err(wrong(format!(
                ", line 1: found {found} {DATA}, expected {expected}"
            )));
        }
        let mut labels = vec![None; data.n_samples()];
        let mut n_found = 0;
        if let Some(id) = &self.id {
            let ids = data.ids(id).ok_or_else(|| {
                wrong(format!(
                    ", line 1: found a column {}, expected {ROW}: the {} of {} have no such names",
                    Found::new(id),
                    D::SAMPLES,
                    Found::new(data.name())
                ))
            })?;
            for (label, name) in labels.iter_mut().zip(ids) {
                *label = self.samples.get(&[String::new(), name]).map(|it| it.1);
            }
            n_found = labels.iter().flatten().count();
        } else {
            for part in parts {
                let data = if needs_data { part.name } else { "" };
                for (&at, row) in part.samples.iter().zip(&part.rows) {
                    let sample = [data.to_owned(), row.to_string()];
                    labels[at] = self.samples.get(&sample).map(|it| it.1);
                    n_found += usize::from(labels[at].is_some());
                }
            }
            if n_found < self.samples.len() {
                return Err(wrong(self.absent(parts, needs_data, &names)));
            }
        }
        if n_found == 0 {
            return Err(wrong(format!(
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

    /// Returns an error text about the first line whose row is not among the parts.
    fn absent(&self, parts: &[Part<'_>], needs_data: bool, names: &[&str]) -> String {
        let is_there = |[data, row]: &[String; 2]| {
            let of = parts.iter().filter(|it| !needs_data || it.name == data);
            let mut rows = of.flat_map(|it| &it.rows);
            let row: Result<usize, _> = row.parse();
            row.is_ok_and(|row| rows.any(|it| *it == row))
        };
        let absent = self.samples.iter().filter(|(sample, _)| !is_there(sample));
        let first = absent.min_by_key(|(_, (line, _))| *line);
        let ([data, row], (line, _)) = first.expect("more labels than samples");
        match needs_data && !names.contains(&data.as_str()) {
            true => format!(
                ", line {line}, column {DATA}: found {}, expected one of {}",
                Found::new(data),
                names.join(", ")
            ),
            false => format!(
                ", line {line}, column {ROW}: found {row}, expected the number of a sample, counted from 0"
            ),
        }
    }
}

/// Returns the labels of a file, or those of the data; `None` where neither has any.
///
/// # Errors
/// Those of [`TaskFile::labels`].
pub fn task_labels<D: DataSet>(
    file: Option<&TaskFile>,
    data: &D,
    parts: &[Part<'_>],
) -> Result<Option<Vec<Option<usize>>>, Failure> {
    match file {
        Some(file) => file.labels(data, parts).map(Some),
        None => {
            let has_labels = data.has_labels() && data.check_labels("").is_ok();
            let labels = || data.labels().into_iter().map(Some).collect();
            Ok(has_labels.then(labels))
        }
    }
}
