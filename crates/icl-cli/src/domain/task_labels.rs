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
/// or another one that names samples. With several data sets, a column `data` says which one a row or a name is of.
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
    /// Row of each sample in its data set; `None` where they are of several files.
    pub rows: Option<Vec<usize>>,
}

impl TaskFile {
    /// Reads the file of `--task`, if there is one, and lets the readers of the data know which column names samples.
    ///
    /// # Errors
    /// If it cannot be read, has other columns, an empty field or a sample twice, or gives rows of data of which an
    /// option leaves some out.
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
            let leaves_out =
                reading.classes.is_some() || reading.limit.is_some() || reading.skip_broken;
            if file.id.is_none() && leaves_out {
                return Err(Failure::input(anyhow!(
                    "task: {}, line 1: found a column {ROW} with an option that leaves samples out (classes, limit, \
                     skip-broken), expected all samples, or a column that names them",
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
            let found = match names.first() {
                Some(label) => format!("the label {} alone", Found::new(label)),
                None => "no row".to_owned(),
            };
            return Err(anyhow!(
                "task: {path}: found {found}, expected at least 2 different labels"
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
        let is_foreign = |[data, _]: &[String; 2]| self.has_data && !names.contains(&&**data);
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
    /// If the file gives names and the samples have none, or rows and not which data they are of, a row that the data
    /// do not have, or a name of several files.
    pub fn labels_so_far<D: DataSet>(
        &self,
        data: &D,
        parts: &[Part<'_>],
    ) -> Result<Vec<Option<usize>>, Failure> {
        let is_one = parts.iter().any(|part| part.name.is_empty());
        if self.has_data && is_one {
            return Err(self.wrong(format!(
                ", line 1: found a column {DATA}, expected none: there is one data set"
            )));
        }
        match &self.id {
            Some(id) => self.labels_by_name(data, id, parts),
            None if !self.has_data && !is_one => Err(self.wrong(format!(
                ", line 1: found no column {DATA}, expected one, since rows are of several data sets"
            ))),
            None => self.labels_by_row(data, parts),
        }
    }

    fn label(&self, data: &str, name: &str) -> Option<usize> {
        let sample = [data, name].map(ToOwned::to_owned);
        self.samples.get(&sample).map(|it| it.1)
    }

    fn labels_by_row<D: DataSet>(
        &self,
        data: &D,
        parts: &[Part<'_>],
    ) -> Result<Vec<Option<usize>>, Failure> {
        let mut labels = vec![None; data.n_samples()];
        for part in parts {
            let Some(rows) = &part.rows else {
                continue;
            };
            if rows.len() != part.samples.len() {
                return Err(self.wrong(format!(
                    ", line 1: found a column {ROW}, expected none: the {} of {} depend on earlier data and have no \
                     rows of their own",
                    D::SAMPLES,
                    part.name
                )));
            }
            let rows: Vec<String> = rows.iter().map(usize::to_string).collect();
            let known: HashSet<&String> = rows.iter().collect();
            let is_absent = |[data, row]: &[String; 2]| data == part.name && !known.contains(row);
            if let Some((line, sample)) = self.first(is_absent) {
                return Err(self.wrong(format!(
                    ", line {line}, column {ROW}: found {}, expected the number of a sample, counted from 0",
                    sample[1]
                )));
            }
            for (&at, row) in part.samples.iter().zip(&rows) {
                labels[at] = self.label(part.name, row);
            }
        }
        Ok(labels)
    }

    fn labels_by_name<D: DataSet>(
        &self,
        data: &D,
        id: &str,
        parts: &[Part<'_>],
    ) -> Result<Vec<Option<usize>>, Failure> {
        let names = data.ids(id).map_err(|reason| {
            self.wrong(format!(
                ", line 1: found a column {}, expected {ROW}: {reason}",
                Found::new(id)
            ))
        })?;
        if self.has_data {
            let mut labels = vec![None; names.len()];
            for part in parts {
                for &at in part.samples {
                    labels[at] = self.label(part.name, &names[at]);
                }
            }
            return Ok(labels);
        }
        let labels: Vec<Option<usize>> = names.iter().map(|name| self.label("", name)).collect();
        let mut seen = HashSet::new();
        let mut labelled = names.iter().zip(&labels).filter(|(_, it)| it.is_some());
        match labelled.find(|(name, _)| !seen.insert(*name)) {
            Some((name, _)) if !D::NAMES_A_THING => Err(self.wrong(format!(
                ": found {}, which names several {}, expected names of one, or a column {DATA}",
                Found::new(name),
                D::SAMPLES
            ))),
            _ => Ok(labels),
        }
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
