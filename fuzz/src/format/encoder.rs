//! Encoders that the program wrote, as `icl embed` reads them.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::program::{call, prepare, text, write_data, write_pairs};
use super::reader::{Format, Told};
use crate::parts::{Part, Valid};

/// Returns the format.
pub fn format() -> Result<Format> {
    let (at, graphs, table) = write_data()?;
    let [interactions, texts] = write_pairs(at.path())?;
    let out = at.path().join("out");
    let mut valid = Vec::new();
    for (data, encoder) in [
        (&graphs, "gcn --layers 1 --width 3"),
        (&graphs, "gin --layers 1 --width 3"),
        (&graphs, "gcn --layers 1 --width 2 --noise hidden"),
        (&table, "mlp --layers 1 --width 3"),
        (&interactions, "two-tower --width 3"),
        (&texts, "word-tower --width 3 --texts title,body"),
    ] {
        let (data, out) = (text(data), text(&out));
        // Steps of Muon make the embeddings of two dimensions all the same.
        let options =
            "--optimizer adam --epochs 1 --batch-size 4 --negatives 2 --hold-out 0 --force";
        prepare(&format!(
            "train --data {data} --encoder {encoder} {options} --out {out}"
        ))?;
        let bytes = std::fs::read(Path::new(out).join("encoder.safetensors"))?;
        let (length, rest) = bytes
            .split_first_chunk()
            .context("a file without a length")?;
        let (header, values) = rest.split_at(u64::from_le_bytes(*length) as usize);
        valid.push(Valid {
            parts: vec![Part::new("header", header), Part::new("values", values)],
            pack,
        });
    }
    let read = move |folder: &Path| -> Result<(), Told> {
        let path = folder.join("encoder.safetensors");
        let bytes = std::fs::read(&path).unwrap_or_default();
        let is_of = |kind: &str| {
            let name = format!("\"{kind}\"");
            let mut windows = bytes.windows(name.len());
            windows.any(|window| window == name.as_bytes())
        };
        let kinds = [
            ("mlp", &table),
            ("two-tower", &interactions),
            ("word-tower", &texts),
        ];
        let known = kinds.iter().find(|(kind, _)| is_of(kind));
        let data = known.map_or(&graphs, |(_, data)| data);
        let out = at.path().join("embeddings.npy");
        let [from, data_path, out] = [&path, data, &out].map(|path| text(path));
        let mut arguments = vec!["embed", "--from", from, "--data", data_path, "--out", out];
        arguments.push("--force");
        if data == &texts {
            arguments.extend(["--texts", "title,body"]);
        }
        call(arguments)
    };
    Ok(Format {
        name: "encoder",
        valid,
        words: &[
            "\"",
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\\u0000",
            "\\u001b[31m",
            "F16",
            "I64",
            "null",
            "1e308",
            "\"shape\":[0]",
            "-",
            "4294967296",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

fn pack(parts: &[Part]) -> Result<Vec<Part>> {
    let [header, values] = parts else {
        bail!("found {} parts, expected 2", parts.len());
    };
    let length = (header.bytes.len() as u64).to_le_bytes();
    let bytes = [&length, &header.bytes[..], &values.bytes].concat();
    Ok(vec![Part::new("encoder.safetensors", bytes)])
}
