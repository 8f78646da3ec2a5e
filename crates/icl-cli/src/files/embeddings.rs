//! Embeddings in files of any framework: NumPy arrays, tensors, columns of vectors and tables of numbers.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::InputFile;
use icl_data::{Found, TableOptions, VectorColumn, looks_like_table, read_table, read_vectors};

use crate::files::npy;
use crate::files::row_facts::{EMBEDDING, RowFacts, is_place};
use crate::files::tensor_rows;
use crate::files::tensor_rows::TensorRows;
use crate::process::failure::Failure;
use crate::process::terminal::{tell, tell_notes};

/// Embeddings `[n_rows, n_columns]` read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEmbeddings {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of rows.
    pub n_rows: usize,
    /// Number of columns.
    pub n_columns: usize,
    /// Values, row by row.
    pub values: Vec<f64>,
    /// Facts about the rows.
    pub facts: RowFacts,
}

/// Columns of a table of embeddings that `icl embed` of earlier versions wrote next to them.
const BEFORE: [&str; 2] = ["index", "label"];
/// Size of the largest file of facts that is read, in bytes: 1 GiB.
const MAX_BYTES: u64 = 1 << 30;

/// Reads embeddings from a `.npy` file of f16, f32 or f64, from a `.safetensors` file, from the column of vectors of a
/// `.parquet` file, or from a table of numbers (`.csv`, `.tsv`, also with `.gz`, or `.parquet`). Of a table with the
/// column `encoder`, as `icl embed` writes it, the embeddings are the columns `e0`, `e1`, …; of others all but `index`,
/// `label` and those that number the rows.
///
/// # Errors
/// If the file cannot be read, holds no row, no column, or a value that is not a finite number, or embeddings by
/// several encoders.
pub fn read(path: &Path) -> Result<StoredEmbeddings, Failure> {
    let stored = |n_rows, n_columns, values, facts: RowFacts| {
        Ok(StoredEmbeddings {
            path: path.to_owned(),
            n_rows,
            n_columns,
            values,
            facts: facts.checked(&path.display(), n_rows)?,
        })
    };
    let has_ending = |ending: &str| {
        let found = path.extension().and_then(|found| found.to_str());
        found.is_some_and(|found| found.eq_ignore_ascii_case(ending))
    };
    if has_ending("safetensors") {
        let TensorRows {
            n_rows,
            n_columns,
            values,
            facts,
        } = tensor_rows::read(path).map_err(Failure::input)?;
        return stored(n_rows, n_columns, values, facts);
    }
    if !looks_like_table(path) {
        let npy::Array {
            n_rows,
            n_columns,
            values,
        } = npy::read(path).map_err(Failure::input)?;
        let facts = facts_of(&facts_path(path))?;
        return stored(n_rows, n_columns, values, facts);
    }
    if has_ending("parquet")
        && let Some(vectors) = read_vectors(path).map_err(Failure::input)?
    {
        let VectorColumn { n_rows, d, values } = vectors;
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Failure::input(anyhow!(
                "{}: found {} in row {}, column {} (counted from 0), expected finite numbers",
                path.display(),
                values[at],
                at / d,
                at % d
            )));
        }
        // Of a file of another program, the other columns may be anything.
        let exclude = vec![EMBEDDING.to_owned()];
        let others = read_table(
            path,
            &TableOptions {
                exclude,
                ..TableOptions::default()
            },
        )
        .ok();
        let facts = match &others {
            None => RowFacts::default(),
            Some(others) => RowFacts::of_table(&path.display(), others)?,
        };
        return stored(n_rows, d, values, facts);
    }
    let whole = read_table(path, &TableOptions::default()).map_err(Failure::input)?;
    let facts = RowFacts::of_table(&path.display(), &whole)?;
    let others: Vec<&str> = match facts.encoder {
        Some(_) => {
            let names = whole.column_names().into_iter();
            names.filter(|name| !is_place(name)).collect()
        }
        None => {
            let index = whole.index_columns();
            tell_notes(whole.name(), whole.notes());
            for name in index.iter().filter(|name| !BEFORE.contains(name)) {
                tell(format_args!(
                    "note: {}: column {name} numbers the rows, and is left out",
                    whole.name()
                ));
            }
            [&BEFORE[..], &index].concat()
        }
    };
    let table = whole.without(&others);
    let n_columns = table.column_names().len();
    if n_columns == 0 {
        return Err(Failure::input(anyhow!(
            "{}: found no column of embeddings, expected at least one",
            path.display()
        )));
    }
    let values = table.numbers().map_err(Failure::input)?;
    let values = values.into_iter().map(f64::from).collect();
    stored(table.n_rows(), n_columns, values, facts)
}

/// Checks that embeddings which name their encoder are all by one.
///
/// # Errors
/// If two are not.
pub fn check_one_encoder(all: &[&StoredEmbeddings]) -> Result<(), Failure> {
    let mut named = all
        .iter()
        .filter_map(|it| Some((&it.path, it.facts.encoder.as_ref()?)));
    let Some((first, expected)) = named.next() else {
        return Ok(());
    };
    match named.find(|(_, found)| *found != expected) {
        None => Ok(()),
        Some((path, found)) => Err(Failure::input(anyhow!(
            "{}: found embeddings by the encoder {}, expected {}, as in {}",
            path.display(),
            Found::new(found),
            Found::new(expected),
            first.display()
        ))),
    }
}

/// Checks that the rows of two files which name their samples are those of the same samples.
///
/// # Errors
/// At the first row of which that is not so.
pub fn check_same_samples(
    found: &StoredEmbeddings,
    expected: &StoredEmbeddings,
) -> Result<(), Failure> {
    let (Some(ids), Some(of_expected)) = (&found.facts.ids, &expected.facts.ids) else {
        return Ok(());
    };
    match ids.iter().zip(of_expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(row) => Err(Failure::input(anyhow!(
            "{}, row {row} (counted from 0): found the id {}, expected {}, as in {}",
            found.path.display(),
            Found::new(&ids[row]),
            Found::new(&of_expected[row]),
            expected.path.display()
        ))),
    }
}

/// Returns the path of the facts about the rows of an array, which has no place for them.
pub fn facts_path(path: &Path) -> PathBuf {
    path.with_extension("rows.json")
}

/// Reads the facts about the rows of an array, if there are any.
fn facts_of(path: &Path) -> Result<RowFacts, Failure> {
    let read = InputFile::open(path, MAX_BYTES).and_then(InputFile::bytes);
    let wrong = |found: String| {
        Failure::input(anyhow!(
            "{}: found {found}, expected what icl embed writes about the rows of an array",
            path.display()
        ))
    };
    match read {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(RowFacts::default()),
        Err(error) => Err(wrong(format!("no readable file ({error})"))),
    }
}
