//! Data of any kind, by name or path.

mod data_set;
pub mod kept;
mod library_data;
mod read_all;
mod sources;
pub mod unknown_data;
mod written;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::Samples;
use icl_data::{
    DataError, DataErrorKind, GraphDataset, ImageDataset, Interactions, NextItemDataset, RawTable,
    TextPairs, embedded, looks_like_images, looks_like_interactions, looks_like_table,
};

use crate::options::choice::suggestion;
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;
use crate::process::terminal::{tell, tell_notes};

use unknown_data::unknown;

pub use data_set::{DataSet, followed, tell_equal, tell_unlabelled};
pub use library_data::tell_order;
pub use sources::{absolute, sources};

/// Name of graphs in messages.
pub const GRAPHS: &str = "graphs";
/// Name of images in messages.
pub const IMAGES: &str = "images";
/// Name of interactions in messages.
pub const INTERACTIONS: &str = "interactions";
/// Name of tables in messages.
pub const TABLES: &str = "tables";
/// Name of pairs of texts in messages.
pub const TEXT_PAIRS: &str = "pairs of texts";

/// Data of one of the kinds.
pub enum Data {
    Graphs(GraphDataset),
    Images(ImageDataset),
    Interactions(Interactions),
    Tables(RawTable),
    TextPairs(TextPairs),
}

impl Data {
    /// Reads an embedded data set, or one on the disk.
    ///
    /// # Errors
    /// If it does not exist or cannot be read, or an option is for another kind of data.
    pub fn read(name: &str, reading: &ReadingOptions) -> Result<Self, Failure> {
        let is_one_of = |known: &[&str]| known.iter().any(|own| own.eq_ignore_ascii_case(name));
        if is_one_of(embedded::image_names()) {
            let options = reading.of_images(name)?;
            let images = embedded::images(name).map_err(Failure::input)?;
            return images
                .select(&options.classes, options.limit)
                .map(Self::Images)
                .map_err(Failure::input);
        }
        if is_one_of(embedded::table_names()) {
            reading.check_no_texts(name)?;
            let options = reading.of_tables(name)?;
            let table = embedded::tables(name).map_err(Failure::input)?;
            return table
                .select(&options.classes, options.limit)
                .map(Self::Tables)
                .map_err(Failure::input);
        }
        let path = Path::new(name);
        if !is_one_of(embedded::graph_names()) && !path.exists() {
            return Err(Failure::input(anyhow!(
                "{name}: found no such file or folder, expected an embedded data set ({}), a TU data \
                 set, a table, interactions, an IDX or CIFAR file, or a folder of images{}",
                embedded::names().join(", "),
                suggestion(name, embedded::names().iter().copied())
            )));
        }
        if let Some(path) = single_file(path, |path| looks_like_interactions(path)) {
            reading.check_interactions(name)?;
            let interactions = icl_data::read_interactions(&path).map_err(Failure::input)?;
            return Ok(Self::Interactions(interactions));
        }
        if let Some(path) = single_file(path, |path| looks_like_table(path)) {
            if let Some(options) = reading.of_text_pairs(name)? {
                let pairs = icl_data::read_text_pairs(&path, &options).map_err(Failure::input)?;
                tell_notes(pairs.name(), pairs.note());
                return Ok(Self::TextPairs(pairs));
            }
            let options = reading.of_tables(name)?;
            let table = icl_data::read_table(&path, &options).map_err(Failure::input)?;
            tell_notes(table.name(), table.notes());
            return Ok(Self::Tables(table));
        }
        let tables = sources::tables_in(path);
        if !tables.is_empty() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return Ok(Self::read_all(&tables, reading)?.with_name(&name));
        }
        if looks_like_images(path) {
            let options = reading.of_images(name)?;
            let images = icl_data::read_images(path, &options).map_err(Failure::input)?;
            tell_what_was_left_out(&images);
            return Ok(Self::Images(images));
        }
        let graphs = if is_one_of(embedded::graph_names()) {
            embedded::graphs(name)
        } else {
            icl_data::read_tu(name)
        };
        let is_none = |error: &DataError| error.kind() == DataErrorKind::NoDataSet;
        let is_unknown = graphs.as_ref().is_err_and(is_none);
        if is_unknown && !is_zip(path) {
            return Err(unknown(path));
        }
        // What is no data set at all is none of graphs, for which an option would be wrong.
        let (classes, limit) = reading.of_graphs(name)?;
        let selected = graphs.and_then(|graphs| graphs.select(&classes, limit));
        selected.map(Self::Graphs).map_err(Failure::input)
    }

    /// Appends data of the same kind, however few.
    ///
    /// # Errors
    /// If they are of another kind, or do not fit these.
    pub fn append(self, new: Self) -> Result<Self, Failure> {
        Ok(match (self, new) {
            (Self::Graphs(old), Self::Graphs(new)) => {
                Self::Graphs(old.append(&new).map_err(Failure::input)?)
            }
            (Self::Images(old), Self::Images(new)) => {
                Self::Images(old.append(&new).map_err(Failure::input)?)
            }
            (Self::Interactions(old), Self::Interactions(new)) => {
                Self::Interactions(old.append(&new).interactions)
            }
            (Self::Tables(old), Self::Tables(new)) => {
                Self::Tables(old.append(&new).map_err(Failure::input)?)
            }
            (Self::TextPairs(old), Self::TextPairs(new)) => Self::TextPairs(old.append(&new)),
            (old, new) => {
                let (found, expected) = (new.kind(), old.kind());
                return Err(Failure::input(anyhow!(
                    "found {found}, expected {expected}, as before"
                )));
            }
        })
    }

    /// Names the data, as their files will be named.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        match self {
            Self::Graphs(graphs) => Self::Graphs(graphs.with_name(name)),
            Self::Images(images) => Self::Images(images.with_name(name)),
            Self::Interactions(log) => Self::Interactions(log),
            Self::Tables(table) => Self::Tables(table.with_name(name)),
            Self::TextPairs(pairs) => Self::TextPairs(pairs.with_name(name)),
        }
    }

    /// Returns the number of samples.
    pub fn n_samples(&self) -> usize {
        match self {
            Self::Graphs(graphs) => graphs.graphs().len(),
            Self::Images(images) => images.n_images(),
            // The first interaction of a user has no history.
            Self::Interactions(log) => NextItemDataset::of_all(log).n_samples(),
            Self::Tables(table) => table.n_rows(),
            Self::TextPairs(pairs) => pairs.pairs().len(),
        }
    }

    /// Returns the name of the kind of data.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Graphs(_) => GRAPHS,
            Self::Images(_) => IMAGES,
            Self::Interactions(_) => INTERACTIONS,
            Self::Tables(_) => TABLES,
            Self::TextPairs(_) => TEXT_PAIRS,
        }
    }
}

