//! Lengths of texts in delta encoding. The decoder of the format allocates as many as the encoding states.

use parquet::errors::ParquetError;

use super::thrift::damaged;

/// Checks the list of lengths at the beginning of `bytes`: not more than `limit`, and all there. Returns the bytes
/// behind it.
pub(super) fn behind_lengths(bytes: &[u8], limit: usize) -> Result<&[u8], ParquetError> {
    let cut = || damaged("lengths of texts that are cut");
    let mut rest = bytes;
    let varint = |rest: &mut &[u8]| {
        let mut value: u64 = 0;
        for shift in (0..64).step_by(7) {
            let (byte, behind) = rest.split_first().ok_or_else(cut)?;
            *rest = behind;
            value |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Ok(value);
            }
        }
        Err(cut())
    };
    let size_of_block = varint(&mut rest)?;
    let n_parts = varint(&mut rest)?;
    let n = varint(&mut rest)?;
    let _first = varint(&mut rest)?;
    if n > limit as u64 {
        return Err(damaged("more lengths of texts than texts"));
    }
    let size = size_of_block
        .checked_div(n_parts)
        .filter(|size| *size > 0 && size.is_multiple_of(32))
        .ok_or_else(|| damaged("lengths of texts in parts of a wrong size"))?;
    let mut left = n.saturating_sub(1);
    while left > 0 {
        let _smallest = varint(&mut rest)?;
        let n_parts = usize::try_from(n_parts).map_err(|_| cut())?;
        let (widths, behind) = rest.split_at_checked(n_parts).ok_or_else(cut)?;
        rest = behind;
        for width in widths {
            if left == 0 {
                break;
            }
            let n_bytes = (size / 8).checked_mul(u64::from(*width));
            let n_bytes = n_bytes.and_then(|n| usize::try_from(n).ok());
            rest = n_bytes.and_then(|n| rest.get(n..)).ok_or_else(cut)?;
            left = left.saturating_sub(size);
        }
    }
    Ok(rest)
}
