//! Headers of NumPy's file format.
//!
//! ```text
//! \x93NUMPY, version (2 bytes), length (2 bytes; 4 from version 2 on), and a dictionary in Python's words:
//! {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }
//! ```
//!
//! Only dictionaries of these three keys are read, from front to back, so that the time is proportional to the
//! length whatever a file holds.

use icl_core::Error;
use icl_data::Found;

/// Beginning of every file.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Length of the longest header that is read, in bytes: 64 KiB. That of a plain array has about 100.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// Maximum number of axes, which is NumPy's.
const MAX_AXES: usize = 64;

/// Description of a file without such a header.
const EXPECTED: &str = "a .npy file or a table of numbers";

/// Description of an array.
#[derive(Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// Type of the elements in NumPy's words: `<f4`, `<f8`.
    pub descriptor: String,
    /// Whether the first index, not the last, is the one that changes fastest.
    pub is_fortran: bool,
    /// Length of each axis.
    pub shape: Vec<u64>,
}

impl NpyHeader {
    /// Returns the header as bytes, in version 1 of the format. As in NumPy, spaces fill it up so that the values begin
    /// at a multiple of 64 bytes.
    ///
    /// # Panics
    /// If it has more than 64 KiB; that of at most 64 axes has not.
    pub fn bytes(&self) -> Vec<u8> {
        const ALIGNMENT: usize = 64;
        let axes: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let end = if axes.len() == 1 { "," } else { "" };
        let is_fortran = if self.is_fortran { "True" } else { "False" };
        let mut text = format!(
            "{{'descr': '{}', 'fortran_order': {is_fortran}, 'shape': ({}{end}), }}",
            self.descriptor,
            axes.join(", ")
        );
        // The magic word, the version and the length; and the end of the line.
        let n_beside = MAGIC.len() + 4 + 1;
        let length = (text.len() + n_beside).next_multiple_of(ALIGNMENT) - n_beside;
        text.extend(std::iter::repeat_n(' ', length - text.len()));
        text.push('\n');
        let length = u16::try_from(text.len()).expect("a header of few axes");
        [&MAGIC[..], &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat()
    }

    /// Reads the header at the beginning of a file and returns it with the bytes behind it.
    ///
    /// # Errors
    /// Without a place, if there is none, it is cut off or longer than 64 KiB, or is not a dictionary of exactly the
    /// three keys.
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let cut = || Error::new("", "a NumPy header that is cut off", "a whole one");
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or_else(|| Error::new("", "no NumPy header", EXPECTED))?;
        let ([major, _minor], rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let (length, rest) = match major {
            1 => {
                let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
                (usize::from(u16::from_le_bytes(*length)), rest)
            }
            2 | 3 => {
                let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
                (u32::from_le_bytes(*length) as usize, rest)
            }
            _ => {
                let found = format!("version {major} of the NumPy format");
                return Err(Error::new("", found, "version 1, 2 or 3"));
            }
        };
        if length > MAX_HEADER_BYTES {
            let found = format!("a NumPy header of {length} bytes");
            return Err(Error::new("", found, "at most 65536"));
        }
        let (text, values) = rest.split_at_checked(length).ok_or_else(cut)?;
        let header = Dictionary { text, at: 0 }.header()?;
        Ok((header, values))
    }
}

/// Text of a header and the position of its reader.
struct Dictionary<'a> {
    text: &'a [u8],
    at: usize,
}

