//! The pages of a part of a column. What one takes in memory is counted before it is unpacked.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;

use super::codec::{n_beside, unpack};
use super::delta::behind_lengths;
use super::memory::Memory;
use super::page_header::{PageHeader, PageKind, Values};
use super::thrift::damaged;

/// Numbers of bytes of which the header of a page is read: nearly all fit in the first, but one may hold long texts.
const HEADERS: [u64; 3] = [4 << 10, 256 << 10, 16 << 20];

/// Bytes of a value of a dictionary, which the decoder holds unpacked.
const ENTRY: u64 = 40;

/// Number of texts that are decoded at once: each may be as long as its page where only the differences are stored.
pub(in crate::tabular::read) const TEXTS: usize = 16;

/// Pages of a part of a column.
pub(super) struct Pages {
    file: Arc<File>,
    at: u64,
    end: u64,
    codec: Compression,
    physical: Type,
    /// Whether values have levels of repetition and of definition.
    has_levels: [bool; 2],
    memory: Memory,
    /// Bytes that stay in memory for each value.
    n_kept: u64,
    /// Bytes of the dictionary, and of the current page.
    n_held: [u64; 2],
}

impl Pages {
    /// Creates the pages of a part of a column, of which the reader keeps `n_kept` bytes for each value.
    ///
    /// # Errors
    /// If the part lies outside of the file, which has `n_bytes`.
    pub(super) fn new(
        (file, n_bytes): (Arc<File>, u64),
        part: &ColumnChunkMetaData,
        memory: Memory,
        n_kept: u64,
    ) -> Result<Self, ParquetError> {
        let start = part
            .dictionary_page_offset()
            .unwrap_or(part.data_page_offset());
        let range = u64::try_from(start).ok().and_then(|start| {
            let length = u64::try_from(part.compressed_size()).ok()?;
            Some((start, start.checked_add(length)?))
        });
        let (at, end) = range
            .filter(|(_, end)| *end <= n_bytes)
            .ok_or_else(|| damaged("a column outside of the file"))?;
        let column = part.column_descr();
        Ok(Self {
            file,
            at,
            end,
            codec: part.compression(),
            physical: column.physical_type(),
            has_levels: [column.max_rep_level() > 0, column.max_def_level() > 0],
            memory,
            n_kept,
            n_held: [0; 2],
        })
    }

    /// Reads the header of the next page, and returns its length. `None` at the end.
    fn header(&self) -> Result<Option<(PageHeader, u64)>, ParquetError> {
        let left = self.end - self.at;
        if left == 0 {
            return Ok(None);
        }
        for size in HEADERS {
            self.memory.check(size.min(left))?;
            let bytes = self.read(self.at, size.min(left))?;
            if let Some((header, length)) = PageHeader::read(&bytes)? {
                return Ok(Some((header, length as u64)));
            }
            if size >= left {
                break;
            }
        }
        Err(damaged("a header of a page that is cut"))
    }

    fn read(&self, at: u64, n: u64) -> Result<Vec<u8>, ParquetError> {
        let mut bytes = vec![0; n as usize];
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a page behind its header.
    fn page(&mut self, header: &PageHeader, kind: PageKind) -> Result<Page, ParquetError> {
        let values = header.values()?;
        let encoding = values.encoding()?;
        let [n_packed, n_unpacked] = [header.n_packed, header.n_unpacked].map(|n| n as u64);
        if n_packed > self.end - self.at {
            return Err(damaged("a page outside of its column"));
        }
        // Without a codec, some writers state another length unpacked.
        let n_unpacked = match self.codec {
            Compression::UNCOMPRESSED => n_packed,
            _ => n_unpacked,
        };
        let n_levels = match kind {
            PageKind::DataV2 => values.n_definition as u64 + values.n_repetition as u64,
            _ => 0,
        };
        if n_levels > n_packed.min(n_unpacked) {
            return Err(damaged("levels outside of their page"));
        }
        let is_dictionary = kind == PageKind::Dictionary;
        if !is_dictionary {
            self.memory.keep(self.n_kept * values.n as u64)?;
        }
        let entries = match is_dictionary {
            true => ENTRY * values.n as u64,
            false => 0,
        };
        // Copies of a text, which may fill its page.
        let n_copies = match (self.physical, encoding) {
            (_, Encoding::DELTA_BYTE_ARRAY) => 2 + TEXTS as u64,
            (Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY, _) => 2,
            _ => 0,
        };
        // The page before this one stays in memory while this one is unpacked.
        let next_to = n_packed + n_beside(self.codec, n_unpacked);
        let held = n_unpacked * (1 + n_copies) + entries;
        self.memory.check(n_unpacked + entries + next_to)?;
        self.n_held[usize::from(!is_dictionary)] = held;
        self.memory.hold(self.n_held.iter().sum())?;
        let packed = self.read(self.at, n_packed)?;
        let n_levels = n_levels as usize;
        let body = match self.codec {
            Compression::UNCOMPRESSED => packed,
            // Both kinds of page without values have no packed bytes.
            _ if !values.is_packed || n_levels == header.n_unpacked => packed,
            codec => {
                let mut body = Vec::with_capacity(header.n_unpacked);
                body.extend_from_slice(&packed[..n_levels]);
                let n = header.n_unpacked - n_levels;
                unpack(codec, &packed[n_levels..], n, &mut body)?;
                body
            }
        };
        if is_dictionary {
            self.check_dictionary(values, &body)?;
        } else {
            self.check_encoding(values, encoding, kind, &body)?;
        }
        let buf = Bytes::from(body);
        let num_values = values.n as u32;
        Ok(match kind {
            PageKind::Dictionary => Page::DictionaryPage {
                buf,
                num_values,
                encoding,
                is_sorted: false,
            },
            PageKind::Data => {
                let [def_level_encoding, rep_level_encoding] = values.level_encodings()?;
                Page::DataPage {
                    buf,
                    num_values,
                    encoding,
                    def_level_encoding,
                    rep_level_encoding,
                    statistics: None,
                }
            }
            PageKind::DataV2 => Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls: values.n_nulls as u32,
                num_rows: values.n_rows as u32,
                def_levels_byte_len: values.n_definition as u32,
                rep_levels_byte_len: values.n_repetition as u32,
                is_compressed: values.is_packed,
                statistics: None,
            },
        })
    }

