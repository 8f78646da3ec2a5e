//! The sets of embeddings of a diagnosis.

use std::path::Path;

use anyhow::anyhow;
use icl_core::HostRows;
use icl_core::drift::DriftData;

use crate::files::embeddings;
use crate::files::embeddings::{StoredEmbeddings, check_one_encoder, check_same_samples};
use crate::process::failure::Failure;

/// Embeddings of anchors, positives and noise, all of one width.
pub struct Sets {
    pub data: DriftData,
    /// Width of a row.
    pub d: usize,
}

impl Sets {
    /// Reads the files of old anchors and positives, of old and new noise, and of new anchors and positives where there are
    /// any.
    ///
    /// # Errors
    /// If a file cannot be read, or its shape does not fit.
    pub fn read(
        pairs: [&Path; 2],
        noise: [&Path; 2],
        new_pairs: Option<[&Path; 2]>,
    ) -> Result<Self, Failure> {
        let read = |paths: [&Path; 2]| -> Result<[StoredEmbeddings; 2], Failure> {
            let [first, second] = paths;
            Ok([embeddings::read(first)?, embeddings::read(second)?])
        };
        let pairs = read(pairs)?;
        let noise = read(noise)?;
        let new_pairs = new_pairs.map(read).transpose()?;
        let all = pairs.iter().chain(&noise).chain(new_pairs.iter().flatten());
        for other in all {
            check_width(other, &pairs[0])?;
        }
        let all = pairs.iter().chain(&noise);
        let all = all.chain(new_pairs.iter().flatten());
        check_one_encoder(&all.collect::<Vec<_>>())?;
        check_pairs(&pairs)?;
        new_pairs.as_ref().map_or(Ok(()), check_pairs)?;
        let d = pairs[0].n_columns;
        let [pairs, noise] = [pairs, noise].map(|both| both.map(host_rows));
        let data = DriftData::try_new(pairs, noise).map_err(Failure::input)?;
        let data = match new_pairs {
            None => data,
            Some(pairs) => data
                .with_new_pairs(pairs.map(host_rows))
                .map_err(Failure::input)?,
        };
        Ok(Self { data, d })
    }
}

fn host_rows(of: StoredEmbeddings) -> HostRows {
    (of.values, of.n_columns)
}

fn shape(of: &StoredEmbeddings) -> String {
    format!("[{}, {}]", of.n_rows, of.n_columns)
}

fn check_width(of: &StoredEmbeddings, anchors: &StoredEmbeddings) -> Result<(), Failure> {
    if of.n_columns == anchors.n_columns {
        return Ok(());
    }
    Err(Failure::input(anyhow!(
        "{}: found shape {}, expected {} columns as in {}",
        of.path.display(),
        shape(of),
        anchors.n_columns,
        anchors.path.display()
    )))
}

fn check_pairs([anchors, positives]: &[StoredEmbeddings; 2]) -> Result<(), Failure> {
    if positives.n_rows == anchors.n_rows {
        return check_same_samples(positives, anchors);
    }
    Err(Failure::input(anyhow!(
        "{}: found shape {}, expected {} rows, one for each anchor in {}",
        positives.path.display(),
        shape(positives),
        anchors.n_rows,
        anchors.path.display()
    )))
}
