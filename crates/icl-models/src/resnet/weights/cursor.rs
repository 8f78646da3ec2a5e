//! Reading the bytes of a pickle from front to back. Errors are what was found.

/// Found where a pickle is cut.
const END: &str = "the end";

/// A position in the bytes of a pickle.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the beginning of `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Number of bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Reads `N` bytes.
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let rest = self.bytes[self.at..].split_first_chunk();
        let (bytes, _) = rest.ok_or(END)?;
        self.at += N;
        Ok(*bytes)
    }

    /// Reads `len` bytes as an integer, little-endian in two's complement. Returns none if it does not
    /// fit into 64 bits.
    pub(super) fn long(&mut self, len: usize) -> Result<Option<i64>, &'static str> {
        let bytes = self.slice(len)?;
        let is_negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut whole = if is_negative { [0xff; 8] } else { [0; 8] };
        let Some(place) = whole.get_mut(..len) else {
            return Ok(None);
        };
        place.copy_from_slice(bytes);
        Ok(Some(i64::from_le_bytes(whole)))
    }

    /// Reads `len` bytes as text.
    pub(super) fn text(&mut self, len: usize) -> Result<String, &'static str> {
        let text = std::str::from_utf8(self.slice(len)?);
        text.map(str::to_owned)
            .map_err(|_| "text that is not UTF-8")
    }

    /// Reads the text up to the next line feed, and passes over the latter.
    pub(super) fn line(&mut self) -> Result<String, &'static str> {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|&byte| byte == b'\n');
        let line = self.text(len.ok_or(END)?)?;
        self.at += 1;
        Ok(line)
    }

    fn slice(&mut self, len: usize) -> Result<&'a [u8], &'static str> {
        let slice = self.bytes[self.at..].get(..len).ok_or(END)?;
        self.at += len;
        Ok(slice)
    }
}
