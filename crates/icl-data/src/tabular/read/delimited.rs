//! Text tables: values separated by commas, semicolons or tabs (RFC 4180).

use std::collections::HashSet;
use std::str::from_utf8;

use csv::{ReaderBuilder, StringRecord};

use super::assemble::{Assembly, check_column_names, check_n_columns, find_column};
use super::cells::{Origin, is_missing, number};
use crate::error::DataError;
use crate::place::FileRef;
use crate::tabular::error::TablesError;
use crate::tabular::options::{Header, TableOptions};
use crate::tabular::place::CellPlace;
use crate::tabular::table::RawTable;

/// Beginning of text that some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Separators of a `.csv` file, the preferred first.
const SEPARATORS: [u8; 3] = *b",;\t";
/// Number of rows that decide whether the first line holds names.
const MAX_SEEN_ROWS: usize = 1000;

/// Reads a text table. `separator` is detected on the first line if it is `None`: a comma if there is
/// one outside quotes, else a semicolon, else a tab.
pub(super) fn read_delimited(
    file: &FileRef,
    name: String,
    bytes: &[u8],
    separator: Option<u8>,
    options: &TableOptions,
) -> Result<RawTable, DataError> {
    let mut table = OpenTable::new(file, bytes, separator, options.header)?;
    let origin = Origin {
        file,
        unit: "line",
        missing: options.missing,
    };
    let mut assembly = Assembly::begin(file, name, &table.columns, options)?;
    while let Some(at) = table.next_row()? {
        assembly.push_texts(&origin, at, table.row.iter())?;
    }
    assembly.finish(&origin, options)
}

/// Names of two columns, and their texts in each row.
pub(super) type NamedTexts = ([String; 2], Vec<[String; 2]>);

/// Reads two columns of a text table as texts, without blanks around them. The columns are given by their names, or by
/// their numbers counted from 1.
pub(super) fn read_text_columns(
    file: &FileRef,
    name: &str,
    bytes: &[u8],
    separator: Option<u8>,
    wanted: [&str; 2],
    header: Header,
) -> Result<NamedTexts, DataError> {
    let mut table = OpenTable::new(file, bytes, separator, header)?;
    check_column_names(file, &table.columns)?;
    let [first, second] = wanted.map(|wanted| find_column(name, &table.columns, wanted));
    let columns = [first?, second?];
    let mut rows = Vec::new();
    while let Some(at) = table.next_row()? {
        let texts = columns.map(|column| table.row[column].trim());
        if let Some(empty) = texts.iter().position(|text| text.is_empty()) {
            let column = &table.columns[columns[empty]];
            let at = CellPlace::new(file, "line", at, column);
            return Err(TablesError::NoText { at }.into());
        }
        rows.push(texts.map(str::to_owned));
    }
    Ok((columns.map(|column| table.columns[column].clone()), rows))
}

/// A text table whose rows are read one by one.
struct OpenTable<'a> {
    file: &'a FileRef,
    /// Names of the columns; their numbers where there is no header.
    columns: Vec<String>,
    lines: Lines<'a>,
    /// Row that was read last.
    row: StringRecord,
    /// Line of that row while it is not taken yet.
    waiting: Option<usize>,
}

impl<'a> OpenTable<'a> {
    fn new(
        file: &'a FileRef,
        bytes: &'a [u8],
        separator: Option<u8>,
        header: Header,
    ) -> Result<Self, DataError> {
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let text = from_utf8(bytes).map_err(|error| {
            let byte = error.valid_up_to();
            TablesError::NotUtf8 {
                at: file.line(1 + n_line_ends(&bytes[..byte])),
                byte,
            }
        })?;
        let separator = separator.unwrap_or_else(|| detect_separator(bytes));
        check_lines(file, bytes, separator)?;
        let mut lines = Lines::new(text, separator);
        let mut row = StringRecord::new();
        let Some(first_line) = lines.next_into(file, &mut row)? else {
            return Err(TablesError::Empty { file: file.clone() }.into());
        };
        let has_header = match header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => is_header(&row, text, separator),
        };
        let columns: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(index, name)| match name.trim() {
                name if has_header && !name.is_empty() => name.to_owned(),
                _ => (index + 1).to_string(),
            })
            .collect();
        let mut table = Self {
            file,
            columns,
            lines,
            row,
            waiting: Some(first_line),
        };
        if has_header {
            table.waiting = table.lines.next_into(file, &mut table.row)?;
            if table.waiting.is_none() {
                return Err(TablesError::HeaderOnly { file: file.clone() }.into());
            }
        }
        Ok(table)
    }

    /// Reads the next row into `row`, and returns its line; `None` at the end.
    fn next_row(&mut self) -> Result<Option<usize>, DataError> {
        let line = match self.waiting.take() {
            None => self.lines.next_into(self.file, &mut self.row)?,
            line => line,
        };
        match line {
            Some(at) if self.row.len() != self.columns.len() => Err(TablesError::Width {
                at: self.file.line(at),
                found: self.row.len(),
                expected: self.columns.len(),
            }
            .into()),
            line => Ok(line),
        }
    }
}

