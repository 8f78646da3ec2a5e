//! Files of options, as `--config` reads them.

use std::path::Path;

use anyhow::Result;

use super::program::{call, text};
use super::reader::{Format, Told};
use crate::parts::{Part, Valid};

const TRAIN: &str = "epochs = 3\nlearning-rate = 1e-3\ntemperature = 0.5\nnegatives = 31\nbatch-size = 64\nseed = 7\n\
                     encoder = \"gcn\"\nlayers = 2\nwidth = 8\nhold-out = 0.1\n";
const RUN: &str = "method = [\"warm\", \"icl\"]\nseeds = 2\nsplit = \"size\"\nalpha = 0.3\nepochs = 2\nmin-gain = 0.005\n\
                   stop = \"doubling\"\nprotocol = \"few-labels\"\n";
const UPDATE: &str =
    "method = \"icl\"\nepochs = 2\nold = \"a\"\nnew = \"b\"\nevaluation-samples = 64\n";

/// Returns the format.
pub fn format() -> Result<Format> {
    let valid = |command: &str, options: &str| {
        Valid::plain(vec![Part::new(&format!("{command}.toml"), options)])
    };
    Ok(Format {
        name: "toml",
        valid: vec![
            valid("train", TRAIN),
            valid("run", RUN),
            valid("update", UPDATE),
        ],
        words: &[
            "\"",
            "'",
            "\"\"\"",
            "[",
            "]",
            "{",
            "}",
            "=",
            "\n",
            "#",
            ".",
            "inf",
            "nan",
            "-",
            "1979-05-27",
            "true",
            "[[a]]",
            "resume = \"x\"\n",
            "config = \"x\"\n",
            "help = true\n",
            "\\u001b",
            "epochs = ",
            "0x",
            "1_0",
            "projection = ",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

/// Reads the options and nothing else: the command stops at data that are not there.
fn read(folder: &Path) -> Result<(), Told> {
    let commands = ["train", "run", "update"];
    let paths = commands.map(|command| (command, folder.join(format!("{command}.toml"))));
    let Some((command, path)) = paths.iter().find(|(_, path)| path.exists()) else {
        return Ok(());
    };
    let none = folder.join("none");
    let none = text(&none);
    let out = folder.join("out");
    let data = match *command {
        "update" => vec!["--old", none, "--new", none, "--from", none],
        _ => vec!["--data", none],
    };
    let words = [
        vec![*command, "--config", text(path), "--out", text(&out)],
        data,
    ]
    .concat();
    match call(words) {
        Err(told) if told.message.contains(none) => Ok(()),
        result => result,
    }
}
