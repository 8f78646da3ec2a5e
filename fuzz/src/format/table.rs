//! Tables as text.

use std::path::Path;

use anyhow::Result;
use icl::data::{Missing, TableOptions, read_table};

use super::reader::{Format, Told};
use crate::parts::{Part, Valid, gzip};

const TEXT: &str = "a,b,kind,class\n1,0.5,\"x, y\",0\n2,1e3,z,1\n,-3,z,0\n4,?,\"q \"\"r\"\"\",1\n";

/// Returns the format.
pub fn format() -> Result<Format> {
    let comma = vec![Part::new("table.csv", TEXT)];
    let tab = vec![Part::new("table.tsv", TEXT.replace(',', "\t"))];
    Ok(Format {
        name: "table",
        valid: vec![
            Valid::plain(comma.clone()),
            Valid::plain(tab),
            Valid {
                parts: comma,
                pack: gzip,
            },
        ],
        words: &[
            "\"", ",", "\n", "\r\n", "\t", "nan", "1e999", "\u{feff}", ";", "\0",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

fn read(folder: &Path) -> Result<(), Told> {
    let names = ["table.csv", "table.tsv", "table.csv.gz"];
    let paths = names.map(|name| folder.join(name));
    let path = paths.iter().find(|path| path.exists()).unwrap_or(&paths[0]);
    let options = TableOptions {
        target: Some("class".to_owned()),
        missing: Missing::Mean,
        ..TableOptions::default()
    };
    read_table(path, &options).map_err(Told::of)?;
    Ok(())
}
