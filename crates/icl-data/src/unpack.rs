//! Reading a whole file without trusting what it says about its size.

use std::io::{self, Read};

use crate::error::DataError;
use crate::place::FileRef;

/// The greatest file that is read, in bytes, after unpacking: 2 GiB.
///
/// A few kilobytes of a malicious archive can unpack to any size.
pub(crate) const MAX_BYTES: u64 = 2 << 30;

/// The greatest buffer that is allocated because a file says that it is so large.
const MAX_TRUSTED_BYTES: u64 = 64 << 20;

/// All bytes of `reader`, whose size is said to be `size`.
///
/// # Errors
/// [`DataError::TooLarge`] if there are more than [`MAX_BYTES`]; what `wrap` makes of an error of
/// the reader.
pub(crate) fn read_at_most(
    reader: impl Read,
    size: u64,
    file: &FileRef,
    wrap: impl FnOnce(io::Error) -> DataError,
) -> Result<Vec<u8>, DataError> {
    read_limited(reader, size, MAX_BYTES, file, wrap)
}

fn read_limited(
    reader: impl Read,
    size: u64,
    limit: u64,
    file: &FileRef,
    wrap: impl FnOnce(io::Error) -> DataError,
) -> Result<Vec<u8>, DataError> {
    let too_large = || DataError::TooLarge {
        file: file.clone(),
        limit,
    };
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(size.min(MAX_TRUSTED_BYTES) as usize);
    match reader.take(limit + 1).read_to_end(&mut bytes) {
        Err(error) => Err(wrap(error)),
        Ok(read) if read as u64 > limit => Err(too_large()),
        Ok(_) => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn neither_what_a_file_says_nor_what_it_holds_may_exceed_the_limit() {
        let file = FileRef::on_disk(Path::new("bomb"));
        let read = |held: u64, said| {
            let reader = io::repeat(b'0').take(held);
            read_limited(reader, said, 10, &file, |_| unreachable!())
        };
        assert_eq!(read(10, 10).unwrap().len(), 10);
        assert_eq!(read(3, 10).unwrap().len(), 3);
        for (held, said) in [(11, 11), (11, 3), (3, 11), (u64::MAX, 0)] {
            assert_eq!(
                read(held, said).unwrap_err().to_string(),
                "bomb: found more than 10 bytes, expected at most that many"
            );
        }
    }
}
