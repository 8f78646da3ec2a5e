//! Error of a file or folder that is none of the known kinds of data.

use std::path::{Path, PathBuf};

use icl_data::{Found, looks_like_table};

use crate::process::failure::Failure;

/// Kinds of data, and the names by which each is known.
const KINDS: &str = "a TU data set (NAME_A.txt and NAME_graph_indicator.txt, in a folder or a zip), images (.jpg, .png, \
                     .webp, in a folder, or in one folder per class), an IDX pair (NAME-images-idx3-ubyte and \
                     NAME-labels-idx1-ubyte), a CIFAR file (NAME.bin), a table (.csv, .tsv, .parquet; .csv.gz) or interactions \
                     (.inter, u.data, ratings.dat)";

/// Number of names that the message shows.
const SHOWN: usize = 4;

/// Error of a path at which there is something, but no data.
#[derive(Debug, thiserror::Error)]
#[error("{}: found {found}, expected {expected}", path.display())]
pub struct UnknownData {
    path: PathBuf,
    found: String,
    expected: &'static str,
    /// Whether tables are there, of which none was named.
    has_tables: bool,
}

impl UnknownData {
    /// Whether a failure says that there are no data at all, as in a file of another program.
    pub fn is_cause_of(failure: &Failure) -> bool {
        let mut causes = failure.causes();
        causes.any(|it| it.downcast_ref().is_some_and(|it: &Self| !it.has_tables))
    }
}

/// Returns the failure to find data at a path that exists: what is there, and which names were looked for.
pub fn unknown(path: &Path) -> Failure {
    let failure = |found: String, expected, has_tables| {
        Failure::input(UnknownData {
            path: path.to_owned(),
            found,
            expected,
            has_tables,
        })
    };
    let Ok(entries) = std::fs::read_dir(path) else {
        return failure("a file of another kind".to_owned(), KINDS, false);
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    let tables = paths.iter().filter(|path| looks_like_table(path));
    let tables: Vec<&PathBuf> = tables.collect();
    match (paths.len(), tables.len()) {
        (0, _) => failure("an empty folder".to_owned(), KINDS, false),
        (_, n @ 1..) => {
            let next_to = match paths.len() - n {
                0 => String::new(),
                others => format!(" and {others} other files or folders"),
            };
            let found = format!("a folder of {n} tables ({}){next_to}", names(&tables));
            failure(found, "the path of one table", true)
        }
        (n, 0) => {
            let all: Vec<&PathBuf> = paths.iter().collect();
            let found = format!("a folder of {n} other files or folders ({})", names(&all));
            failure(found, KINDS, false)
        }
    }
}

/// Returns the first names.
fn names(paths: &[&PathBuf]) -> String {
    let name = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Found::new(&name).to_string()
    };
    let mut names: Vec<String> = paths.iter().take(SHOWN).map(name).collect();
    if paths.len() > SHOWN {
        names.push("…".to_owned());
    }
    names.join(", ")
}
