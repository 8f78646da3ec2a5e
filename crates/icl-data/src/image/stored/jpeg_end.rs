//! Detection of cut JPEG files.

/// First byte of every marker. In the data of a picture it is followed by a 0.
const MARKER: u8 = 0xff;
/// Second byte of the marker at the end of the image.
const END: u8 = 0xd9;

/// Returns `true` if a JPEG file has its end marker.
///
/// The decoder silently fills the missing part of a cut file with grey. The search goes from segment
/// to segment (ITU-T T.81, annex B), because a preview inside the file has its own end marker.
pub(super) fn has_end(bytes: &[u8]) -> bool {
    // The first marker, the start of the image, has no segment.
    let mut at = 2;
    loop {
        let Some(found) = next_marker(bytes, at) else {
            return false;
        };
        match bytes[found + 1] {
            END => return true,
            // Restart markers and the temporary marker have no segment either.
            0x01 | 0xd0..=0xd8 => at = found + 2,
            _ => {
                let Some(&[high, low]) = bytes.get(found + 2..found + 4) else {
                    return false;
                };
                let length = usize::from(u16::from_be_bytes([high, low]));
                at = found + 2 + length.max(2);
            }
        }
    }
}

/// Returns the position of the next marker at or after `at`, in the data of a picture or between
/// segments.
fn next_marker(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let is_marker = |pair: &[u8]| pair[0] == MARKER && !matches!(pair[1], 0 | MARKER);
    Some(at + rest.windows(2).position(is_marker)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_that_of_the_file() {
        let start = [0xff, 0xd8];
        // A preview with an end marker in an application segment of 6 bytes.
        let preview = [0xff, 0xe1, 0, 6, 0xff, 0xd8, 0xff, 0xd9];
        let scan = [0xff, 0xda, 0, 3, 1, 9, 0xff, 0, 0xff, 0xd1, 7];
        let end = [0xff, 0xff, 0xd9];
        let whole = [&start[..], &preview, &scan, &end, &[1, 2]].concat();
        assert!(has_end(&whole));
        // Two bytes of the end follow the file.
        for n_bytes in 0..whole.len() - 2 {
            assert!(!has_end(&whole[..n_bytes]), "{n_bytes}");
        }
    }
}
