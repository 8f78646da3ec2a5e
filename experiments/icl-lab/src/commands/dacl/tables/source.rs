//! The tables on the disk.

use std::path::{Path, PathBuf};

use crate::pages::dacl::DaclDataSet;
use icl_cli::parts::Failure;
use icl_core::Seed;
use icl_data::{
    ImageOptions, RawTable, TableOptions, embedded, read_idx, read_table, table_of_pixels,
};

use crate::commands::dacl::cifar::{TEST_OF_CIFAR, first_of_cifar};
use crate::commands::dacl::missing::missing;
use crate::commands::dacl::row_split::{RowSplit, drawn};

/// Folder of Debian's package of Fashion-MNIST.
const DEBIAN_FASHION: &str = "/usr/share/datasets/fashion-mnist";
/// Number of training images of Fashion-MNIST that are used.
const N_FASHION: usize = 6000;
/// Share of the rows that are for the test, where the data have no test rows of their own.
const TEST: f64 = 0.3;

/// A table in memory.
#[derive(Debug)]
pub enum TableSource {
    /// Rows that are divided by the seed.
    Whole {
        /// All rows.
        table: RawTable,
        /// Share of the test rows.
        test: f64,
    },
    /// Training rows, of which some are drawn by the seed, and test rows.
    Divided {
        /// Training rows.
        training: RawTable,
        /// Test rows.
        test: RawTable,
        /// Number of training rows to draw.
        n_training: usize,
    },
}

/// Reads a table.
///
/// # Errors
/// If it cannot be read. Without its files the result is a message.
pub fn read_source(
    data: DaclDataSet,
    folder: &Path,
) -> Result<Result<TableSource, String>, Failure> {
    let whole = |table, test| Ok(Ok(TableSource::Whole { table, test }));
    let named = |file: &str| {
        let path = folder.join("tabular").join(file);
        if !path.exists() {
            return Ok(Err(missing(data, &path)));
        }
        let options = TableOptions {
            target: Some("class".to_owned()),
            ..TableOptions::default()
        };
        whole(read_table(&path, &options).map_err(Failure::input)?, TEST)
    };
    match data {
        DaclDataSet::Letter => named("LetterRecognition.csv.gz"),
        DaclDataSet::Satellite => named("Satellite.csv.gz"),
        DaclDataSet::Spambase => named("Spambase.csv.gz"),
        DaclDataSet::Dna => named("DNA.csv.gz"),
        DaclDataSet::FashionMnist => fashion(folder),
        DaclDataSet::Cifar10 => {
            let images = match first_of_cifar(folder, None)? {
                Ok(images) => images,
                Err(message) => return Ok(Err(message)),
            };
            let table = table_of_pixels(&images).map_err(Failure::input)?;
            whole(table, TEST_OF_CIFAR)
        }
        _ => whole(
            embedded::tables("digits-table").map_err(Failure::input)?,
            TEST,
        ),
    }
}

fn fashion(folder: &Path) -> Result<Result<TableSource, String>, Failure> {
    let file = |stem: &str| -> Option<PathBuf> {
        let folders = [folder.join("fashion-mnist"), PathBuf::from(DEBIAN_FASHION)];
        let names = ["", ".gz"].map(|ending| format!("{stem}-images-idx3-ubyte{ending}"));
        let paths = folders
            .iter()
            .flat_map(|folder| names.iter().map(|name| folder.join(name)));
        paths.into_iter().find(|path| path.exists())
    };
    let (Some(training), Some(test)) = (file("train"), file("t10k")) else {
        let own = folder.join("fashion-mnist");
        return Ok(Err(format!(
            "{}, nor a folder {DEBIAN_FASHION} (Debian's package dataset-fashion-mnist)",
            missing(DaclDataSet::FashionMnist, &own)
        )));
    };
    let read = |path: &Path| {
        let images = read_idx(path, &ImageOptions::default()).map_err(Failure::input)?;
        table_of_pixels(&images).map_err(Failure::input)
    };
    Ok(Ok(TableSource::Divided {
        training: read(&training)?,
        test: read(&test)?,
        n_training: N_FASHION,
    }))
}

impl TableSource {
    /// Returns at most `limit` rows, and their division by a seed.
    ///
    /// # Errors
    /// If the limit is too small.
    pub fn divided(
        &self,
        limit: Option<usize>,
        seed: Seed,
    ) -> Result<(RawTable, RowSplit), Failure> {
        let seed = seed.child("rows");
        let most = |n: usize| limit.map_or(n, |limit| limit.min(n));
        match self {
            Self::Whole { table, test } => {
                let table = table.clone().select(&[], limit).map_err(Failure::input)?;
                let split = RowSplit::of_all(table.labels(), *test, seed);
                Ok((table, split))
            }
            Self::Divided {
                training,
                test,
                n_training,
            } => {
                let (rows, _) = drawn(training.labels(), most(*n_training), seed.child("training"));
                let of_test = drawn(test.labels(), most(test.n_rows()), seed.child("test")).0;
                let (training, test) = (training.rows(&rows), test.rows(&of_test));
                let (table, increment) =
                    RawTable::join(&training, &test).map_err(Failure::input)?;
                let (training, test) = (increment.old().to_vec(), increment.new_data().to_vec());
                let split = RowSplit::new(training, test, table.labels(), seed);
                Ok((table, split))
            }
        }
    }
}
