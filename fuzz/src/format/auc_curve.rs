//! AUCs of a training, as `icl negatives` reads them.

use std::path::Path;

use anyhow::Result;

use super::program::{call, text};
use super::reader::{Format, Told};
use crate::parts::{Part, Valid};

const RECORD: &str = "{\"method\":\"icl\",\"seed\":0,\"evaluations\":[{\"risk\":{\"auc_all\":0.75}},\
                      {\"risk\":{\"auc_all\":0.9}}]}\n";

/// Returns the format.
pub fn format() -> Result<Format> {
    let list = |text: &str| Valid::plain(vec![Part::new("curve.txt", text)]);
    Ok(Format {
        name: "curve",
        valid: vec![
            list("0.6\n0.75\n0.9\n"),
            list("auc\r\n0.6\r\n\r\n0.9\r\n"),
            list(RECORD),
        ],
        words: &[
            "auc",
            "\n",
            "\u{feff}",
            "nan",
            "1",
            "0",
            "1e-320",
            "0.99999999999999999",
            "{",
            "}",
            "[",
            "]",
            "\"",
            ",",
            ":",
            "null",
            "1e999",
            "\"method\":\"warm\"",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

fn read(folder: &Path) -> Result<(), Told> {
    let path = folder.join("curve.txt");
    // Few negatives: each AUC of a curve is integrated for each of them.
    let arguments = ["negatives", "--train-auc", "0.9", "--k-max", "2"];
    call(arguments.into_iter().chain(["--curve", text(&path)]))
}
