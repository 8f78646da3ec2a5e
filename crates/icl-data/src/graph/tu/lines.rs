//! Lines of a text file that may be of any size, one in memory at a time.

use std::io::{self, BufRead, Read};

use crate::error::{DataError, too_large};
use crate::place::FileRef;

/// Length of the longest line that is read, in bytes: 1 MiB.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Lines of a file, without the blank ones at its end.
pub(super) struct Lines<'a> {
    file: FileRef,
    reader: Box<dyn BufRead + 'a>,
    /// Length of the largest file that is read, in bytes.
    limit: u64,
    wrap: Box<dyn Fn(io::Error) -> DataError + 'a>,
    /// The line read last.
    text: String,
    /// Number of lines and of bytes read so far.
    n_lines: usize,
    n_bytes: u64,
    /// First blank line after the last that is not.
    blank: Option<usize>,
}

impl<'a> Lines<'a> {
    /// Creates the lines of a file of at most `limit` bytes; `wrap` makes an error of one of its reader.
    pub(super) fn new(
        file: FileRef,
        reader: Box<dyn BufRead + 'a>,
        limit: u64,
        wrap: Box<dyn Fn(io::Error) -> DataError + 'a>,
    ) -> Self {
        Self {
            file,
            reader,
            limit,
            wrap,
            text: String::new(),
            n_lines: 0,
            n_bytes: 0,
            blank: None,
        }
    }

    pub(super) fn file(&self) -> &FileRef {
        &self.file
    }

    /// Returns the next line and its number, counted from 1. It may end in a carriage return.
    ///
    /// # Errors
    /// If the file cannot be read, is too large, is not UTF-8, or has a line of more than 1 MiB.
    pub(super) fn next(&mut self) -> Result<Option<(usize, &str)>, DataError> {
        if !self.advance()? {
            return Ok(None);
        }
        // A blank line between others is a line, and rejected by whoever reads it.
        Ok(Some(match self.blank.take() {
            Some(line) => (line, ""),
            None => {
                let text = self.text.strip_suffix('\n');
                (self.n_lines, text.unwrap_or(&self.text))
            }
        }))
    }

    /// Reads the next line that is not blank and returns whether there is one.
    fn advance(&mut self) -> Result<bool, DataError> {
        loop {
            let before = self.n_bytes;
            let mut bytes = std::mem::take(&mut self.text).into_bytes();
            bytes.clear();
            let mut one = (&mut self.reader).take(MAX_LINE_BYTES as u64 + 1);
            let n_read = one.read_until(b'\n', &mut bytes).map_err(&self.wrap)?;
            self.n_bytes += n_read as u64;
            if self.n_bytes > self.limit {
                let (file, limit) = (self.file.clone(), self.limit);
                return Err(too_large(file, limit));
            }
            if bytes.is_empty() {
                return Ok(false);
            }
            self.n_lines += 1;
            if bytes.len() > MAX_LINE_BYTES {
                let (at, limit) = (self.file.line(self.n_lines), MAX_LINE_BYTES);
                return Err(DataError::new(
                    at,
                    format!("a line of more than {limit} bytes"),
                    "at most that many",
                ));
            }
            self.text = String::from_utf8(bytes).map_err(|error| {
                DataError::new(
                    self.file.line(self.n_lines),
                    format!(
                        "bytes that are not UTF-8 (byte {} of the file, counted from 0)",
                        before as usize + error.utf8_error().valid_up_to()
                    ),
                    "text",
                )
            })?;
            if !self.text.trim().is_empty() {
                return Ok(true);
            }
            self.blank.get_or_insert(self.n_lines);
        }
    }

    /// Reads the rest, at whose end an archive compares its check sum.
    pub(super) fn check_rest(&mut self) -> Result<(), DataError> {
        let mut rest = (&mut self.reader).take(self.limit - self.n_bytes);
        io::copy(&mut rest, &mut io::sink()).map_err(&self.wrap)?;
        Ok(())
    }

    /// Passes all bytes of the file to `take`, a part at a time.
    ///
    /// # Errors
    /// If the file cannot be read or is too large.
    pub(super) fn each_part(mut self, mut take: impl FnMut(&[u8])) -> Result<(), DataError> {
        loop {
            let part = self.reader.fill_buf().map_err(&self.wrap)?;
            let n_read = part.len();
            take(part);
            self.reader.consume(n_read);
            self.n_bytes += n_read as u64;
            if self.n_bytes > self.limit {
                let (file, limit) = (self.file, self.limit);
                return Err(too_large(file, limit));
            }
            if n_read == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn lines(reader: impl BufRead + 'static, limit: u64) -> Lines<'static> {
        let file = FileRef::on_disk(Path::new("t.txt"));
        let wrap = |error| panic!("{error}");
        Lines::new(file, Box::new(reader), limit, Box::new(wrap))
    }

    fn all(text: &'static str) -> Vec<(usize, String)> {
        let mut lines = lines(text.as_bytes(), 100);
        let mut all = Vec::new();
        while let Some((line, text)) = lines.next().unwrap() {
            all.push((line, text.to_owned()));
        }
        all
    }

    #[test]
    fn blank_lines_at_the_end_are_left_out() {
        let owned = |lines: &[(usize, &str)]| -> Vec<(usize, String)> {
            lines
                .iter()
                .map(|&(n, text)| (n, text.to_owned()))
                .collect()
        };
        assert_eq!(all(""), []);
        assert_eq!(all(" \n\r\n\t"), []);
        assert_eq!(all("a\nb"), owned(&[(1, "a"), (2, "b")]));
        assert_eq!(all("a\r\n b\n\n \n"), owned(&[(1, "a\r"), (2, " b")]));
        assert_eq!(all("a\n\n \nb\n")[1], (2, String::new()));
    }

    #[test]
    fn neither_a_line_nor_a_file_without_end_is_read() {
        let message = |reader: Box<dyn BufRead>, limit| {
            let mut lines = lines(reader, limit);
            loop {
                match lines.next() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("it has no end"),
                    Err(error) => return error.to_string(),
                }
            }
        };
        let zeros = || io::BufReader::new(io::repeat(b'0'));
        assert_eq!(
            message(Box::new(zeros()), u64::MAX),
            "t.txt, line 1: found a line of more than 1048576 bytes, expected at most that many"
        );
        assert_eq!(
            message(Box::new(zeros()), 1000),
            "t.txt: found more than 1000 bytes, expected at most that many"
        );
        let blank = io::BufReader::new(io::repeat(b'\n'));
        assert_eq!(
            message(Box::new(blank), 1000),
            "t.txt: found more than 1000 bytes, expected at most that many"
        );
    }
}