/// Rows of a text with the lines on which they begin.
struct Lines<'a> {
    text: &'a [u8],
    reader: csv::Reader<&'a [u8]>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, separator: u8) -> Self {
        Self {
            text: text.as_bytes(),
            reader: ReaderBuilder::new()
                .delimiter(separator)
                .has_headers(false)
                .flexible(true)
                .from_reader(text.as_bytes()),
        }
    }

    /// Reads the next row and returns its line, counted from 1; `None` at the end. Empty lines are
    /// skipped.
    fn next_into(
        &mut self,
        file: &FileRef,
        row: &mut StringRecord,
    ) -> Result<Option<usize>, DataError> {
        let at = self.reader.position().clone();
        let has_row = self
            .reader
            .read_record(row)
            .map_err(|error| DataError::Unreadable {
                file: file.clone(),
                source: error.into(),
            })?;
        // The line ends before a row belong to it in the reader's count.
        let before = self.text[at.byte() as usize..]
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let n_skipped = before.filter(|byte| **byte == b'\n').count();
        Ok(has_row.then_some(at.line() as usize + n_skipped))
    }
}

/// Returns `true` if a value of the first line can be the name of a column: neither a number nor missing,
/// but it may be empty.
pub(crate) fn could_be_name(text: &str) -> bool {
    let text = text.trim();
    number(text).is_none() && (text.is_empty() || !is_missing(text))
}

/// Decides whether the first row holds the names of the columns, see [`Header::Auto`].
fn is_header(first: &StringRecord, text: &str, separator: u8) -> bool {
    if !first.iter().all(could_be_name) || first.iter().all(|name| name.trim().is_empty()) {
        return false;
    }
    let mut below = vec![HashSet::new(); first.len()];
    let mut is_numeric = vec![false; first.len()];
    let mut is_text = vec![false; first.len()];
    let mut reader = Lines::new(text, separator).reader;
    for row in reader.records().skip(1).take(MAX_SEEN_ROWS).flatten() {
        for (column, cell) in row.iter().enumerate().take(first.len()) {
            let cell = cell.trim();
            if is_missing(cell) {
                continue;
            }
            if number(cell).is_some() {
                is_numeric[column] = true;
            } else {
                is_text[column] = true;
                below[column].insert(cell.to_owned());
            }
        }
    }
    let is_column_of_numbers = |column: usize| is_numeric[column] && !is_text[column];
    let recurs = |(column, name): (usize, &str)| below[column].contains(name.trim());
    (0..first.len()).any(is_column_of_numbers) || !first.iter().enumerate().any(recurs)
}

/// Returns the separator of the first line, outside quotes.
fn detect_separator(bytes: &[u8]) -> u8 {
    let mut is_quoted = false;
    let mut is_there = [false; SEPARATORS.len()];
    for &byte in bytes {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => break,
            _ if !is_quoted => {
                if let Some(at) = SEPARATORS.iter().position(|separator| *separator == byte) {
                    is_there[at] = true;
                }
            }
            _ => {}
        }
    }
    let found = is_there.iter().position(|found| *found);
    SEPARATORS[found.unwrap_or(0)]
}

/// Checks before anything is parsed that every quote that opens a value is closed, since the parser takes an open one to
/// the end of the file, and with it all rows in between; and that no row has more values than a table may have columns,
/// since the parser remembers where each value of a row ends.
fn check_lines(file: &FileRef, bytes: &[u8], separator: u8) -> Result<(), DataError> {
    let mut is_value_start = true;
    let mut opened = None;
    let (mut n_values, mut n_most) = (1, 1);
    for (at, &byte) in bytes.iter().enumerate() {
        match (opened, byte) {
            // A doubled quote closes and opens again.
            (Some(_), b'"') => {
                opened = None;
                is_value_start = bytes.get(at + 1) == Some(&b'"');
            }
            (None, b'"') if is_value_start => opened = Some(at),
            (None, _) => {
                is_value_start = byte == separator || matches!(byte, b'\r' | b'\n');
                n_values = match byte {
                    b'\r' | b'\n' => 1,
                    _ => n_values + usize::from(byte == separator),
                };
                n_most = n_most.max(n_values);
            }
            _ => {}
        }
    }
    if let Some(at) = opened {
        let at = file.line(1 + n_line_ends(&bytes[..at]));
        return Err(TablesError::OpenQuote { at }.into());
    }
    check_n_columns(file, n_most)
}

fn n_line_ends(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}
