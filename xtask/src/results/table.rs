//! The table of expected figures.

use std::path::Path;

use anyhow::Context;

use super::figure::{Figure, Line};

/// Path of the table from the repository's root.
pub const PATH: &str = "docs/results/expected.csv";

/// Reads the figures of the table.
///
/// # Errors
/// If it cannot be read; at the first line that is no figure.
pub fn read(root: &Path) -> anyhow::Result<Vec<Figure>> {
    let mut reader = csv::Reader::from_path(root.join(PATH)).context(PATH)?;
    let lines = reader.deserialize::<Line>().enumerate();
    lines
        .map(|(at, line)| {
            // The first line has the names of the columns.
            let place = || format!("{PATH}: figure {}", at + 1);
            line.with_context(place)?.into_figure().with_context(place)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "figure,command,seed,value,tolerance,commit,date,quick\n";

    fn read_text(text: &str) -> anyhow::Result<Vec<Figure>> {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(PATH);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        read(root.path())
    }

    #[test]
    fn a_method_with_commas_is_quoted() {
        let line = "\"a.md#sampling=new,rate=cosine/risk.all\",icl run,1,0.871,1 %,740119a,2026-11-22,yes\n";
        let figures = read_text(&format!("{COLUMNS}{line}")).unwrap();
        assert_eq!(figures.len(), 1);
        assert_eq!(figures[0].method, "sampling=new,rate=cosine");
    }

    #[test]
    fn an_error_names_the_figure() {
        let good = "a.md#warm/risk.all,icl run,1,0.871,1 %,740119a,2026-11-22,\n";
        let bad = good.replace("0.871", "much");
        let error = read_text(&format!("{COLUMNS}{good}{bad}")).unwrap_err();
        assert_eq!(error.to_string(), "docs/results/expected.csv: figure 2");
        assert!(read_text("figure,value\na,1\n").is_err());
    }
}
