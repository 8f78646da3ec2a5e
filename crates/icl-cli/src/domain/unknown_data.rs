//! Error of a file or folder that is none of the known kinds of data.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_data::{Found, looks_like_table};

use crate::process::failure::Failure;

/// Kinds of data, and the names by which each is known.
const KINDS: &str = "a TU data set (NAME_A.txt and NAME_graph_indicator.txt, in a folder or a zip), images (.jpg, .png, \
                     .webp, in a folder, or in one folder per class), an IDX pair (NAME-images-idx3-ubyte and \
                     NAME-labels-idx1-ubyte), a CIFAR file (NAME.bin), a table (.csv, .tsv, .parquet; .csv.gz) or interactions \
                     (.inter, u.data, ratings.dat)";

/// Number of names that the message shows.
const SHOWN: usize = 4;

/// Returns the failure to find data at a path that exists: what is there, and which names were looked for.
pub fn unknown(path: &Path) -> Failure {
    let Ok(entries) = std::fs::read_dir(path) else {
        return failure(path, "a file of another kind", KINDS);
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    let tables = paths.iter().filter(|path| looks_like_table(path));
    let tables: Vec<&PathBuf> = tables.collect();
    match (paths.len(), tables.len()) {
        (0, _) => failure(path, "an empty folder", KINDS),
        (_, n @ 1..) => {
            let beside = match paths.len() - n {
                0 => String::new(),
                others => format!(" and {others} other files or folders"),
            };
            let found = format!("a folder of {n} tables ({}){beside}", names(&tables));
            failure(path, &found, "the path of one table")
        }
        (n, 0) => {
            let all: Vec<&PathBuf> = paths.iter().collect();
            let found = format!("a folder of {n} other files or folders ({})", names(&all));
            failure(path, &found, KINDS)
        }
    }
}

fn failure(path: &Path, found: &str, expected: &str) -> Failure {
    Failure::input(anyhow!(
        "{}: found {found}, expected {expected}",
        path.display()
    ))
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
