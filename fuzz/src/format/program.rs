//! Calls of the whole program in this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use tempfile::TempDir;

use super::reader::Told;

/// Calls the program with these arguments.
///
/// # Errors
/// Its error.
pub fn call<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<(), Told> {
    let words = ["icl"].into_iter().chain(arguments);
    icl_cli::call(words.map(OsString::from)).map_err(|refusal| Told {
        message: refusal.message,
        exit_code: refusal.exit_code,
    })
}

/// Calls the program with words that are separated by spaces, to make a valid input.
///
/// # Errors
/// If it fails.
pub fn prepare(words: &str) -> Result<()> {
    call(words.split(' ')).map_err(|told| anyhow!("icl {words}: {}", told.message))
}

/// Returns a path as text; those of temporary folders are.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// Writes small data sets for the commands that need some: `graphs` in the TU format, and `table.csv`.
///
/// # Errors
/// If they cannot be written.
pub fn write_data() -> Result<(TempDir, PathBuf, PathBuf)> {
    let at = TempDir::new()?;
    let graphs = at.path().join("GRAPHS");
    std::fs::create_dir(&graphs)?;
    let n = 12;
    let each = |line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
    for (ending, text) in [
        (
            "A",
            each(&|i| {
                let [a, b, c] = [3 * i + 1, 3 * i + 2, 3 * i + 3];
                format!("{a}, {b}\n{b}, {a}\n{b}, {c}\n{c}, {b}\n")
            }),
        ),
        (
            "graph_indicator",
            each(&|i| format!("{0}\n{0}\n{0}\n", i + 1)),
        ),
        ("graph_labels", each(&|i| format!("{}\n", i % 2))),
        (
            "node_labels",
            each(&|i| format!("{}\n0\n{}\n", i % 2, (i + 1) % 2)),
        ),
    ] {
        std::fs::write(graphs.join(format!("GRAPHS_{ending}.txt")), text)?;
    }
    let table = at.path().join("table.csv");
    let rows = each(&|i| format!("{},{},{}\n", i, (i * i) % 7, i % 2));
    std::fs::write(&table, format!("x,y,class\n{rows}"))?;
    Ok((at, graphs, table))
}

/// Writes a small file of interactions and one of pairs of texts into a folder.
///
/// # Errors
/// If they cannot be written.
pub fn write_pairs(at: &Path) -> Result<[PathBuf; 2]> {
    let [interactions, texts] = ["toy.inter", "texts.csv"].map(|name| at.join(name));
    let rows = (0..24).map(|i| format!("{}\t{}\t{i}\n", i % 4, (i * i) % 7));
    let header = "user_id:token\titem_id:token\ttimestamp:float\n";
    let rows: String = rows.collect();
    std::fs::write(&interactions, format!("{header}{rows}"))?;
    let rows: String = (0..12)
        .map(|i| format!("sun {},rain {}\n", i % 3, i % 4))
        .collect();
    std::fs::write(&texts, format!("title,body\n{rows}"))?;
    Ok([interactions, texts])
}
