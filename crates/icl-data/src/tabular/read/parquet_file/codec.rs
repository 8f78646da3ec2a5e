//! Codecs of the pages of Parquet files.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use ruzstd::decoding::FrameDecoder;

/// Largest window of a Zstandard frame in bytes: 8 MiB. Writers that do not know the length of a page choose one that
/// is larger than the page, up to this.
const MAX_WINDOW: u64 = 8 << 20;

/// Bytes that unpacking may take besides its input and its output.
pub(super) fn n_beside(codec: Compression, n_unpacked: u64) -> u64 {
    match codec {
        // Its window, of which only what was written is in memory, and two blocks.
        Compression::ZSTD(_) => n_unpacked + (1 << 20),
        _ => 0,
    }
}

/// Unpacks bytes to exactly `n` behind those that `out` has, whose capacity suffices.
///
/// # Errors
/// If the codec is not supported, or the bytes are damaged or unpack to another number.
pub(super) fn unpack(
    codec: Compression,
    packed: &[u8],
    n: usize,
    out: &mut Vec<u8>,
) -> Result<(), ParquetError> {
    let wrong = || ParquetError::General(format!("a page that does not unpack to {n} bytes"));
    let start = out.len();
    match codec {
        Compression::UNCOMPRESSED => out.extend_from_slice(packed),
        Compression::SNAPPY => {
            if snap::raw::decompress_len(packed).ok() != Some(n) {
                return Err(wrong());
            }
            out.resize(start + n, 0);
            let mut decoder = snap::raw::Decoder::new();
            decoder
                .decompress(packed, &mut out[start..])
                .map_err(|error| ParquetError::External(Box::new(error)))?;
        }
        Compression::GZIP(_) => {
            // One byte more, by which a longer one is noticed.
            let unpacked = MultiGzDecoder::new(packed).take(n as u64 + 1);
            { unpacked }.read_to_end(out)?;
        }
        Compression::ZSTD(_) => {
            out.resize(start + n, 0);
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(MAX_WINDOW.max(n as u64));
            let unpacked = decoder
                .decode_all(packed, &mut out[start..])
                .map_err(|error| ParquetError::External(Box::new(error)))?;
            out.truncate(start + unpacked);
        }
        other => {
            return Err(ParquetError::General(format!(
                "pages that {other} has packed"
            )));
        }
    }
    match out.len() - start == n {
        true => Ok(()),
        false => Err(wrong()),
    }
}
