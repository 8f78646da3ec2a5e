//! Text files of the TU format as tables of numbers, read line by line.

use super::lines::Lines;
use super::names::TuTable;
use crate::error::{DataError, too_many};
use crate::place::{FileRef, Found};

/// Maximum number of nodes, and of directed edges in both directions: the largest `i32`.
pub(super) const MAX_COUNT: usize = i32::MAX as usize;

/// Maximum number of feature values of a data set: 2^28, or 1 GiB.
pub(super) const MAX_FEATURE_VALUES: usize = 1 << 28;

/// Text file of one table, of which nothing has been read.
pub(super) struct TextTable<'a> {
    lines: Lines<'a>,
    table: TuTable,
}

/// Numbers `[n_rows, n_columns]`, row by row.
#[derive(Debug, PartialEq)]
pub(super) struct Attributes {
    pub(super) values: Vec<f64>,
    pub(super) n_columns: usize,
    /// Number of lines of the file, of which only as many as expected have their values here.
    pub(super) n_lines: usize,
}

impl<'a> TextTable<'a> {
    pub(super) fn new(lines: Lines<'a>, table: TuTable) -> Self {
        Self { lines, table }
    }

    pub(super) fn file(&self) -> &FileRef {
        self.lines.file()
    }

    /// Passes all bytes of the file to `take`, a part at a time.
    pub(super) fn each_part(self, take: impl FnMut(&[u8])) -> Result<(), DataError> {
        self.lines.each_part(take)
    }

    /// Reads one integer per line, passes each with its line to `take`, and returns the number of lines.
    pub(super) fn integers(
        self,
        mut take: impl FnMut(usize, i64) -> Result<(), DataError>,
    ) -> Result<usize, DataError> {
        let file = self.file().clone();
        self.each_line(|line, text| take(line, integer(&file, line, text)?))
    }

    /// Reads two nodes per line, from 1 to `n_nodes`, and returns them counted from 0. There may be `limit`
    /// lines.
    pub(super) fn edges(self, n_nodes: usize, limit: usize) -> Result<Vec<[u32; 2]>, DataError> {
        let file = self.file().clone();
        let node = |line: usize, field: &str| {
            let found = integer(&file, line, field)?;
            if 1 <= found && found <= n_nodes as i64 {
                Ok((found - 1) as u32)
            } else {
                Err(DataError::new(
                    file.line(line),
                    format!("node {found}"),
                    format!("a node from 1 to {n_nodes}"),
                ))
            }
        };
        let mut edges = Vec::new();
        self.each_line(|line, text| {
            check_count(&file, "edges", line, limit)?;
            match text.split_once(',') {
                Some((from, to)) if !to.contains(',') => {
                    edges.push([node(line, from)?, node(line, to)?]);
                    Ok(())
                }
                _ => Err(columns(&file, line, text, 2)),
            }
        })?;
        Ok(edges)
    }

    /// Reads the same number of finite numbers on every line and keeps those of the first `n_kept` lines.
    pub(super) fn attributes(self, n_kept: usize) -> Result<Attributes, DataError> {
        let file = self.file().clone();
        let mut values = Vec::new();
        let mut n_columns = 0;
        let n_lines = self.each_line(|line, text| {
            let n_found = text.split(',').count();
            if line == 1 {
                n_columns = n_found;
            }
            for field in text.split(',') {
                let value = number(&file, line, field)?;
                if line <= n_kept {
                    values.push(value);
                }
            }
            if n_found != n_columns {
                return Err(columns(&file, line, text, n_columns));
            }
            check_count(&file, "node attributes", values.len(), MAX_FEATURE_VALUES)
        })?;
        Ok(Attributes {
            values,
            n_columns,
            n_lines,
        })
    }

    /// Passes each line with its number, counted from 1, to `parse` and returns the number of lines, which is
    /// not 0.
    fn each_line(
        mut self,
        mut parse: impl FnMut(usize, &str) -> Result<(), DataError>,
    ) -> Result<usize, DataError> {
        let mut n_lines = 0;
        while let Some((line, text)) = self.lines.next()? {
            n_lines = line;
            let parsed = parse(line, text);
            if parsed.is_err() {
                // A damaged file is reported as such, not by the first line that makes no sense.
                self.lines.check_rest()?;
                parsed?;
            }
        }
        if n_lines == 0 {
            return Err(DataError::new(
                self.file().line(1),
                "an empty file",
                self.table.line_holds(),
            ));
        }
        Ok(n_lines)
    }
}

fn integer(file: &FileRef, line: usize, field: &str) -> Result<i64, DataError> {
    let field = field.trim();
    field.parse().map_err(|_| {
        DataError::new(
            file.line(line),
            Found::new(field),
            "an integer of at most 64 bits",
        )
    })
}