    /// Checks that a dictionary can hold as many values as it states. An empty text takes the 4 bytes of its length.
    fn check_dictionary(&self, values: Values, body: &[u8]) -> Result<(), ParquetError> {
        let n_most = match self.physical {
            Type::BOOLEAN => body.len().saturating_mul(8),
            Type::FIXED_LEN_BYTE_ARRAY => body.len(),
            _ => body.len() / 4,
        };
        match values.n <= n_most {
            true => Ok(()),
            false => Err(damaged("a dictionary of fewer values than it states")),
        }
    }

    /// Checks the lengths of texts in delta encoding, which the decoder trusts.
    fn check_encoding(
        &self,
        values: Values,
        encoding: Encoding,
        kind: PageKind,
        body: &[u8],
    ) -> Result<(), ParquetError> {
        let n_lists = match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        if encoding == Encoding::DELTA_LENGTH_BYTE_ARRAY && self.physical != Type::BYTE_ARRAY {
            return Err(damaged("lengths of values of one length"));
        }
        let mut rest = match kind {
            PageKind::DataV2 => &body[values.n_definition + values.n_repetition..],
            _ => self.behind_levels(values, body)?,
        };
        for _ in 0..n_lists {
            rest = behind_lengths(rest, values.n)?;
        }
        Ok(())
    }

    /// Returns the bytes behind the levels of a page of the first version; each kind of levels begins with its length.
    fn behind_levels<'a>(&self, values: Values, body: &'a [u8]) -> Result<&'a [u8], ParquetError> {
        let mut rest = body;
        let encodings = values.level_encodings()?.into_iter().rev();
        for (encoding, has_level) in encodings.zip(self.has_levels) {
            if !has_level {
                continue;
            }
            let behind = rest.split_first_chunk().and_then(|(length, rest)| {
                let is_known = encoding == Encoding::RLE;
                let length = u32::from_le_bytes(*length) as usize;
                rest.get(length..).filter(|_| is_known)
            });
            rest = behind.ok_or_else(|| damaged("levels that are cut, or not in runs"))?;
        }
        Ok(rest)
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        while let Some((header, length)) = self.header()? {
            self.at += length;
            let page = match header.kind()? {
                Some(kind) => Some(self.page(&header, kind)?),
                None => None,
            };
            self.at = self.at.saturating_add(header.n_packed as u64).min(self.end);
            if page.is_some() {
                return Ok(page);
            }
        }
        Ok(None)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        let Some((header, _)) = self.header()? else {
            return Ok(None);
        };
        let kind = header.kind()?;
        let values = header.values()?;
        Ok(Some(PageMetadata {
            num_rows: (kind == Some(PageKind::DataV2)).then_some(values.n_rows),
            num_levels: Some(values.n),
            is_dict: kind == Some(PageKind::Dictionary),
        }))
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        if let Some((header, length)) = self.header()? {
            self.at = (self.at + length)
                .saturating_add(header.n_packed as u64)
                .min(self.end);
        }
        Ok(())
    }
}

impl Iterator for Pages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
