//! Writer of text tables.

use std::borrow::Cow;
use std::io::Write;
use std::iter;
use std::path::Path;

use csv::{QuoteStyle, StringRecord, WriterBuilder};
use flate2::Compression;
use flate2::write::GzEncoder;
use icl_core::AtomicFile;

use super::options::Header;
use super::raw_column::RawColumn;
use super::read::FirstLine;
use super::table::RawTable;
use crate::error::DataError;
use crate::new_folder::unwritable;

/// Character that some programs put before UTF-8, and that readers drop.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl RawTable {
    /// Writes some rows, in this order, as a text table with their fields as they were read, to the byte, compressed by
    /// gzip if the name ends in `.gz`. The file is whole or absent.
    ///
    /// Columns are separated by commas, or by tabs if the name, without `.gz`, ends in `.tsv` or `.tab`, and have the
    /// order of the file that was read. The first line holds their names if that file had any, or if columns were left
    /// out. [`read_table`] reads the same table, with the setting that [`written_header`](Self::written_header)
    /// returns.
    ///
    /// [`read_table`]: crate::read_table
    ///
    /// # Errors
    /// [`DataError`] if a file has this name already, or cannot be written.
    ///
    /// # Panics
    /// If an index is not below [`n_rows`](Self::n_rows).
    pub fn write(&self, rows: &[usize], path: impl AsRef<Path>) -> Result<(), DataError> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let plain = name.strip_suffix(".gz");
        let stem = plain.unwrap_or(&name).to_ascii_lowercase();
        let separator = match stem.ends_with(".tsv") || stem.ends_with(".tab") {
            true => b'\t',
            false => b',',
        };
        let write = || -> std::io::Result<()> {
            let mut file = AtomicFile::begin(path)?;
            if plain.is_some() {
                let mut packed = GzEncoder::new(&mut file, Compression::default());
                self.write_rows(rows, separator, &mut packed)?;
                packed.finish()?;
            } else {
                self.write_rows(rows, separator, &mut file)?;
            }
            file.create_new()
        };
        write().map_err(unwritable(path))
    }

    fn write_rows(
        &self,
        rows: &[usize],
        separator: u8,
        to: &mut impl Write,
    ) -> std::io::Result<()> {
        let names = || self.columns.iter().map(RawColumn::heading);
        let first = match rows.first() {
            Some(&row) if !self.writes_names() => self.row(row).next(),
            _ => names().next().map(Cow::from),
        };
        let needs_quotes = self.columns.len() == 1
            || first.is_some_and(|first| first.starts_with(BYTE_ORDER_MARK));
        let mut writer = WriterBuilder::new()
            .delimiter(separator)
            .quote_style(match needs_quotes {
                // A mark within the only field would be read as a separator, and one at the beginning be dropped.
                true => QuoteStyle::Always,
                false => QuoteStyle::Necessary,
            })
            .from_writer(to);
        if self.writes_names() {
            writer.write_record(names())?;
        }
        for &row in rows {
            for field in self.row(row) {
                writer.write_field(&*field)?;
            }
            // Ends the row.
            writer.write_record(iter::empty::<&str>())?;
        }
        writer.flush()
    }

    /// Returns the setting with which [`read_table`](crate::read_table) does not take names for values, or values for
    /// names, in the first line that [`write`](Self::write) writes: `auto` if the reader detects it.
    ///
    /// # Panics
    /// If an index is not below [`n_rows`](Self::n_rows).
    pub fn written_header(&self, rows: &[usize]) -> Header {
        let has_names = self.writes_names();
        let names = has_names.then(|| self.columns.iter().map(RawColumn::heading).collect());
        let rows = rows
            .iter()
            .map(|&row| StringRecord::from_iter(self.row(row)));
        let mut lines = names.into_iter().chain(rows);
        let is_detected = lines
            .next()
            .is_some_and(|first| FirstLine::detect(&first, lines).is_header == has_names);
        match has_names {
            _ if is_detected => Header::Auto,
            true => Header::Yes,
            false => Header::No,
        }
    }

    /// Returns `true` if the names of the columns are written: the file had them, or its columns are not all there.
    fn writes_names(&self) -> bool {
        let mut numbered = (1..).zip(self.columns.iter());
        self.has_header
            || numbered.any(|(number, column): (usize, _)| column.name != number.to_string())
    }

    fn row(&self, row: usize) -> impl Iterator<Item = Cow<'_, str>> {
        self.columns
            .iter()
            .map(move |column| column.fields.get(row))
    }
}