impl Dictionary<'_> {
    fn header(&mut self) -> Result<NpyHeader, Error> {
        let (mut descriptor, mut is_fortran, mut shape) = (None, None, None);
        self.expect(b'{', "`{`")?;
        while self.next() != Some(b'}') {
            let key = self.string("one of the keys 'descr', 'fortran_order' and 'shape'")?;
            self.expect(b':', "`:`")?;
            let is_repeated = match key.as_str() {
                "descr" => {
                    let value = self.string("the type of a plain array, such as '<f4'")?;
                    descriptor.replace(value).is_some()
                }
                "fortran_order" => is_fortran.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.lengths()?).is_some(),
                other => {
                    let found = format!("key {} in the NumPy header", Found::new(other));
                    return Err(Error::new(
                        "",
                        found,
                        "only 'descr', 'fortran_order' and 'shape'",
                    ));
                }
            };
            if is_repeated {
                let found = format!("key {} twice in the NumPy header", Found::new(&key));
                return Err(Error::new("", found, "every key once"));
            }
            if !self.accept(b',') {
                break;
            }
        }
        self.expect(b'}', "`}`")?;
        if self.next().is_some() {
            return Err(self.fault("the end of the header"));
        }
        match (descriptor, is_fortran, shape) {
            (Some(descriptor), Some(is_fortran), Some(shape)) => Ok(NpyHeader {
                descriptor,
                is_fortran,
                shape,
            }),
            _ => Err(Error::new(
                "",
                "a NumPy header that lacks a key",
                "'descr', 'fortran_order' and 'shape'",
            )),
        }
    }

    /// Passes over white space and returns the byte behind it.
    fn next(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
        self.at += blank.count();
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, wanted: u8) -> bool {
        let is_there = self.next() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, wanted: u8, expected: &'static str) -> Result<(), Error> {
        match self.accept(wanted) {
            true => Ok(()),
            false => Err(self.fault(expected)),
        }
    }

    /// Reads a string without escapes.
    fn string(&mut self, expected: &'static str) -> Result<String, Error> {
        let quote = match self.next() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.fault(expected)),
        };
        let rest = &self.text[self.at + 1..];
        let length = rest.iter().position(|&byte| byte == quote);
        let text = length.and_then(|length| std::str::from_utf8(&rest[..length]).ok());
        let text = text.ok_or_else(|| self.fault(expected))?;
        self.at += text.len() + 2;
        Ok(text.to_owned())
    }

    fn boolean(&mut self) -> Result<bool, Error> {
        self.next();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.fault("True or False"))
    }

    /// Reads a tuple of integers.
    fn lengths(&mut self) -> Result<Vec<u64>, Error> {
        let mut lengths = Vec::new();
        self.expect(b'(', "a tuple of integers")?;
        while self.next() != Some(b')') {
            if lengths.len() == MAX_AXES {
                return Err(self.fault("at most 64 axes"));
            }
            lengths.push(self.integer()?);
            if !self.accept(b',') {
                break;
            }
        }
        self.expect(b')', "`,` or `)`")?;
        Ok(lengths)
    }

    fn integer(&mut self) -> Result<u64, Error> {
        self.next();
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = std::str::from_utf8(&rest[..length]).ok();
        let value = digits.and_then(|digits| digits.parse().ok());
        let value = value.ok_or_else(|| self.fault("an integer from 0 to 2^64 - 1"))?;
        self.at += length;
        // Python 2 wrote an L behind long integers.
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        Ok(value)
    }

    fn fault(&self, expected: &'static str) -> Error {
        let rest = &self.text[self.at..];
        // More than is printed, and never the whole text.
        let rest = String::from_utf8_lossy(&rest[..rest.len().min(256)]);
        let found = format!(
            "{} at byte {} of the NumPy header",
            Found::new(rest.trim_end()),
            self.at
        );
        Error::new("", found, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of version 1 with this header and no values.
    fn file(header: &str) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes
    }

    fn fault(bytes: &[u8]) -> Error {
        let fault = NpyHeader::read(bytes).unwrap_err();
        assert!(fault.found().chars().count() < 200, "{}", fault.found());
        assert!(
            !fault.found().contains(char::is_control),
            "{:?}",
            fault.found()
        );
        fault
    }

    /// The bytes are those of `numpy.save` of NumPy 2.4.6.
    #[test]
    fn a_header_is_written_as_by_numpy() {
        let header = |shape: &[u64]| NpyHeader {
            descriptor: "<f4".to_owned(),
            is_fortran: false,
            shape: shape.to_vec(),
        };
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
        let expected = format!("\u{1}\0v\0{text:<117}\n");
        let bytes = header(&[2, 3]).bytes();
        assert_eq!(&bytes[..6], MAGIC);
        assert_eq!(&bytes[6..], expected.as_bytes());
        for shape in [&[][..], &[4], &[1, 2, 3], &[u64::MAX; 2], &[1; 64]] {
            let bytes = header(shape).bytes();
            assert_eq!(bytes.len() % 64, 0);
            let (read, rest) = NpyHeader::read(&bytes).unwrap();
            assert_eq!((read, rest), (header(shape), &[][..]));
        }
    }

    #[test]
    fn the_three_keys_are_read_in_any_order() {
        for (text, descriptor, is_fortran, shape) in [
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }  \n",
                "<f4",
                false,
                vec![3, 2],
            ),
            (
                "{\"shape\":(7,),\"fortran_order\":True,\"descr\":\">f8\"}",
                ">f8",
                true,
                vec![7],
            ),
            (
                " { 'shape' : ( ) , 'descr' : '|u1' , 'fortran_order' : False } ",
                "|u1",
                false,
                vec![],
            ),
            (
                "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 18446744073709551615L)}",
                "<f8",
                false,
                vec![3, u64::MAX],
            ),
        ] {
            let header = NpyHeader {
                descriptor: descriptor.to_owned(),
                is_fortran,
                shape,
            };
            let mut bytes = file(text);
            bytes.push(b'x');
            assert_eq!(NpyHeader::read(&bytes).unwrap(), (header, &b"x"[..]));
        }
        let mut second = b"\x93NUMPY\x02\x00".to_vec();
        let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}";
        second.extend((text.len() as u32).to_le_bytes());
        second.extend(text);
        assert_eq!(NpyHeader::read(&second).unwrap().0.shape, [1, 1]);
        for cut in 0..second.len() {
            fault(&second[..cut]);
        }
    }

    #[test]
    fn faults_name_the_byte() {
        for (text, message) in [
            ("", "nothing at byte 0 of the NumPy header"),
            (
                "{'descr': [('a', '<f4')]}",
                "\"[('a', '<f4')]}\" at byte 10 of the NumPy header",
            ),
            (
                "{'a\u{1b}[1m': 1}",
                "key \"a\\u{1b}[1m\" in the NumPy header",
            ),
            (
                "{'descr': 'x', 'descr': 'y'}",
                "key \"descr\" twice in the NumPy header",
            ),
            ("{'descr': '<f4'}", "a NumPy header that lacks a key"),
            (
                "{'shape': (-1,)}",
                "\"-1,)}\" at byte 11 of the NumPy header",
            ),
            (
                "{'shape': (18446744073709551616,)}",
                "\"18446744073709551616,)}\" at byte 11 of the NumPy header",
            ),
            (
                "{'fortran_order': 0}",
                "\"0}\" at byte 18 of the NumPy header",
            ),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)} x",
                "\"x\" at byte 58 of the NumPy header",
            ),
        ] {
            assert_eq!(fault(&file(text)).found(), message, "{text}");
        }
        assert_eq!(fault(b"PK\x03\x04").found(), "no NumPy header");
        assert_eq!(
            fault(b"\x93NUMPY\x09\x00").found(),
            "version 9 of the NumPy format"
        );
        let long = b"\x93NUMPY\x02\x00\xff\xff\xff\xff{";
        assert_eq!(fault(long).found(), "a NumPy header of 4294967295 bytes");
    }

    #[test]
    fn nested_brackets_and_long_headers_end_at_once() {
        for key in ["descr", "shape", "fortran_order"] {
            for bracket in ["(", "[", "{", "'", "((", "1,", "9"] {
                let text = format!("{{'{key}': {}", bracket.repeat(20_000));
                fault(&file(&text));
                let text = format!("{{'{key}': ({}", bracket.repeat(20_000));
                fault(&file(&text));
            }
        }
    }
}
