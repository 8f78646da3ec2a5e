//! Writer of text tables.

use std::io::Write;
use std::path::Path;

use csv::{QuoteStyle, WriterBuilder};
use flate2::Compression;
use flate2::write::GzEncoder;
use icl_core::AtomicFile;

use super::read::could_be_name;
use super::table::RawTable;
use crate::error::DataError;
use crate::new_folder::unwritable;

impl RawTable {
    /// Writes some rows, in this order, as a text table that [`read_table`](crate::read_table) reads with
    /// the same values, compressed by gzip if the name ends in `.gz`. The file is whole or absent.
    ///
    /// Columns are separated by commas, or by tabs if the name, without `.gz`, ends in `.tsv` or `.tab`.
    /// The first line holds the names of the columns; the target comes last. A table whose columns are `1`,
    /// `2` and so on, as those of a file without a line of names, is written without that line and with each
    /// column at its place, if its first row has a number, so that no reader takes it for names. In other
    /// tables, a name that is a number or that stands for a missing value is written as `column 7`, or else
    /// the line would be read as values. Numbers are written in the shortest
    /// form that reads as the same number, missing values as nothing.
    ///
    /// # Errors
    /// [`DataError::Unwritable`] if a file has this name already, or cannot be written.
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
        let mut writer = WriterBuilder::new()
            .delimiter(separator)
            .quote_style(QuoteStyle::Necessary)
            .from_writer(to);
        let names: Vec<&String> = self.columns.iter().map(|column| &column.name).collect();
        let names = [names, self.target.iter().collect()].concat();
        let is_clear = rows.first().is_some_and(|&row| {
            let mut cells = self.columns.iter().filter_map(|of| of.values.text(row));
            cells.any(|cell| !could_be_name(&cell))
        });
        let places = match self.places(&names) {
            Some(places) if is_clear => places,
            _ => {
                for name in &names {
                    match could_be_name(name) {
                        true => writer.write_field(name)?,
                        false => writer.write_field(format!("column {name}"))?,
                    }
                }
                writer.write_record(None::<&[u8]>)?;
                (0..names.len()).collect()
            }
        };
        for &row in rows {
            for &place in &places {
                match self.columns.get(place) {
                    Some(column) => {
                        writer.write_field(column.values.text(row).unwrap_or_default())?;
                    }
                    None => writer.write_field(&self.class_names[self.labels[row]])?,
                }
            }
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }

    /// Returns the order in which the columns stood in a file without a line of names; `None` if the names
    /// are others than 1, …, n.
    fn places(&self, names: &[&String]) -> Option<Vec<usize>> {
        let mut places = vec![None; names.len()];
        for (column, name) in names.iter().enumerate() {
            let place: usize = name.parse().ok()?;
            *places.get_mut(place.checked_sub(1)?)? = Some(column);
        }
        places.into_iter().collect()
    }
}
