//! The memory that reading a Parquet file may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::ParquetError;

/// Memory that reading any file may take, in bytes: 64 MiB.
const SMALL: u64 = 64 << 20;
/// Memory that reading a larger file may take, as a multiple of its size.
const RATIO: u64 = 20;

/// Error of a file whose contents take more memory than the limit.
#[derive(Debug, thiserror::Error)]
#[error("more than {limit} bytes")]
pub(super) struct TooLarge {
    /// Limit in bytes.
    pub(super) limit: u64,
}

/// Account of the memory that reading one file takes: 64 MiB and 20 times its size at most.
///
/// A page of a few bytes may hold 2^31 values, or unpack to 2 GiB. Everything is counted before it is unpacked.
#[derive(Debug, Clone)]
pub(in crate::tabular::read) struct Memory {
    limit: u64,
    kept: Arc<AtomicU64>,
    held: Arc<AtomicU64>,
}

impl Memory {
    /// Creates the account of a file of so many bytes.
    pub(super) fn of_file(n_bytes: u64) -> Self {
        Self {
            limit: SMALL.saturating_add(n_bytes.saturating_mul(RATIO)),
            kept: Arc::default(),
            held: Arc::default(),
        }
    }

    /// Adds bytes that stay until the end.
    ///
    /// # Errors
    /// If it is too much.
    pub(in crate::tabular::read) fn keep(&self, n_bytes: u64) -> Result<(), ParquetError> {
        self.kept.fetch_add(n_bytes, Ordering::Relaxed);
        self.check(0)
    }

    /// Sets the bytes that stay until they are set again: those of the page that is decoded, and of its dictionary.
    ///
    /// # Errors
    /// If it is too much.
    pub(super) fn hold(&self, n_bytes: u64) -> Result<(), ParquetError> {
        self.held.store(n_bytes, Ordering::Relaxed);
        self.check(0)
    }

    /// Checks that so many bytes more fit for a while.
    ///
    /// # Errors
    /// If they do not.
    pub(super) fn check(&self, n_bytes: u64) -> Result<(), ParquetError> {
        let [kept, held] = [&self.kept, &self.held].map(|it| it.load(Ordering::Relaxed));
        // A quarter is left for vectors that have grown beyond their contents.
        match kept.saturating_add(held).saturating_add(n_bytes) <= self.limit / 4 * 3 {
            true => Ok(()),
            false => {
                let limit = self.limit;
                Err(ParquetError::External(Box::new(TooLarge { limit })))
            }
        }
    }
}
