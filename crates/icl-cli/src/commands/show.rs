//! `icl show`: where an encoder comes from, and what is in its file.

use std::path::PathBuf;

use clap::Args;
use icl_core::one_line;
use icl_models::{DataOrigin, Origin, StoredEncoder};
use serde_json::{Map, Value, json};

use crate::domain::encoder_file::CLASSES;
use crate::files::encoder_work::ENCODER;
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// Keys of metadata that have lines of their own.
const OWN: [&str; 5] = ["encoder", "data", "digest", "origin", "parents"];

/// Largest number of characters of a value in the text.
const WIDEST: usize = 160;

/// Options of `icl show`.
#[derive(Debug, Clone, Args)]
pub struct ShowOptions {
    /// File of an encoder, as written by icl, or the folder with an encoder.safetensors
    #[arg(value_name = "ENCODER")]
    encoder: PathBuf,
    /// Print JSON, with every value in full
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Prints what the file of an encoder holds: its digest, its settings, its training and the encoders before it.
///
/// # Errors
/// If the file cannot be read, or is none of an encoder.
pub fn show(options: &ShowOptions) -> Result<(), Failure> {
    let path = match options.encoder.is_dir() {
        true => options.encoder.join(ENCODER),
        false => options.encoder.clone(),
    };
    let file = StoredEncoder::open(&path).map_err(Failure::input)?;
    let kind = file.kind().map_err(Failure::input)?;
    let data = file.data().map_err(Failure::input)?;
    let origin = file.origin().map_err(Failure::input)?;
    let parents = file.parents().map_err(Failure::input)?;
    let metadata = file.metadata().into_iter();
    let metadata = metadata.filter(|(key, _)| !OWN.contains(key));
    if options.json {
        let metadata = metadata.map(|(key, text)| {
            let value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
            (key.to_owned(), value)
        });
        return print(format_args!(
            "{:#}",
            json!({
                "file": path.display().to_string(),
                "digest": file.digest(),
                "encoder": kind,
                "n_values": file.n_values(),
                "data": data,
                "metadata": metadata.collect::<Map<String, Value>>(),
                "origin": origin,
                "parents": parents,
            })
        ));
    }
    let mut lines = vec![
        path.display().to_string(),
        line("digest", file.digest()),
        line("encoder", &format!("{kind}, {} values", file.n_values())),
        line("data", data),
    ];
    lines.extend(metadata.map(|(key, text)| line(key, &value_of(key, text))));
    match &origin {
        None => lines.push(line(
            "trained",
            "its file does not say when, how or on what",
        )),
        Some(origin) => lines.extend(lines_of(origin)),
    }
    for (number, parent) in parents.iter().enumerate().rev() {
        lines.push(String::new());
        lines.push(line(&format!("parent {}", number + 1), &parent.digest));
        lines.extend(parent.origin.iter().flat_map(lines_of));
    }
    print(lines.join("\n"))
}

/// Returns a line of a name and a value.
fn line(name: &str, value: &str) -> String {
    format!("{name:<18} {value}")
}

/// Returns a value of the metadata as text: names of classes as such, the beginning of a long value.
fn value_of(key: &str, text: &str) -> String {
    let classes = (key == CLASSES).then(|| serde_json::from_str::<Vec<String>>(text).ok());
    let line = one_line(
        &classes
            .flatten()
            .map_or(text.to_owned(), |it| it.join(", ")),
    );
    match line.char_indices().nth(WIDEST) {
        None => line,
        Some((end, _)) => format!(
            "{}… ({} characters; --json prints them)",
            &line[..end],
            line.chars().count()
        ),
    }
}

/// Returns the lines of a training.
fn lines_of(origin: &Origin) -> Vec<String> {
    let trained = format!(
        "{} by {} with Burn {}, seed {}, {:.0} passes",
        origin.date, origin.version, origin.burn, origin.seed, origin.passes
    );
    let data = origin.data.iter().map(|data| {
        let DataOrigin {
            part,
            name,
            n_samples,
            digest,
            stands_for,
            ..
        } = data;
        let stands = stands_for.map_or_else(String::new, |n| format!(" that stand for {n}"));
        line(
            &format!("  {part}"),
            &format!("{name}: {n_samples} samples{stands}, digest {digest}"),
        )
    });
    let mut lines = vec![line("trained", &trained), line("command", &origin.command)];
    lines.extend(data);
    lines
}
