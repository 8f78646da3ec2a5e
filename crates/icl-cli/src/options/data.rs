//! The data that are read.

use anyhow::anyhow;
use clap::Args;
use icl_data::catalogue::DATA_DIR;
use icl_data::{Header, Missing, Outliers, TableOptions, TextPairOptions, embedded};
use serde::Serialize;

use crate::options::classes::Classes;
use crate::options::{bounds, choice};
use crate::process::failure::Failure;

/// Bytes of a MiB.
const MIB: usize = 1 << 20;

/// A data set.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct DataOptions {
    #[arg(
        id = "data",
        long = "data",
        value_name = "DATA",
        default_value = "MUTAG",
        help = format!(
            "Data set: an embedded one ({}), or a path. Paths are those of a TU data set (zip or folder), a table \
             (.csv, .tsv, also with .gz, or .parquet), interactions (.inter, u.data or ratings.dat), an IDX file, a \
             CIFAR file or folder, a folder with one folder of images per class, or one of images without classes",
            embedded::names().join(", ")
        )
    )]
    #[serde(rename = "data")]
    pub(crate) name: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub reading: ReadingOptions,
}

impl DataOptions {
    /// Checks that the data set has a name.
    ///
    /// # Errors
    /// If the name is empty.
    pub fn check(&self) -> Result<(), Failure> {
        if self.name.is_empty() {
            return Err(Failure::input(anyhow!(
                "data: found no name, expected that of a data set, a zip or a folder"
            )));
        }
        Ok(())
    }
}

/// The samples of a data set that are used, and how files are read.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct ReadingOptions {
    /// Use only these classes, comma-separated
    #[arg(long, value_name = "NAMES")]
    pub classes: Option<Classes>,
    /// Use at most N samples, balanced across classes
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::SAMPLES))]
    pub limit: Option<usize>,
    /// Skip images that cannot be decoded instead of reporting an error (images only)
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    pub skip_broken: bool,
    /// Maximum memory for the decoded images of a folder, in MiB
    #[arg(
        long,
        value_name = "MIB",
        value_parser = bounds::at_most(bounds::CACHE_MIB),
        default_value_t = icl_data::ImageOptions::default().cache_bytes / MIB
    )]
    pub image_cache: usize,
    /// Column of the classes, by its name or its number from 1 (tables only). Without it, a table has no
    /// classes; training needs none
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Columns that are not read, comma-separated, by name or number from 1 (tables only)
    #[arg(long, value_name = "COLUMNS")]
    pub exclude: Option<Classes>,
    /// First line of a table: names of the columns (yes), values (no), or what it looks like (tables only)
    #[arg(
        long,
        value_parser = choice::any::<Header>(),
        default_value = choice::name(&Header::default())
    )]
    pub header: Header,
    /// Missing values of a table: an error, or the mean of the old data with a column that marks them (tables
    /// only)
    #[arg(
        long,
        value_parser = choice::any::<Missing>(),
        default_value = choice::name(&Missing::default())
    )]
    pub missing: Missing,
    /// Values outside the range of the encoder's own data: clip them, an error, or keep them (tables, and attributes of
    /// graphs). The range goes from the least value to the greatest and by as much again below and above
    #[arg(
        long,
        value_parser = choice::any::<Outliers>(),
        default_value = choice::name(&Outliers::default())
    )]
    pub outliers: Outliers,
    /// Read a table as pairs of texts: the columns of the first and of the second text, by names or numbers from 1,
    /// comma-separated (.csv and .tsv only)
    #[arg(long, value_name = "COLUMNS")]
    pub texts: Option<Classes>,
    /// Column that names the rows of a table, and is no feature.
    #[arg(skip)]
    #[serde(skip)]
    pub id: Option<String>,
    /// Whether missing values of a table are no errors, since they are only copied.
    #[arg(skip)]
    #[serde(skip)]
    pub keeps_missing: bool,
    /// Whether a table may lack columns that options name, since other data of the same command may have them.
    #[arg(skip)]
    #[serde(skip)]
    pub allows_absent: bool,
}

impl ReadingOptions {
    /// Returns the options of the readers of images.
    ///
    /// # Errors
    /// If an option of tables is given. `data` names the data set.
    pub fn of_images(&self, data: &str) -> Result<icl_data::ImageOptions, Failure> {
        check_absent(&self.of_tables_alone(), data, "images", "tables")?;
        Ok(icl_data::ImageOptions {
            classes: self.classes.clone().unwrap_or_default().0,
            limit: self.limit,
            skip_broken: self.skip_broken,
            cache_bytes: self.image_cache.saturating_mul(MIB),
        })
    }

