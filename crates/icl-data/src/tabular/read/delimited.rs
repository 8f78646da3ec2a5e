//! Text tables: values separated by commas, semicolons or tabs (RFC 4180).

use csv::StringRecord;

use super::assemble::{Assembly, Names};
use super::cells::Origin;
use super::first_line::FirstLine;
use super::lines::{BYTE_ORDER_MARK, Lines, PIECE, checked_cuts, reader};
use crate::disk::text_of;
use crate::error::DataError;
use crate::place::FileRef;
use crate::tabular::error::{empty_table, header_only};
use crate::tabular::note::TableNote;
use crate::tabular::options::{Header, TableOptions};
use crate::tabular::table::RawTable;

/// Separators of a `.csv` file, the preferred first.
const SEPARATORS: [u8; 3] = *b",;\t";

/// Reads a text table. `separator` is detected on the first line if it is `None`: a comma if there is
/// one outside quotes, else a semicolon, else a tab.
pub(super) fn read_delimited(
    file: &FileRef,
    name: String,
    bytes: Vec<u8>,
    separator: Option<u8>,
    options: &TableOptions,
) -> Result<RawTable, DataError> {
    let mut table = OpenTable::new(file, bytes, separator, options.header)?;
    let origin = Origin {
        file,
        unit: "line",
        missing: options.missing,
        first_is_guess: table.note == Some(TableNote::FirstLine { is_header: false }),
    };
    let mut assembly = Assembly::begin(file, name, &table.names, options)?;
    let mut n_rows = 0;
    while let Some(at) = table.next_row()? {
        for (column, field) in table.row.iter().enumerate() {
            assembly.push(&origin, column, at, field)?;
        }
        n_rows += 1;
    }
    assembly.finish(&origin, n_rows, table.note, options)
}

/// Texts of two columns of a table, and the name of the table.
#[derive(Debug)]
pub(crate) struct TextColumns {
    pub(crate) name: String,
    /// Names of the columns; their numbers where there is no header.
    pub(crate) columns: [String; 2],
    /// Fields of each row, to the byte.
    pub(crate) rows: Vec<[String; 2]>,
    pub(crate) note: Option<TableNote>,
}

/// Reads two columns of a text table as texts. The columns are given by their names, or by their numbers counted from
/// 1.
pub(super) fn read_text_columns(
    file: &FileRef,
    name: String,
    bytes: Vec<u8>,
    separator: Option<u8>,
    wanted: [&str; 2],
    header: Header,
) -> Result<TextColumns, DataError> {
    let mut table = OpenTable::new(file, bytes, separator, header)?;
    table.names.check_distinct(file)?;
    let [first, second] = wanted.map(|wanted| table.names.find(&name, wanted));
    let columns = [first?, second?];
    let mut rows = Vec::new();
    while let Some(at) = table.next_row()? {
        let texts = columns.map(|column| &table.row[column]);
        if let Some(empty) = texts.iter().position(|text| text.trim().is_empty()) {
            let column = table.names.get(columns[empty]);
            let at = file.cell("line", at, column);
            return Err(DataError::new(at, "nothing", "a text"));
        }
        rows.push(texts.map(str::to_owned));
    }
    Ok(TextColumns {
        name,
        columns: columns.map(|column| table.names.get(column).to_owned()),
        rows,
        note: table.note,
    })
}

/// A text table as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTable {
    /// Names of the columns, without blanks around them.
    pub columns: Vec<String>,
    /// Line and fields of each row; fields are without blanks around them.
    pub rows: Vec<(usize, Vec<String>)>,
}

/// Reads all columns of a text table, whose first line holds their names.
pub(super) fn read_text_rows(
    file: &FileRef,
    bytes: Vec<u8>,
    separator: Option<u8>,
) -> Result<TextTable, DataError> {
    let mut table = OpenTable::new(file, bytes, separator, Header::Yes)?;
    table.names.check_distinct(file)?;
    let mut rows = Vec::new();
    while let Some(at) = table.next_row()? {
        let fields = table.row.iter().map(|field| field.trim().to_owned());
        rows.push((at, fields.collect()));
    }
    let names = (0..table.names.len()).map(|column| table.names.get(column).to_owned());
    Ok(TextTable {
        columns: names.collect(),
        rows,
    })
}

/// A text table whose rows are read one by one.
struct OpenTable<'a> {
    file: &'a FileRef,
    names: Names,
    /// Note that the first line was guessed.
    note: Option<TableNote>,
    lines: Lines,
    /// Row that was read last.
    row: StringRecord,
    /// Line of that row while it is not taken yet.
    waiting: Option<usize>,
}

impl<'a> OpenTable<'a> {
    fn new(
        file: &'a FileRef,
        mut bytes: Vec<u8>,
        separator: Option<u8>,
        header: Header,
    ) -> Result<Self, DataError> {
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        let text = text_of(&bytes, file)?;
        let separator = separator.unwrap_or_else(|| detect_separator(&bytes));
        let cuts = checked_cuts(file, &bytes, separator, PIECE)?;
        let first_line_is = match header {
            Header::Yes => FirstLine::KNOWN_NAMES,
            Header::No => FirstLine::KNOWN_VALUES,
            Header::Auto => {
                // No record is an error: the text is UTF-8, and its rows may differ in length.
                let mut rows = reader(text.as_bytes(), separator).into_records().flatten();
                let first = rows.next().unwrap_or_default();
                FirstLine::detect(&first, rows)
            }
        };
        let mut lines = Lines::new(bytes, cuts, separator);
        let mut row = StringRecord::new();
        let Some(first_line) = lines.next_into(file, &mut row)? else {
            return Err(empty_table(file));
        };
        let names = match first_line_is.is_header {
            true => Names::of_file(row.iter().map(str::to_owned).collect()),
            false => Names::numbers(row.len()),
        };
        let mut table = Self {
            file,
            names,
            note: first_line_is.note(),
            lines,
            row,
            waiting: Some(first_line),
        };
        if first_line_is.is_header {
            table.waiting = table.lines.next_into(file, &mut table.row)?;
            if table.waiting.is_none() {
                return Err(header_only(file));
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
            Some(at) if self.row.len() != self.names.len() => Err(DataError::new(
                self.file.line(at),
                format!("{} values", self.row.len()),
                format!("{}, as on the first line", self.names.len()),
            )),
            line => Ok(line),
        }
    }
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
