//! Pairs of texts.

use std::path::Path;

use anyhow::Result;
use icl::data::{TextPairDataset, TextPairOptions, Vocabulary, read_text_pairs};

use super::reader::{Format, Told};
use crate::parts::{Part, Valid, gzip};

/// Names of the files, of which an input has one.
const NAMES: [&str; 3] = ["texts.csv", "texts.tsv", "texts.csv.gz"];

const TEXT: &str = "title,class,body\nRain in May,1,\"Rain, rain!\"\nMay,2,\"Sun \"\"in\"\" June\"\nÉté,1,Rain in May\n";

/// Returns the format.
pub fn format() -> Result<Format> {
    let comma = vec![Part::new(NAMES[0], TEXT)];
    let tab = TEXT.replace("\"Rain, rain!\"", "Rain").replace(',', "\t");
    Ok(Format {
        name: "texts",
        valid: vec![
            Valid::plain(comma.clone()),
            Valid::plain(vec![Part::new(NAMES[1], tab)]),
            Valid {
                parts: comma,
                pack: gzip,
            },
        ],
        words: &[
            "\"", ",", "\n", "\r\n", "\t", ";", "title", "body", "\u{feff}", "\u{130}", "\0",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

/// Reads a file, and makes the samples of what has been read.
fn read(folder: &Path) -> Result<(), Told> {
    let paths = NAMES.map(|name| folder.join(name));
    let path = paths.iter().find(|path| path.exists()).unwrap_or(&paths[0]);
    let options = TextPairOptions::new("title", "body");
    let pairs = read_text_pairs(path, &options).map_err(Told::of)?;
    let vocabulary = Vocabulary::new(pairs.pairs(), 1);
    TextPairDataset::new(&pairs, &vocabulary);
    Ok(())
}
