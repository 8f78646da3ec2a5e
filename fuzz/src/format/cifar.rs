//! Images in the binary format of CIFAR.

use anyhow::Result;

use super::idx;
use super::reader::Format;
use crate::parts::{Part, Valid, gzip};

/// Number of bytes of an image.
const N_PIXELS: usize = 3 * 32 * 32;

/// Returns the format.
pub fn format() -> Result<Format> {
    let rows = |n_labels: usize| {
        let row = |label: u8| [vec![label; n_labels], vec![label * 20; N_PIXELS]].concat();
        [row(1), row(3), row(1)].concat()
    };
    let cifar100 = vec![Part::new("train.bin", rows(2))];
    let batches = (1..=5).map(|batch| Part::new(&format!("data_batch_{batch}.bin"), rows(1)));
    Ok(Format {
        name: "cifar",
        valid: vec![
            Valid::plain(cifar100.clone()),
            Valid::plain(batches.collect()),
            Valid {
                parts: cifar100,
                pack: gzip,
            },
            Valid::plain(vec![Part::new("all.bin", rows(1))]),
        ],
        words: &["\0", "\u{1}", "\x1f\u{8b}"],
        memory: 0,
        read: Box::new(idx::read),
    })
}
