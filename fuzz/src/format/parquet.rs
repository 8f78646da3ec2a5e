//! Tables as Parquet files.

use std::path::Path;

use anyhow::Result;
use icl::data::{Missing, TableOptions, read_table};

use super::reader::{Format, Told};
use crate::parts::{Part, Valid};

/// Files of the tests of the reader, which PyArrow wrote: pages of each kind of compression.
const FILES: [&[u8]; 4] = [
    include_bytes!("../../../crates/icl-data/tests/reference/tables/none.parquet"),
    include_bytes!("../../../crates/icl-data/tests/reference/tables/gzip.parquet"),
    include_bytes!("../../../crates/icl-data/tests/reference/tables/snappy.parquet"),
    include_bytes!("../../../crates/icl-data/tests/reference/tables/zstd.parquet"),
];

/// Returns the format.
pub fn format() -> Result<Format> {
    let valid = |bytes: &&[u8]| Valid::plain(vec![Part::new("table.parquet", *bytes)]);
    Ok(Format {
        name: "parquet",
        valid: FILES.iter().map(valid).collect(),
        // Numbers of the compact protocol of Thrift, and the mark at both ends.
        words: &[
            "PAR1",
            "\u{15}\0",
            "\u{15}\u{2}",
            "\u{19}\u{1c}",
            "\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}",
            "\0\0\0\0",
            "\u{18}\u{7f}",
            "schema",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

fn read(folder: &Path) -> Result<(), Told> {
    let options = TableOptions {
        missing: Missing::Mean,
        ..TableOptions::default()
    };
    read_table(folder.join("table.parquet"), &options).map_err(Told::of)?;
    Ok(())
}
