//! Text files of the TU format as tables of numbers.

use super::names::TuTable;
use crate::error::DataError;
use crate::graph::error::GraphsError;
use crate::place::{FileRef, Found, Place};

/// Maximum number of feature values of a data set: 2^28, or 1 GiB.
///
/// A short file can require more: each distinct node label adds a column for every node.
pub(super) const MAX_FEATURE_VALUES: usize = 1 << 28;

/// Text of a file, with the file's name for error messages.
#[derive(Debug)]
pub(super) struct TextTable {
    file: FileRef,
    text: String,
}

/// Numbers `[n_rows, n_columns]`, row by row.
#[derive(Debug, PartialEq)]
pub(super) struct Attributes {
    pub(super) values: Vec<f64>,
    pub(super) n_columns: usize,
}

impl TextTable {
    /// Checks that `bytes` are text and not only white space.
    pub(super) fn try_new(
        file: FileRef,
        bytes: Vec<u8>,
        table: TuTable,
    ) -> Result<Self, GraphsError> {
        let mut text = String::from_utf8(bytes).map_err(|error| {
            let byte = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..byte];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            GraphsError::NotUtf8 {
                at: file.line(line),
                byte,
            }
        })?;
        text.truncate(text.trim_end().len());
        if text.is_empty() {
            return Err(GraphsError::EmptyFile {
                at: file.line(1),
                expected: table.line_holds(),
            });
        }
        Ok(Self { file, text })
    }

    pub(super) fn file(&self) -> &FileRef {
        &self.file
    }

    /// Returns the place of a line of this file, counted from 1.
    pub(super) fn line(&self, line: usize) -> Place {
        self.file.line(line)
    }

    /// Checks that a list with one element per line of this table has `expected` elements.
    pub(super) fn check_lines(
        &self,
        found: usize,
        expected: usize,
        each: &'static str,
    ) -> Result<(), GraphsError> {
        if found == expected {
            return Ok(());
        }
        Err(GraphsError::LineCount {
            at: self.line(found.min(expected) + 1),
            found,
            expected,
            each,
        })
    }

    /// Parses one integer per line.
    pub(super) fn integers(&self) -> Result<Vec<i64>, GraphsError> {
        self.lines()
            .map(|(line, text)| self.integer(line, text))
            .collect()
    }

    /// Parses two nodes per line, from 1 to `n_nodes`, and returns them counted from 0.
    pub(super) fn edges(&self, n_nodes: usize) -> Result<Vec<[u32; 2]>, GraphsError> {
        let node = |line, field| {
            let found = self.integer(line, field)?;
            if 1 <= found && found <= n_nodes as i64 {
                Ok((found - 1) as u32)
            } else {
                Err(GraphsError::NodeOutOfRange {
                    at: self.line(line),
                    found,
                    n_nodes,
                })
            }
        };
        self.lines()
            .map(|(line, text)| match text.split_once(',') {
                Some((from, to)) if !to.contains(',') => Ok([node(line, from)?, node(line, to)?]),
                _ => Err(self.columns(line, text, 2)),
            })
            .collect()
    }

    /// Parses the same number of finite numbers on every line.
    pub(super) fn attributes(&self) -> Result<Attributes, DataError> {
        let mut values = Vec::new();
        let mut n_columns = 0;
        for (line, text) in self.lines() {
            let before = values.len();
            for field in text.split(',') {
                values.push(self.number(line, field)?);
            }
            if line == 1 {
                n_columns = values.len();
            }
            if values.len() - before != n_columns {
                return Err(self.columns(line, text, n_columns).into());
            }
            check_count(
                &self.file,
                "node attributes",
                values.len(),
                MAX_FEATURE_VALUES,
            )?;
        }
        Ok(Attributes { values, n_columns })
    }

    /// Returns the lines, counted from 1. A line may end in a carriage return.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.split('\n'))
    }

    fn integer(&self, line: usize, field: &str) -> Result<i64, GraphsError> {
        let field = field.trim();
        field.parse().map_err(|_| GraphsError::NotAnInteger {
            at: self.line(line),
            found: Found::new(field),
        })
    }

    fn number(&self, line: usize, field: &str) -> Result<f64, GraphsError> {
        let field = field.trim();
        match field.parse::<f64>() {
            // This comparison is also false for NaN.
            Ok(number) if number.abs() <= f64::from(f32::MAX) => Ok(number),
            _ => Err(GraphsError::NotANumber {
                at: self.line(line),
                found: Found::new(field),
            }),
        }
    }

    fn columns(&self, line: usize, text: &str, expected: usize) -> GraphsError {
        let blank = text.trim().is_empty();
        GraphsError::Columns {
            at: self.line(line),
            found: if blank { 0 } else { text.split(',').count() },
            expected,
        }
    }
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
    Err(DataError::TooMany {
        file: file.clone(),
        what,
        found,
        limit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn table(text: &str) -> TextTable {
        let file = FileRef::on_disk(Path::new("t.txt"));
        TextTable::try_new(file, text.as_bytes().to_vec(), TuTable::Edges).unwrap()
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
            assert_eq!(table(text).edges(3).unwrap(), expected, "{text:?}");
        }
        assert_eq!(table("-1\r\n 7 \n\n").integers().unwrap(), [-1, 7]);
    }

    #[test]
    fn attributes_are_a_full_table_of_finite_numbers() {
        let read = table("1.5, -2e3\n .5,+4\n").attributes().unwrap();
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
            let error = table(text).attributes().unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
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
