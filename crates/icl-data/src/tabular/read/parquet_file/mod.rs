//! Parquet files, whose metadata and pages are bounded before the decoder of the format sees them.

mod codec;
mod delta;
mod footer;
mod memory;
mod page_header;
mod pages;
mod thrift;

use std::cell::Cell;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::SchemaDescriptor;

use self::footer::read_metadata;
use self::memory::TooLarge;
use self::pages::Pages;
use crate::disk::open_file;
use crate::error::{DataError, unreadable};
use crate::place::FileRef;

pub(super) use self::memory::Memory;
pub(super) use self::pages::TEXTS;

/// A Parquet file.
pub(super) struct ParquetFile {
    file: Arc<File>,
    n_bytes: u64,
    metadata: ParquetMetaData,
    /// Account of the memory that reading it takes.
    pub(super) memory: Memory,
}

impl ParquetFile {
    /// Opens a file, and reads its metadata.
    ///
    /// # Errors
    /// [`DataError`] if it is unreadable or too large, and the errors of [`broken`].
    pub(super) fn open(file: &FileRef) -> Result<Self, DataError> {
        let opened = open_file(file)?;
        let unreadable = |source| unreadable(file, source);
        let n_bytes = opened.metadata().map_err(unreadable)?.len();
        let memory = Memory::of_file(n_bytes);
        let metadata = read_metadata(&opened, n_bytes, &memory).map_err(broken(file))?;
        Ok(Self {
            file: Arc::new(opened),
            n_bytes,
            metadata,
            memory,
        })
    }

    pub(super) fn schema(&self) -> &SchemaDescriptor {
        self.metadata.file_metadata().schema_descr()
    }

    pub(super) fn n_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Returns the reader of a column in a group of rows, from which `n_kept` bytes are kept for each value.
    ///
    /// # Errors
    /// If the file is damaged.
    pub(super) fn column(
        &self,
        group: usize,
        leaf: usize,
        n_kept: u64,
    ) -> Result<ColumnReader, ParquetError> {
        let part = self.metadata.row_group(group).columns().get(leaf);
        let part = part.ok_or_else(|| ParquetError::General("a missing column".into()))?;
        let file = (Arc::clone(&self.file), self.n_bytes);
        let pages = Pages::new(file, part, self.memory.clone(), n_kept)?;
        Ok(get_column_reader(
            self.schema().column(leaf),
            Box::new(pages),
        ))
    }
}

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread runs the decoder of Parquet files. Its panics at a damaged file become errors of the
/// reader, so that a panic hook need not report them.
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

/// Runs the decoder of the format, which checks most of a damaged file and panics on the rest.
///
/// # Errors
/// Those of `decode`, and that of a damaged file.
pub(super) fn decoded<T>(
    file: &FileRef,
    decode: impl FnOnce() -> Result<T, DataError>,
) -> Result<T, DataError> {
    IS_DECODING.set(true);
    // Nothing that `decode` has changed is used after a panic.
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(false);
    decoded.unwrap_or_else(|_| {
        let source = ParquetError::General("the decoder panicked".into());
        Err(broken(file)(source))
    })
}

/// Returns the error of a file that cannot be decoded, or whose contents take too much memory.
pub(super) fn broken(file: &FileRef) -> impl Fn(ParquetError) -> DataError {
    |source| {
        let file = file.clone();
        if let ParquetError::External(error) = &source
            && let Some(TooLarge { limit }) = error.downcast_ref()
        {
            return DataError::new(
                file,
                format!("values that take more than {} bytes of memory", *limit),
                "at most that many: 64 MiB and 20 times the file",
            );
        }
        DataError::new(
            file,
            "a Parquet file that cannot be read",
            "an intact one, packed by Snappy, gzip or Zstandard or not packed",
        )
        .with_source(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::path::Path;

    #[test]
    fn a_panic_of_the_decoder_alone_is_an_error() {
        let file = FileRef::on_disk(Path::new("a.parquet"));
        assert!(!is_decoding());
        let decoded: Result<(), _> = decoded(&file, || {
            assert!(is_decoding());
            panic!("a damaged page");
        });
        let error = decoded.unwrap_err().to_string();
        assert!(
            error.starts_with("a.parquet: found a Parquet file that cannot be read"),
            "{error}"
        );
        assert!(!is_decoding());
    }
}
