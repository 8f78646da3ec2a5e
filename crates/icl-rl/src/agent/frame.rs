//! The format of a saved agent: a mark, a checksum and sections of bytes.
//!
//! Burn's recorders may panic on bytes that they did not write, so mark, lengths and checksum are
//! checked before a recorder reads a section. The checksum detects damage; it does not protect against
//! manipulation.

use crate::error::RlError;

/// First bytes of a saved agent. The last of them is the version of the format.
const MARK: [u8; 8] = *b"rl-ddpg\x01";
/// Number of bytes of a length or a checksum.
const WORD: usize = 8;

/// Joins sections to the bytes of a saved agent.
///
/// ```text
/// [mark][checksum of the rest][length][section][length][section] …        numbers little-endian
/// ```
pub(super) fn frame(sections: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for section in sections {
        body.extend((section.len() as u64).to_le_bytes());
        body.extend(section);
    }
    [&MARK[..], &checksum(&body).to_le_bytes(), &body].concat()
}

/// Returns the sections that [`frame`] joined.
///
/// # Errors
/// [`RlError::Invalid`] if the bytes do not begin with the mark, were changed, are missing or left over.
pub(super) fn sections<const N: usize>(bytes: &[u8]) -> Result<[Vec<u8>; N], RlError> {
    let Some(rest) = bytes.strip_prefix(&MARK) else {
        let found = &bytes[..bytes.len().min(MARK.len())];
        let found = format_args!("the first bytes {found:02x?}");
        return Err(RlError::of_saved(found, format_args!("{MARK:02x?}")));
    };
    let mut rest = rest;
    // Before any length is read, since a damaged one could be anything.
    let expected = word(&mut rest, bytes.len())?;
    let found = checksum(rest);
    if found != expected {
        let found = format_args!("the checksum {found:016x}");
        return Err(RlError::of_saved(found, format_args!("{expected:016x}")));
    }
    let mut sections = [const { Vec::new() }; N];
    for section in &mut sections {
        let length = word(&mut rest, bytes.len())?;
        let have = rest.len() as u64;
        let cut = usize::try_from(length)
            .ok()
            .and_then(|n| rest.split_at_checked(n));
        let Some((head, tail)) = cut else {
            let expected = (bytes.len() as u64 - have).saturating_add(length);
            return Err(of_length(bytes.len(), expected));
        };
        *section = head.to_vec();
        rest = tail;
    }
    if !rest.is_empty() {
        let expected = (bytes.len() - rest.len()) as u64;
        return Err(of_length(bytes.len(), expected));
    }
    Ok(sections)
}

/// Reads a number and advances `rest` beyond it. `n_bytes` is the total length, for the error.
fn word(rest: &mut &[u8], n_bytes: usize) -> Result<u64, RlError> {
    let Some((head, tail)) = rest.split_first_chunk::<WORD>() else {
        let expected = (n_bytes - rest.len() + WORD) as u64;
        return Err(of_length(n_bytes, expected));
    };
    *rest = tail;
    Ok(u64::from_le_bytes(*head))
}

/// Returns the error of `found` bytes where the lengths in them add up to `expected`.
fn of_length(found: usize, expected: u64) -> RlError {
    RlError::of_saved(format_args!("{found} bytes"), expected)
}

/// Returns the FNV-1a hash. Each step is a bijection of the hash, so every change of a single byte is
/// detected.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_back() {
        let parts = [vec![1, 2, 3], vec![], vec![9; 300]];
        assert_eq!(sections::<3>(&frame(&parts)).unwrap(), parts);
    }

    #[test]
    fn the_checksum_is_fnv_1a() {
        // Test vectors of the algorithm's authors (Fowler, Noll, Vo).
        assert_eq!(checksum(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(checksum(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(checksum(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_cut_and_every_changed_bit_is_an_error() {
        let whole = frame(&[vec![1, 2, 3], vec![4, 5]]);
        for length in 0..whole.len() {
            assert!(sections::<2>(&whole[..length]).is_err(), "{length}");
        }
        for index in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[index] ^= 1 << bit;
                assert!(sections::<2>(&changed).is_err(), "byte {index}");
            }
        }
    }

    #[test]
    fn a_frame_of_other_sections_is_an_error() {
        let two = frame(&[vec![1], vec![2]]);
        let fewer = sections::<1>(&two).unwrap_err().to_string();
        assert_eq!(fewer, "saved agent: found 34 bytes, expected 25");
        let more = sections::<3>(&two).unwrap_err().to_string();
        assert_eq!(more, "saved agent: found 34 bytes, expected 42");
    }
}