/// Whether data could not be read because a file holds no samples at all.
pub fn holds_nothing(failure: &Failure) -> bool {
    let mut causes = failure.causes().filter_map(|it| it.downcast_ref());
    causes.any(|it: &DataError| it.kind() == DataErrorKind::Empty)
}

/// Returns the path of data that are one file of a kind: that file, or the only file of a folder, as `icl split` writes
/// it.
fn single_file(path: &Path, is_of_kind: fn(&Path) -> bool) -> Option<PathBuf> {
    if path.is_dir() {
        let mut files = std::fs::read_dir(path).ok()?;
        let (first, second) = (files.next()?.ok()?.path(), files.next());
        return (second.is_none() && is_of_kind(&first)).then_some(first);
    }
    is_of_kind(path).then(|| path.to_owned())
}

/// Returns `true` if a file should be an archive, by its name: the reader's own error says what is wrong with it.
fn is_zip(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("zip")) && !path.is_dir()
}

/// Reports the number of files in a folder that are not among the images.
fn tell_what_was_left_out(images: &ImageDataset) {
    let counts = images.counts();
    for (n, what) in [
        (
            counts.n_hidden,
            "hidden files, or folders of other programs, were not looked at",
        ),
        (counts.n_other, "files of other types were not read"),
    ] {
        if n > 0 {
            tell(format_args!("note: {}: {n} {what}", images.name()));
        }
    }
    for fault in &counts.broken {
        tell(format_args!("note: left out: {fault}"));
    }
}

/// Returns the failure of values outside the range of the encoder's data, where the user requested one. A stream
/// that watches a folder ends with it, where it would leave out a file with an error of the data.
pub fn of_outliers(error: DataError) -> Failure {
    Failure::input(anyhow!("{error}"))
}
