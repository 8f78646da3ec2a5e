//! Facts about the rows of a file of embeddings: by which encoder, of which samples.

use std::collections::BTreeSet;
use std::fmt::Display;

use anyhow::anyhow;
use icl_data::{Found, RawTable, TextColumn};
use serde::{Deserialize, Serialize};

use crate::process::failure::Failure;

/// Column of the names of samples.
pub const ID: &str = "id";
/// Column of the names of classes.
pub const LABEL: &str = "label";
/// Column of the digest of the encoder.
pub const ENCODER: &str = "encoder";
/// Column of the embedding.
pub const EMBEDDING: &str = "embedding";

/// Facts about the rows of a file of embeddings, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowFacts {
    /// Digest of the encoder.
    #[serde(default)]
    pub encoder: Option<String>,
    /// Name of the data set.
    #[serde(default)]
    pub data: Option<String>,
    /// Name of the sample of each row.
    #[serde(default)]
    pub ids: Option<Vec<String>>,
    /// Names of the classes.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Class of each row, as a place among the names; `None` without classes.
    #[serde(default)]
    pub labels: Option<Vec<usize>>,
    /// Further columns: a name, and a text for each row.
    #[serde(default)]
    pub columns: Vec<(String, Vec<String>)>,
}

impl RowFacts {
    /// Returns the columns of texts about each of `n` rows: the name of its sample, of its class, the further ones, and
    /// the digest of the encoder.
    pub fn texts(&self, n: usize) -> Vec<(String, Vec<String>)> {
        let mut texts = Vec::new();
        texts.extend(self.ids.clone().map(|ids| (ID.to_owned(), ids)));
        if let Some(labels) = &self.labels {
            let names = labels.iter().map(|&label| self.classes[label].clone());
            texts.push((LABEL.to_owned(), names.collect()));
        }
        texts.extend(self.columns.iter().cloned());
        let encoder = self.encoder.clone();
        texts.extend(encoder.map(|digest| (ENCODER.to_owned(), vec![digest; n])));
        texts
    }

    /// Checks the names of further columns.
    ///
    /// # Errors
    /// If one is there twice, or is that of another column of the file.
    pub fn check_columns(&self) -> Result<(), Failure> {
        let mut names = BTreeSet::new();
        for (name, _) in &self.columns {
            if [ID, LABEL, ENCODER, EMBEDDING].contains(&&name[..]) || is_place(name) {
                return Err(Failure::input(anyhow!(
                    "keep: found {}, which is the name of a column of the file itself, expected another one",
                    Found::new(name)
                )));
            }
            if !names.insert(name) {
                return Err(Failure::input(anyhow!(
                    "keep: found {} twice, expected each column once",
                    Found::new(name)
                )));
            }
        }
        Ok(())
    }

    /// Takes the facts about rows from the columns of a table. Further columns are those of a file that names its encoder:
    /// other programs' may be anything.
    ///
    /// # Errors
    /// If the rows are by several encoders. `path` names the file.
    pub fn of_table(path: &impl Display, table: &RawTable) -> Result<Self, Failure> {
        let texts = |name: &str| table.texts(name);
        let encoders: BTreeSet<String> = texts(ENCODER).into_iter().flatten().collect();
        let mut encoders = encoders.into_iter();
        let encoder = encoders.next();
        if let (Some(first), Some(second)) = (&encoder, encoders.next()) {
            return Err(Failure::input(anyhow!(
                "{path}: found embeddings by two encoders, {} and {}, expected those of one",
                Found::new(first),
                Found::new(&second)
            )));
        }
        let mut facts = Self {
            encoder,
            ids: texts(ID),
            ..Self::default()
        };
        if facts.encoder.is_none() {
            return Ok(facts);
        }
        if let Some(labels) = texts(LABEL) {
            let classes: BTreeSet<&String> = labels.iter().collect();
            let place = |label| classes.iter().position(|it| *it == label);
            facts.labels = labels.iter().map(place).collect();
            facts.classes = classes.into_iter().cloned().collect();
        }
        let own = [ID, LABEL, ENCODER, EMBEDDING];
        let names = table.column_names().into_iter();
        let names = names.filter(|name| !own.contains(name) && !is_place(name));
        facts.columns = names
            .filter_map(|name| Some((name.to_owned(), texts(name)?)))
            .collect();
        Ok(facts)
    }

    /// Checks that there is a fact of each kind about every one of `n` rows, and that every class has a name.
    ///
    /// # Errors
    /// If that is not so. `path` names the file.
    pub fn checked(self, path: &impl Display, n: usize) -> Result<Self, Failure> {
        let ids = self.ids.iter().map(|ids| ("ids", ids.len()));
        let labels = self.labels.iter().map(|labels| ("labels", labels.len()));
        let columns = self
            .columns
            .iter()
            .map(|(name, texts)| (&name[..], texts.len()));
        let mut all = ids.chain(labels).chain(columns);
        if let Some((what, found)) = all.find(|(_, found)| *found != n) {
            return Err(Failure::input(anyhow!(
                "{path}: found {found} {}, expected {n}, one for each row",
                Found::new(what)
            )));
        }
        let n_classes = self.classes.len();
        match self.labels.iter().flatten().find(|it| **it >= n_classes) {
            None => Ok(self),
            Some(label) => Err(Failure::input(anyhow!(
                "{path}: found the label {label}, expected one below {n_classes}, the number of classes"
            ))),
        }
    }
}

/// Whether a name is that of a place in the vectors of a table of embeddings.
pub fn is_place(name: &str) -> bool {
    let place = name
        .strip_prefix('e')
        .and_then(|it| it.parse::<usize>().ok());
    place.is_some_and(|place| format!("e{place}") == name)
}

/// Returns columns as the writers of files take them.
pub fn as_columns(texts: &[(String, Vec<String>)]) -> Vec<TextColumn<'_>> {
    let columns = texts.iter();
    columns
        .map(|(name, texts)| (&name[..], &texts[..]))
        .collect()
}
