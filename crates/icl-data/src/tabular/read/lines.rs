//! Rows of a text table, read from pieces of its file that are dropped one by one.

use std::io::{Cursor, Read};
use std::vec;

use csv::{ReaderBuilder, StringRecord};

use super::assemble::check_n_columns;
use crate::error::{DataError, unreadable};
use crate::place::FileRef;

/// Beginning of text that some programs put before UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Least number of bytes of a piece: so many that the system gets their memory back as soon as they are dropped.
pub(super) const PIECE: usize = 16 << 20;

/// Rows of a text with the lines on which they begin.
///
/// The text is cut into pieces, so that what was read needs no memory while the table grows.
pub(super) struct Lines {
    pieces: vec::IntoIter<Vec<u8>>,
    separator: u8,
    /// Reader of the piece that is read now.
    reader: csv::Reader<Cursor<Vec<u8>>>,
    /// Number of lines of the pieces before it.
    n_before: usize,
}

impl Lines {
    /// Begins at the first line of a text that is cut where [`checked_cuts`] says.
    pub(super) fn new(mut bytes: Vec<u8>, cuts: Vec<usize>, separator: u8) -> Self {
        let mut pieces = Vec::with_capacity(cuts.len());
        // From the end, so that no more than one piece is in memory twice.
        for cut in cuts.into_iter().rev() {
            pieces.push(bytes.split_off(cut));
            bytes.shrink_to_fit();
        }
        pieces.reverse();
        Self {
            pieces: pieces.into_iter(),
            separator,
            reader: reader(Cursor::new(bytes), separator),
            n_before: 0,
        }
    }

    /// Reads the next row and returns its line, counted from 1; `None` at the end. Empty lines are
    /// skipped.
    pub(super) fn next_into(
        &mut self,
        file: &FileRef,
        row: &mut StringRecord,
    ) -> Result<Option<usize>, DataError> {
        loop {
            let at = self.reader.position().clone();
            let has_row = self
                .reader
                .read_record(row)
                .map_err(|error| unreadable(file, error.into()))?;
            let text = self.reader.get_ref().get_ref();
            if has_row {
                // The line ends before a row belong to it in the reader's count.
                let before = text[at.byte() as usize..]
                    .iter()
                    .take_while(|byte| matches!(byte, b'\r' | b'\n'));
                let n_skipped = n_line_ends(before);
                return Ok(Some(self.n_before + at.line() as usize + n_skipped));
            }
            self.n_before += n_line_ends(text.iter());
            let Some(next) = self.pieces.next() else {
                return Ok(None);
            };
            self.reader = reader(Cursor::new(next), self.separator);
        }
    }
}

/// Returns a reader of rows of any length, the first of which holds no names.
pub(super) fn reader<R: Read>(text: R, separator: u8) -> csv::Reader<R> {
    ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

fn n_line_ends<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes.filter(|byte| **byte == b'\n').count()
}

/// Checks before anything is parsed that every quote that opens a value is closed, since the parser takes an open one
/// to the end of the file, and with it all rows in between; and that no row has more values than a table may have
/// columns, since the parser remembers where each value of a row ends. Returns ends of rows, at least `n_least` bytes
/// apart.
pub(super) fn checked_cuts(
    file: &FileRef,
    bytes: &[u8],
    separator: u8,
    n_least: usize,
) -> Result<Vec<usize>, DataError> {
    let mut is_value_start = true;
    let mut opened = None;
    let (mut n_values, mut n_most) = (1, 1);
    let (mut cuts, mut next) = (Vec::new(), n_least);
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
                // The parser drops a mark at the beginning of a piece.
                let is_marked = || bytes[at + 1..].starts_with(BYTE_ORDER_MARK);
                if byte == b'\n' && at >= next && !is_marked() {
                    cuts.push(at + 1);
                    next = at + n_least;
                }
            }
            _ => {}
        }
    }
    if let Some(at) = opened {
        let at = file.line(1 + n_line_ends(bytes[..at].iter()));
        return Err(DataError::new(
            at,
            "a quote that is never closed",
            "a second one after the value",
        ));
    }
    check_n_columns(file, n_most)?;
    Ok(cuts)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Rows and lines do not depend on where the text is cut.
    #[test]
    fn pieces_have_the_rows_and_lines_of_the_whole() {
        let text = "a,b\r\n\n1,\"x\ny\"\n\r\n\n2,\"\"\"\n\"\n3,\n\n\n4,z\n\u{feff}5,w";
        let file = FileRef::on_disk(Path::new("t.csv"));
        let rows = |n_least| {
            let cuts = checked_cuts(&file, text.as_bytes(), b',', n_least).unwrap();
            let n_pieces = 1 + cuts.len();
            let mut lines = Lines::new(text.into(), cuts, b',');
            let (mut row, mut rows) = (StringRecord::new(), Vec::new());
            while let Some(at) = lines.next_into(&file, &mut row).unwrap() {
                rows.push((at, row.iter().map(str::to_owned).collect::<Vec<String>>()));
            }
            (n_pieces, rows)
        };
        let expected = [
            (1, "a", "b"),
            (3, "1", "x\ny"),
            (7, "2", "\"\n"),
            (9, "3", ""),
            (12, "4", "z"),
            (13, "\u{feff}5", "w"),
        ];
        for (n_least, n_pieces) in [(1000, 1), (20, 2), (1, 10)] {
            let (found, rows) = rows(n_least);
            let rows = rows.iter().map(|(at, row)| (*at, &*row[0], &*row[1]));
            assert!(rows.eq(expected), "{n_least}");
            assert_eq!(found, n_pieces, "{n_least}");
        }
    }
}
