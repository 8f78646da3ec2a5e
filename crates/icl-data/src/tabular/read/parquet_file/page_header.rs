//! Headers of the pages of a Parquet column.

use parquet::basic::Encoding;
use parquet::errors::ParquetError;

use super::thrift::{I32, TRUE, Thrift, damaged};

/// Header of a page.
#[derive(Debug, Default)]
pub(super) struct PageHeader {
    kind: usize,
    /// Number of bytes unpacked.
    pub(super) n_unpacked: usize,
    /// Number of bytes in the file.
    pub(super) n_packed: usize,
    values: Option<Values>,
}

/// Kind of a page that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    /// Values with their levels in front, packed together.
    Data,
    /// Values with their levels in front, which are not packed.
    DataV2,
    Dictionary,
}

/// Description of the values of a page, as far as its kind has one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Values {
    pub(super) n: usize,
    encoding: usize,
    definition_encoding: usize,
    repetition_encoding: usize,
    pub(super) n_nulls: usize,
    pub(super) n_rows: usize,
    pub(super) n_definition: usize,
    pub(super) n_repetition: usize,
    pub(super) is_packed: bool,
}

impl PageHeader {
    /// Reads the header at the beginning of these bytes, and returns its length. `None` if there are too few bytes.
    ///
    /// # Errors
    /// If it is damaged.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, ParquetError> {
        let mut thrift = Thrift::new(bytes);
        let mut header = Self::default();
        let read = thrift.fields(|thrift, field, kind| {
            match field {
                1 => header.kind = thrift.count(kind)?,
                2 => header.n_unpacked = thrift.count(kind)?,
                3 => header.n_packed = thrift.count(kind)?,
                // The numbers of the fields differ from kind to kind.
                5 => header.values = Some(Values::read(thrift, [1, 2, 3, 4, 0, 0, 0, 0, 0])?),
                7 => header.values = Some(Values::read(thrift, [1, 2, 0, 0, 0, 0, 0, 0, 0])?),
                8 => header.values = Some(Values::read(thrift, [1, 4, 0, 0, 2, 3, 5, 6, 7])?),
                _ => return Ok(false),
            }
            Ok(true)
        });
        match read {
            Ok(()) => Ok(Some((header, thrift.position()))),
            Err(_) if thrift.is_cut => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the kind of the page; `None` for an index, which is passed over.
    ///
    /// # Errors
    /// If there is no such kind.
    pub(super) fn kind(&self) -> Result<Option<PageKind>, ParquetError> {
        match self.kind {
            0 => Ok(Some(PageKind::Data)),
            1 => Ok(None),
            2 => Ok(Some(PageKind::Dictionary)),
            3 => Ok(Some(PageKind::DataV2)),
            _ => Err(damaged("a page of an unknown kind")),
        }
    }

    /// Returns the description of the values.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn values(&self) -> Result<Values, ParquetError> {
        self.values
            .ok_or_else(|| damaged("a page without a description"))
    }
}

impl Values {
    /// Reads a description, whose fields have these numbers, in the order of the fields of this type, or 0.
    fn read(thrift: &mut Thrift<'_>, numbers: [i16; 9]) -> Result<Self, ParquetError> {
        let mut values = Self {
            is_packed: true,
            ..Self::default()
        };
        thrift.fields(|thrift, field, kind| {
            let place = match numbers.iter().position(|number| *number == field) {
                Some(0) => &mut values.n,
                Some(1) => &mut values.encoding,
                Some(2) => &mut values.definition_encoding,
                Some(3) => &mut values.repetition_encoding,
                Some(4) => &mut values.n_nulls,
                Some(5) => &mut values.n_rows,
                Some(6) => &mut values.n_definition,
                Some(7) => &mut values.n_repetition,
                Some(8) => {
                    values.is_packed = kind == TRUE;
                    return Ok(false);
                }
                _ => return Ok(false),
            };
            match kind {
                I32 => *place = thrift.count(kind)?,
                _ => return Err(damaged("a value where a count belongs")),
            }
            Ok(true)
        })?;
        Ok(values)
    }

    /// Returns the encoding of the values.
    ///
    /// # Errors
    /// If it is unknown.
    pub(super) fn encoding(&self) -> Result<Encoding, ParquetError> {
        encoding(self.encoding)
    }

    /// Returns the encoding of the levels of definition and of repetition.
    ///
    /// # Errors
    /// If one is unknown.
    pub(super) fn level_encodings(&self) -> Result<[Encoding; 2], ParquetError> {
        Ok([
            encoding(self.definition_encoding)?,
            encoding(self.repetition_encoding)?,
        ])
    }
}

fn encoding(number: usize) -> Result<Encoding, ParquetError> {
    // Those of levels are deprecated, but old files have them.
    #[expect(deprecated)]
    let known = [
        (0, Encoding::PLAIN),
        (2, Encoding::PLAIN_DICTIONARY),
        (3, Encoding::RLE),
        (4, Encoding::BIT_PACKED),
        (5, Encoding::DELTA_BINARY_PACKED),
        (6, Encoding::DELTA_LENGTH_BYTE_ARRAY),
        (7, Encoding::DELTA_BYTE_ARRAY),
        (8, Encoding::RLE_DICTIONARY),
        (9, Encoding::BYTE_STREAM_SPLIT),
    ];
    let found = known.iter().find(|(known, _)| *known == number);
    found
        .map(|(_, encoding)| *encoding)
        .ok_or_else(|| ParquetError::General(format!("an unknown encoding, number {number}")))
}