fn number(file: &FileRef, line: usize, field: &str) -> Result<f64, DataError> {
    let field = field.trim();
    match field.parse::<f64>() {
        // This comparison is also false for NaN.
        Ok(number) if number.abs() <= f64::from(f32::MAX) => Ok(number),
        _ => Err(DataError::new(
            file.line(line),
            Found::new(field),
            "a finite number that a 32-bit float can hold",
        )),
    }
}

fn columns(file: &FileRef, line: usize, text: &str, expected: usize) -> DataError {
    let blank = text.trim().is_empty();
    DataError::new(
        file.line(line),
        format!(
            "{} columns",
            if blank { 0 } else { text.split(',').count() }
        ),
        format!("{expected}, separated by commas"),
    )
}

/// Checks that a list with one element per line of a table has `expected` elements.
pub(super) fn check_lines(
    file: &FileRef,
    found: usize,
    expected: usize,
    each: &'static str,
) -> Result<(), DataError> {
    if found == expected {
        return Ok(());
    }
    Err(DataError::new(
        file.line(found.min(expected) + 1),
        format!("{found} lines in this file"),
        format!("{expected}, one for each {each}"),
    ))
}

/// Checks that a count is at most `limit`.
pub(super) fn check_count(
    file: &FileRef,
    what: &'static str,
    found: usize,
    limit: usize,
) -> Result<(), DataError> {
    if found <= limit {
        return Ok(());
    }
    Err(too_many(file, found, what, limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn table(text: &str) -> TextTable<'_> {
        let file = FileRef::on_disk(Path::new("t.txt"));
        let wrap = |error| panic!("{error}");
        let lines = Lines::new(file, Box::new(text.as_bytes()), 1 << 20, Box::new(wrap));
        TextTable::new(lines, TuTable::Edges)
    }

    fn integers(text: &str) -> Vec<i64> {
        let mut integers = Vec::new();
        let taken = table(text).integers(|_, integer| {
            integers.push(integer);
            Ok(())
        });
        assert_eq!(taken.unwrap(), integers.len());
        integers
    }

    #[test]
    fn both_line_ends_blanks_and_blank_lines_at_the_end_are_understood() {
        let expected = [[0, 1], [1, 0], [2, 1]];
        for text in [
            "1,2\n2,1\n3,2",
            "1, 2\n2, 1\n3, 2\n",
            "1, 2\r\n2, 1\r\n3, 2\r\n\r\n",
            " 1\t,2 \n2 ,  1\n3,2 \n  \n\n",
            "1,2\n2,1\r\n+3,02",
        ] {
            assert_eq!(table(text).edges(3, 3).unwrap(), expected, "{text:?}");
        }
        assert_eq!(integers("-1\r\n 7 \n\n"), [-1, 7]);
    }

    #[test]
    fn attributes_are_a_full_table_of_finite_numbers() {
        let read = table("1.5, -2e3\n .5,+4\n").attributes(2).unwrap();
        assert_eq!(read.values, [1.5, -2000.0, 0.5, 4.0]);
        assert_eq!(read.n_columns, 2);
        for (text, message) in [
            (
                "1,2\n3\n",
                "t.txt, line 2: found 1 columns, expected 2, separated by commas",
            ),
            (
                "1\n3,4\n",
                "t.txt, line 2: found 2 columns, expected 1, separated by commas",
            ),
            (
                "1\n\n2\n",
                "t.txt, line 2: found nothing, expected a finite number",
            ),
            (
                "1\nNaN",
                "t.txt, line 2: found \"NaN\", expected a finite number",
            ),
            (
                "inf",
                "t.txt, line 1: found \"inf\", expected a finite number",
            ),
            (
                "1\n-1e39\n",
                "t.txt, line 2: found \"-1e39\", expected a finite number",
            ),
            (
                "1,x",
                "t.txt, line 1: found \"x\", expected a finite number",
            ),
        ] {
            let error = table(text).attributes(9).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn counts_are_checked_as_they_are_passed() {
        let error = table("1,2\n1,2\n1,x").edges(2, 1).unwrap_err().to_string();
        assert_eq!(error, "t.txt: found 2 edges, expected at most 1");
        let read = table("1\n2\n3\n").attributes(2).unwrap();
        assert_eq!((read.values, read.n_lines), (vec![1.0, 2.0], 3));
    }

    #[test]
    fn too_many_of_anything_is_an_error() {
        let file = FileRef::on_disk(Path::new("t.txt"));
        assert!(check_count(&file, "nodes", 7, 7).is_ok());
        assert_eq!(
            check_count(&file, "nodes", 8, 7).unwrap_err().to_string(),
            "t.txt: found 8 nodes, expected at most 7"
        );
    }
}
