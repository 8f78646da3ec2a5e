//! Changes of bytes: those of a damaged file, and those of one that was made to do damage.

use arbitrary::Arbitrary;

/// Size that an edit does not grow bytes beyond.
const MAX_BYTES: usize = 256 << 10;

/// Numbers at which programs err.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 53,
    i64::MAX as u64,
    u64::MAX,
];

/// The same as text.
const DECIMALS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "2",
    "",
    "0.5",
    "255",
    "256",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "-1e400",
    "5e-324",
    "nan",
];

/// One change of bytes.
///
/// A place is a share of the length: 0 is the beginning and 2¹⁶ would be the end.
#[derive(Debug, Clone, PartialEq, Eq, Arbitrary)]
pub enum Edit {
    /// Flips a bit.
    Flip {
        /// Place of the byte.
        at: u16,
        /// Number of the bit, modulo 8.
        bit: u8,
    },
    /// Sets a byte.
    Set {
        /// Place of the byte.
        at: u16,
        /// Its new value.
        byte: u8,
    },
    /// Overwrites bytes by an extreme number.
    Number {
        /// Place of the first byte.
        at: u16,
        /// Number of the extreme.
        which: u8,
        /// Logarithm of the number of bytes, modulo 4.
        width: u8,
        /// Whether the highest byte comes first.
        is_big_endian: bool,
    },
    /// Replaces the first run of digits behind a place by another number.
    Decimal {
        /// Place.
        at: u16,
        /// Number of the replacement.
        which: u8,
    },
    /// Inserts a word of the format.
    Word {
        /// Place.
        at: u16,
        /// Number of the word.
        which: u8,
    },
    /// Inserts bytes.
    Insert {
        /// Place.
        at: u16,
        /// The bytes.
        bytes: [u8; 3],
    },
    /// Removes bytes.
    Remove {
        /// Place of the first.
        at: u16,
        /// Number of bytes.
        length: u8,
    },
    /// Removes all bytes behind a place.
    Cut {
        /// Place.
        at: u16,
    },
    /// Repeats bytes, up to 256 KiB.
    Repeat {
        /// Place of the first.
        at: u16,
        /// Number of bytes.
        length: u8,
        /// Number of repetitions.
        times: u16,
    },
    /// Copies bytes to another place.
    Copy {
        /// Place of the first.
        from: u16,
        /// Place before which they are inserted.
        to: u16,
        /// Number of bytes.
        length: u8,
    },
    /// Removes a line.
    RemoveLine {
        /// Place in the line.
        at: u16,
    },
    /// Repeats a line, up to 256 KiB.
    RepeatLine {
        /// Place in the line.
        at: u16,
        /// Number of repetitions.
        times: u16,
    },
}

