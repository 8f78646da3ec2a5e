//! Records and maps of `icl run`, as `icl report` reads them.

use std::path::Path;

use anyhow::Result;

use super::program::{call, prepare, text, write_data};
use super::reader::Format;
use crate::parts::{Part, Valid};

/// Returns the format.
pub fn format() -> Result<Format> {
    let (at, graphs, _) = write_data()?;
    let out = at.path().join("out");
    let (data, results) = (text(&graphs), text(&out));
    let options = "--epochs 2 --batch-size 4 --negatives 2 --layers 1 --width 3 --hold-out 0";
    prepare(&format!(
        "run --data {data} --split random --alpha 0.4 --method warm,icl --seeds 2 {options} --out {results}"
    ))?;
    let part = |name: &str| Ok::<_, anyhow::Error>(Part::new(name, std::fs::read(out.join(name))?));
    let record = part("record.jsonl")?;
    let mut valid = vec![Valid::plain(vec![record.clone()])];
    if out.join("map.json").exists() {
        valid.push(Valid::plain(vec![record, part("map.json")?]));
    }
    let read = |folder: &Path| call(["report", text(folder)]);
    Ok(Format {
        name: "record",
        valid,
        words: &[
            "\"",
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "null",
            "1e308",
            "-1e308",
            "5e-324",
            "true",
            "<script>",
            "\\u001b",
            "\\ud800",
            "\"schema\":2",
        ],
        memory: 0,
        read: Box::new(read),
    })
}
