//! Several sources, put together.

use std::collections::BTreeSet;

use anyhow::anyhow;
use icl_data::RawTable;

use crate::domain::data::Data;
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

impl Data {
    /// Reads sources and puts their samples together, in the order of the sources.
    ///
    /// # Errors
    /// If one cannot be read, or is of another kind or does not fit the first.
    pub fn read_all(sources: &[String], reading: &ReadingOptions) -> Result<Self, Failure> {
        let parts = sources.iter();
        let parts = parts.map(|source| Ok((source.as_str(), Self::read(source, reading)?)));
        Self::together(parts.collect::<Result<_, Failure>>()?)
    }

    /// Puts the samples of data together, in their order, each with the name of its source.
    ///
    /// # Errors
    /// If there are none, or some are of another kind or do not fit the first.
    pub fn together(mut parts: Vec<(&str, Self)>) -> Result<Self, Failure> {
        if let Some(((first, of_first), others)) = parts.split_first() {
            let others = others.iter();
            others.for_each(|(source, part)| tell_other_columns((source, part), (first, of_first)));
        }
        // In pairs: one after the other, the first samples would be copied as often as there are sources.
        while parts.len() > 1 {
            let mut pairs = parts.into_iter();
            let mut joined = Vec::new();
            while let Some((first, left)) = pairs.next() {
                let Some((second, right)) = pairs.next() else {
                    joined.push((first, left));
                    break;
                };
                let both = left.append(right).map_err(|failure| match failure {
                    Failure::Input(error) => Failure::Input(anyhow!("{second}: {error}")),
                    other => other,
                })?;
                joined.push((first, both));
            }
            parts = joined;
        }
        match parts.pop() {
            Some((_, data)) => Ok(data),
            None => Err(Failure::input(anyhow!(
                "data: found no source, expected at least one"
            ))),
        }
    }
}

/// Reports columns that one of two tables lacks: of tables that are put together, only those of all are kept.
fn tell_other_columns((source, data): (&str, &Data), (first, of_first): (&str, &Data)) {
    let (Data::Tables(found), Data::Tables(expected)) = (data, of_first) else {
        return;
    };
    let missing = |of: &RawTable, in_other: &RawTable| -> Vec<String> {
        let others: BTreeSet<&str> = in_other.column_names().into_iter().collect();
        let names = of.column_names().into_iter();
        names
            .filter(|name| !others.contains(name))
            .map(str::to_owned)
            .collect()
    };
    for (has, lacks, columns) in [
        (source, first, missing(found, expected)),
        (first, source, missing(expected, found)),
    ] {
        if !columns.is_empty() {
            tell(format_args!(
                "note: {lacks} lacks columns of {has}, which are left out: {}",
                columns.join(", ")
            ));
        }
    }
}
