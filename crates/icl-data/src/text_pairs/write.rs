//! Writer of pairs of texts.

use std::io;
use std::path::Path;

use csv::{QuoteStyle, WriterBuilder};
use icl_core::AtomicFile;

use super::pairs::TextPairs;
use crate::error::DataError;
use crate::new_folder::unwritable;
use crate::tabular::could_be_name;

impl TextPairs {
    /// Returns the names under which [`write`](Self::write) writes the columns: their own, or `column 7` for a name
    /// that is a number, as in a file without header, or that stands for a missing value.
    pub fn written_columns(&self) -> [String; 2] {
        let written = |name: &String| match could_be_name(name) {
            true => name.clone(),
            false => format!("column {name}"),
        };
        self.columns().each_ref().map(written)
    }

    /// Writes some pairs, in this order, as a text table of two columns with a header, separated by commas, which
    /// [`read_text_pairs`](super::read_text_pairs) reads with the same texts. The file is whole or absent.
    ///
    /// # Errors
    /// [`DataError`] if a file has this name already, or cannot be written.
    ///
    /// # Panics
    /// If an index is not below the number of pairs.
    pub fn write(&self, pairs: &[usize], path: impl AsRef<Path>) -> Result<(), DataError> {
        let path = path.as_ref();
        let write = || -> io::Result<()> {
            let mut file = AtomicFile::begin(path)?;
            let mut writer = WriterBuilder::new()
                .quote_style(QuoteStyle::Necessary)
                .from_writer(&mut file);
            writer.write_record(self.written_columns())?;
            for &pair in pairs {
                writer.write_record(&self.pairs()[pair])?;
            }
            writer.flush()?;
            drop(writer);
            file.create_new()
        };
        write().map_err(unwritable(path))
    }
}
