//! Plan of a mixture: what happens to which features.

use std::ops::Range;

use icl_core::Error;

use crate::place::Found;
use crate::tabular::column::{ColumnKind, TableColumn};
use crate::tabular::schema::TableSchema;

/// Mixing of neighbouring features with a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mixing {
    Linear,
    Geometric,
    /// All features or none are those of the partner.
    Exchange,
}

/// Features that are mixed in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) mixing: Mixing,
    pub(super) features: Range<usize>,
}

/// Returns the features of each column, those of a category together, with the exchange of a column.
pub(super) fn columns(schema: &TableSchema) -> Vec<Range<usize>> {
    let ranges = schema
        .columns()
        .iter()
        .map(|column| column.features.clone());
    ranges.filter(|features| !features.is_empty()).collect()
}

/// Returns the mixing of each column by its kind, see [`NoiseKind::Auto`](super::kind::NoiseKind::Auto).
pub(super) fn by_kind(schema: &TableSchema) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in schema.columns() {
        let mixing = mixing_of(column);
        let features = column.features.clone();
        match runs.last_mut() {
            _ if features.is_empty() => {}
            Some(last) if last.mixing == mixing && mixing != Mixing::Exchange => {
                last.features.end = features.end;
            }
            _ => runs.push(Run { mixing, features }),
        }
    }
    runs
}

fn mixing_of(column: &TableColumn) -> Mixing {
    match column.kind {
        _ if column.has_indicator => Mixing::Exchange,
        ColumnKind::Binary | ColumnKind::Categorical => Mixing::Exchange,
        ColumnKind::Skewed => Mixing::Geometric,
        // Dropped columns have no features.
        ColumnKind::Continuous
        | ColumnKind::Constant
        | ColumnKind::Excluded
        | ColumnKind::Index => Mixing::Linear,
    }
}

/// Checks that no column has values below 0.
pub(super) fn check_not_negative(schema: &TableSchema) -> Result<(), Error> {
    for column in schema.columns() {
        let mut statistics = schema.statistics()[column.features.clone()].iter();
        if let Some(negative) = statistics.find(|statistics| statistics.min < 0.0) {
            return Err(Error::new(
                format!(
                    "{}, column {}",
                    Found::new(schema.name()),
                    Found::new(&column.name)
                ),
                format!("the value {}", negative.min),
                "values of at least 0 for geometric mixing (or the noise `auto`, which mixes such a column linearly)",
            ));
        }
    }
    Ok(())
}