impl Edit {
    /// Changes bytes. `words` are those of the format.
    pub fn apply(&self, bytes: &mut Vec<u8>, words: &[&str]) {
        let n = bytes.len();
        let place = |at: u16| (usize::from(at) * n) >> 16;
        match *self {
            Self::Flip { at, bit } => {
                if let Some(byte) = bytes.get_mut(place(at)) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            Self::Set { at, byte } => {
                if let Some(old) = bytes.get_mut(place(at)) {
                    *old = byte;
                }
            }
            Self::Number {
                at,
                which,
                width,
                is_big_endian,
            } => {
                let mut number = pick(&NUMBERS, which).to_le_bytes();
                let number = &mut number[..1 << (width % 4)];
                if is_big_endian {
                    number.reverse();
                }
                let rest = &mut bytes[place(at)..];
                let length = number.len().min(rest.len());
                rest[..length].copy_from_slice(&number[..length]);
            }
            Self::Decimal { at, which } => {
                let is_digit = |byte: &u8| byte.is_ascii_digit();
                let from = place(at);
                if let Some(begin) = bytes[from..].iter().position(is_digit) {
                    let begin = from + begin;
                    let rest = bytes[begin..].iter();
                    let end = begin + rest.take_while(|byte| is_digit(byte)).count();
                    bytes.splice(begin..end, pick(&DECIMALS, which).bytes());
                }
            }
            Self::Word { at, which } => {
                let at = place(at);
                if !words.is_empty() {
                    bytes.splice(at..at, pick(words, which).bytes());
                }
            }
            Self::Insert { at, bytes: new } => {
                let at = place(at);
                bytes.splice(at..at, new);
            }
            Self::Remove { at, length } => {
                bytes.drain(range(place(at), length, n));
            }
            Self::Cut { at } => bytes.truncate(place(at)),
            Self::Repeat { at, length, times } => {
                repeat(bytes, range(place(at), length, n), times);
            }
            Self::Copy { from, to, length } => {
                let copied = bytes[range(place(from), length, n)].to_vec();
                let to = place(to);
                bytes.splice(to..to, copied);
            }
            Self::RemoveLine { at } => {
                bytes.drain(line(bytes, place(at)));
            }
            Self::RepeatLine { at, times } => {
                let line = line(bytes, place(at));
                repeat(bytes, line, times);
            }
        }
    }
}

fn pick<T: Copy>(all: &[T], which: u8) -> T {
    all[usize::from(which) % all.len()]
}

fn range(begin: usize, length: u8, n: usize) -> std::ops::Range<usize> {
    begin..(begin + usize::from(length)).min(n)
}

/// Returns the range of the line at a place, with its end.
fn line(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let before = bytes[..at].iter().rposition(|&byte| byte == b'\n');
    let behind = bytes[at..].iter().position(|&byte| byte == b'\n');
    before.map_or(0, |end| end + 1)..behind.map_or(bytes.len(), |end| at + end + 1)
}

/// Repeats a range behind itself as long as the bytes stay within the limit.
fn repeat(bytes: &mut Vec<u8>, range: std::ops::Range<usize>, times: u16) {
    let left = MAX_BYTES.saturating_sub(bytes.len());
    if !range.is_empty() {
        let times = usize::from(times).min(left / range.len());
        let repeated = bytes[range.clone()].repeat(times);
        bytes.splice(range.end..range.end, repeated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(edit: &Edit) -> String {
        let mut bytes = b"ab 12\ncd".to_vec();
        edit.apply(&mut bytes, &["<w>"]);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn edits_change_what_they_say() {
        let half = 1 << 15;
        for (edit, expected) in [
            (Edit::Flip { at: 0, bit: 8 }, "`b 12\ncd"),
            (
                Edit::Set {
                    at: half,
                    byte: b'x',
                },
                "ab 1x\ncd",
            ),
            (Edit::Decimal { at: 0, which: 1 }, "ab -1\ncd"),
            (Edit::Word { at: half, which: 9 }, "ab 1<w>2\ncd"),
            (
                Edit::Insert {
                    at: 0,
                    bytes: *b"xyz",
                },
                "xyzab 12\ncd",
            ),
            (
                Edit::Remove {
                    at: half,
                    length: 2,
                },
                "ab 1cd",
            ),
            (
                Edit::Remove {
                    at: half,
                    length: 200,
                },
                "ab 1",
            ),
            (Edit::Cut { at: half }, "ab 1"),
            (
                Edit::Repeat {
                    at: 0,
                    length: 1,
                    times: 3,
                },
                "aaaab 12\ncd",
            ),
            (
                Edit::Copy {
                    from: 0,
                    to: half,
                    length: 2,
                },
                "ab 1ab2\ncd",
            ),
            (Edit::RemoveLine { at: 0 }, "cd"),
            (Edit::RepeatLine { at: half, times: 1 }, "ab 12\nab 12\ncd"),
        ] {
            assert_eq!(edited(&edit), expected, "{edit:?}");
        }
        let number = |is_big_endian| Edit::Number {
            at: 0,
            which: 8,
            width: 2,
            is_big_endian,
        };
        assert_eq!(edited(&number(false)), "\0\0\u{1}\u{0}2\ncd");
        assert_eq!(edited(&number(true)), "\0\u{1}\0\u{0}2\ncd");
    }

    #[test]
    fn growth_has_a_limit() {
        let mut bytes = vec![b'a'; 1000];
        let edit = Edit::Repeat {
            at: 0,
            length: 255,
            times: u16::MAX,
        };
        edit.apply(&mut bytes, &[]);
        assert!((MAX_BYTES - 255..=MAX_BYTES).contains(&bytes.len()));
        edit.apply(&mut bytes, &[]);
        assert!(bytes.len() <= MAX_BYTES);
    }

    /// No edit panics on any bytes.
    #[test]
    fn empty_bytes_can_be_edited() {
        use arbitrary::Unstructured;
        for n in 0..3_u8 {
            for kind in 0..=255_u8 {
                let choice: Vec<u8> = (0..16)
                    .map(|i: u8| kind.wrapping_mul(31).wrapping_add(i.wrapping_mul(67)))
                    .collect();
                let edit = Edit::arbitrary(&mut Unstructured::new(&choice)).unwrap();
                edit.apply(&mut vec![b'1'; usize::from(n)], &["w"]);
            }
        }
    }
}
