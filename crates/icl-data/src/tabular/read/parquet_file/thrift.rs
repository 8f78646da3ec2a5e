//! Structures in Thrift's compact protocol, as the metadata of Parquet files are written.
//!
//! Only what bounds a reading is used; everything else is passed over, to a fixed depth.

use parquet::errors::ParquetError;

/// Kinds of values.
pub(super) const TRUE: u8 = 1;
const FALSE: u8 = 2;
pub(super) const I32: u8 = 5;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Deepest nesting that is passed over. The metadata of Parquet files have 7 levels.
const MAX_DEPTH: usize = 16;

/// Returns the error of metadata that are damaged.
pub(super) fn damaged(what: &str) -> ParquetError {
    ParquetError::General(format!("metadata with {what}"))
}

/// Reader of structures, from front to back.
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of structures so far.
    pub(super) n_structs: u64,
    /// Whether the bytes ended too early.
    pub(super) is_cut: bool,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            n_structs: 0,
            is_cut: false,
        }
    }

    /// Number of bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Reads a structure. `take` gets the number and the kind of each field, and reads its value and returns `true`, or
    /// returns `false` to pass over it.
    pub(super) fn fields(
        &mut self,
        take: impl FnMut(&mut Self, i16, u8) -> Result<bool, ParquetError>,
    ) -> Result<(), ParquetError> {
        self.fields_at(0, take)
    }

    fn fields_at(
        &mut self,
        depth: usize,
        mut take: impl FnMut(&mut Self, i16, u8) -> Result<bool, ParquetError>,
    ) -> Result<(), ParquetError> {
        self.n_structs += 1;
        let mut number: i16 = 0;
        loop {
            let byte = self.byte()?;
            let kind = byte & 15;
            if kind == 0 {
                return Ok(());
            }
            let next = match byte >> 4 {
                0 => i16::try_from(self.int()?).ok(),
                step => number.checked_add(i16::from(step)),
            };
            number = next.ok_or_else(|| damaged("a field whose number is too large"))?;
            if !take(self, number, kind)? {
                self.skip(kind, depth)?;
            }
        }
    }

    /// Reads the length of a list of structures.
    pub(super) fn structs(&mut self, kind: u8) -> Result<usize, ParquetError> {
        match self.list(kind)? {
            (_, 0) => Ok(0),
            (STRUCT, n) => Ok(n),
            _ => Err(damaged("a list of other values than structures")),
        }
    }

    /// Reads the kind of the values of a list, and their number, which its bytes can hold.
    fn list(&mut self, kind: u8) -> Result<(u8, usize), ParquetError> {
        if kind != LIST {
            return Err(damaged("a value where a list belongs"));
        }
        let byte = self.byte()?;
        let n = match byte >> 4 {
            15 => self.varint()?,
            n => u64::from(n),
        };
        // Each value takes a byte at least.
        let left = self.bytes.len() - self.at;
        match usize::try_from(n) {
            Ok(n) if n <= left => Ok((byte & 15, n)),
            _ => Err(self.cut()),
        }
    }

    /// Reads an integer.
    pub(super) fn int(&mut self) -> Result<i64, ParquetError> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads an integer of a field of this kind, from 0 to 2^31 - 1.
    pub(super) fn count(&mut self, kind: u8) -> Result<usize, ParquetError> {
        let value = match kind {
            I32 => self.int()?,
            _ => return Err(damaged("a value where a count belongs")),
        };
        let value = u32::try_from(value).ok().filter(|n| *n <= i32::MAX as u32);
        value
            .map(|n| n as usize)
            .ok_or_else(|| damaged("a count below 0 or beyond 2^31"))
    }

    /// Reads bytes of a field of this kind and returns their number.
    pub(super) fn n_bytes(&mut self, kind: u8) -> Result<usize, ParquetError> {
        if kind != BINARY {
            return Err(damaged("a value where a text belongs"));
        }
        let n = self.varint()?;
        let left = self.bytes.len() - self.at;
        match usize::try_from(n) {
            Ok(n) if n <= left => {
                self.at += n;
                Ok(n)
            }
            _ => Err(self.cut()),
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), ParquetError> {
        if depth == MAX_DEPTH {
            return Err(damaged("more than 16 levels"));
        }
        match kind {
            TRUE | FALSE => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => self.pass(8)?,
            BINARY => drop(self.n_bytes(BINARY)?),
            // Lists and sets.
            LIST | 10 => {
                let (kind, n) = self.list(LIST)?;
                for _ in 0..n {
                    self.skip_item(kind, depth + 1)?;
                }
            }
            11 => {
                let n = self.varint()?;
                if n == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                for _ in 0..n {
                    self.skip_item(kinds >> 4, depth + 1)?;
                    self.skip_item(kinds & 15, depth + 1)?;
                }
            }
            STRUCT => self.fields_at(depth + 1, |_, _, _| Ok(false))?,
            13 => self.pass(16)?,
            _ => return Err(damaged("a value of an unknown kind")),
        }
        Ok(())
    }

    /// Passes over a value of a list, where a boolean takes a byte, too.
    fn skip_item(&mut self, kind: u8, depth: usize) -> Result<(), ParquetError> {
        match kind {
            TRUE | FALSE => self.pass(1),
            _ => self.skip(kind, depth),
        }
    }

    fn pass(&mut self, n: usize) -> Result<(), ParquetError> {
        if self.bytes.len() - self.at < n {
            return Err(self.cut());
        }
        self.at += n;
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, ParquetError> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| self.cut())
    }

    fn varint(&mut self) -> Result<u64, ParquetError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged("an integer of more than 64 bits"))
    }

    fn cut(&mut self) -> ParquetError {
        self.is_cut = true;
        // Further calls must not begin behind the end.
        self.at = self.bytes.len();
        damaged("an early end")
    }
}