    /// Returns the options of the readers of tables.
    ///
    /// # Errors
    /// If an option of images is given. `data` names the data set.
    pub fn of_tables(&self, data: &str) -> Result<TableOptions, Failure> {
        check_absent(
            &[("skip-broken", self.skip_broken)],
            data,
            "tables",
            "images",
        )?;
        Ok(TableOptions {
            header: self.header,
            target: self.target.clone(),
            missing: match self.keeps_missing {
                true => Missing::Mean,
                false => self.missing,
            },
            exclude: self.exclude.clone().unwrap_or_default().0,
            id: self.id.clone(),
            classes: self.classes.clone().unwrap_or_default().0,
            limit: self.limit,
            allows_absent: self.allows_absent,
        })
    }

    /// Returns the classes and the number of graphs to use.
    ///
    /// # Errors
    /// If an option of images or tables is given. `data` names the data set.
    pub fn of_graphs(&self, data: &str) -> Result<(Vec<String>, Option<usize>), Failure> {
        check_absent(
            &[("skip-broken", self.skip_broken)],
            data,
            "graphs",
            "images",
        )?;
        check_absent(&self.of_tables_alone(), data, "graphs", "tables")?;
        let classes = self.classes.clone().unwrap_or_default().0;
        Ok((classes, self.limit))
    }

    /// Checks that no option of other samples is given with interactions, of which all are read. `data` names the data set.
    ///
    /// # Errors
    /// If one is.
    pub fn check_interactions(&self, data: &str) -> Result<(), Failure> {
        check_absent(
            &[("skip-broken", self.skip_broken)],
            data,
            "interactions",
            "images",
        )?;
        check_absent(&self.of_tables_alone(), data, "interactions", "tables")?;
        check_absent(
            &self.selections(),
            data,
            "interactions",
            "graphs, images and tables",
        )
    }

    /// Returns the options of the reader of pairs of texts, `None` if a table is to be read as numbers. `data` names the data
    /// set.
    ///
    /// # Errors
    /// If an option of other samples is given, or not two different columns.
    pub fn of_text_pairs(&self, data: &str) -> Result<Option<TextPairOptions>, Failure> {
        let Some(Classes(columns)) = &self.texts else {
            return Ok(None);
        };
        let texts = "pairs of texts";
        check_absent(&[("skip-broken", self.skip_broken)], data, texts, "images")?;
        let of_numbers = [
            ("target", self.target.is_some()),
            ("exclude", self.exclude.is_some()),
            ("missing", self.missing != Missing::default()),
        ];
        check_absent(&of_numbers, data, texts, "tables of numbers")?;
        check_absent(&self.selections(), data, texts, "graphs, images and tables")?;
        match &columns[..] {
            [first, second] if first != second => Ok(Some(TextPairOptions {
                header: self.header,
                ..TextPairOptions::new(first, second)
            })),
            _ => Err(Failure::input(anyhow!(
                "texts: found {:?}, expected two different columns, comma-separated",
                columns.join(",")
            ))),
        }
    }

    /// Checks that a table that is no file is not to be read as texts. `data` names it.
    ///
    /// # Errors
    /// If it is.
    pub fn check_no_texts(&self, data: &str) -> Result<(), Failure> {
        let texts = [("texts", self.texts.is_some())];
        check_absent(&texts, data, "numbers", "files of texts")
    }

    /// Returns the options that select samples.
    fn selections(&self) -> [(&'static str, bool); 2] {
        [
            ("classes", self.classes.is_some()),
            ("limit", self.limit.is_some()),
        ]
    }

    fn of_tables_alone(&self) -> [(&'static str, bool); 5] {
        [
            ("texts", self.texts.is_some()),
            ("target", self.target.is_some()),
            ("exclude", self.exclude.is_some()),
            ("header", self.header != Header::default()),
            ("missing", self.missing != Missing::default()),
        ]
    }
}

/// Checks that none of these options is given with `data`, whose samples are `samples`; they are for
/// `others`.
///
/// # Errors
/// If one is.
fn check_absent(
    given: &[(&str, bool)],
    data: &str,
    samples: &str,
    others: &str,
) -> Result<(), Failure> {
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::input(anyhow!(
            "{option}: found it with {data}, a data set of {samples}, expected it with {others} only"
        ))),
    }
}

/// Returns the help of the option of the folder of all data sets.
pub fn data_dir_help() -> String {
    format!(
        "Folder of all data sets. Without it, the folder in the variable {DATA_DIR}, or `icl` in the cache folder \
         (~/.cache)"
    )
}
