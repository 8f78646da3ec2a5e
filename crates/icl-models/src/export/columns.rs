//! The columns of a table in an encoder's file, as far as an exported file needs them.

use icl_core::Error;
use serde::Deserialize;

use crate::stored_encoder::StoredEncoder;
use crate::stored_tensor::StoredTensor;

/// The part of a schema of `icl-data` that makes features of columns.
#[derive(Debug, Deserialize)]
pub(super) struct Columns {
    columns: Vec<Column>,
    statistics: Vec<Scale>,
}

#[derive(Debug, Deserialize)]
struct Column {
    name: String,
    categories: Vec<String>,
    has_indicator: bool,
    features: Features,
}

#[derive(Debug, Deserialize)]
struct Features {
    start: usize,
    end: usize,
}

#[derive(Debug, Deserialize)]
struct Scale {
    mean: f64,
    sd: f64,
    #[serde(default)]
    offset: f64,
}

impl Columns {
    /// Reads the columns from the file of an encoder that takes `d_input` features.
    ///
    /// # Errors
    /// If there are none, if they have another number of features, or if a mean, offset or deviation is not finite or a
    /// deviation not above 0.
    pub(super) fn of(file: &StoredEncoder, d_input: usize) -> Result<Self, Error> {
        let columns: Self = file.parsed("schema", "the columns of a table")?;
        let found = [columns.statistics.len(), columns.names().len()];
        if found != [d_input; 2] {
            return Err(file.wrong(
                format!(
                    "statistics of {} features, and names of {}",
                    found[0], found[1]
                ),
                format!("{d_input}, as many as the encoder takes"),
            ));
        }
        let is_number =
            |it: &Scale| [it.mean, it.sd, it.offset].iter().all(|x| x.is_finite()) && it.sd > 0.0;
        match columns.statistics.iter().position(|it| !is_number(it)) {
            None => Ok(columns),
            Some(at) => Err(file.wrong(
                format!(
                    "mean {} and deviation {} of feature {at}",
                    columns.statistics[at].mean, columns.statistics[at].sd
                ),
                "finite numbers, the deviation above 0",
            )),
        }
    }

    /// Returns the numbers by which features are standardised, `[d_input]` each in double precision.
    pub(super) fn tensors(&self) -> [StoredTensor; 3] {
        let tensor = |name: &str, of: fn(&Scale) -> f64| {
            let values = self.statistics.iter().map(of);
            StoredTensor {
                name: name.to_owned(),
                dtype: "F64",
                shape: vec![self.statistics.len()],
                bytes: values.flat_map(f64::to_le_bytes).collect(),
            }
        };
        [
            tensor("offset", |it| it.offset),
            tensor("mean", |it| it.mean),
            tensor("sd", |it| it.sd),
        ]
    }

    /// Returns the names of the features in their order as a JSON list.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn names_as_json(&self) -> Result<String, Error> {
        serde_json::to_string(&self.names()).map_err(Error::message)
    }

    /// Returns the names of the features in their order.
    fn names(&self) -> Vec<String> {
        let of_column = |column: &Column| {
            let Column {
                name, categories, ..
            } = column;
            let mut names: Vec<String> = match &categories[..] {
                _ if column.features.start == column.features.end => return Vec::new(),
                [] => vec![name.clone()],
                categories => categories.iter().map(|it| format!("{name}={it}")).collect(),
            };
            names.extend(column.has_indicator.then(|| format!("{name} is missing")));
            names
        };
        self.columns.iter().flat_map(of_column).collect()
    }
}
