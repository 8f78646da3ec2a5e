//! Manifests of streams.

use std::path::Path;

use anyhow::Result;

use super::program::{call, text};
use super::reader::{Format, Told};
use crate::parts::{Part, Valid};

const NAME: &str = "stream.toml";
const PLAIN: &str = "schema = 1\n\n[[experience]]\nname = \"2026-01\"\ndata = \"january\"\n\n[[experience]]\nname = \"2026-02\"\n\
                     data = \"february\"\nheld_out = \"more\"\n";
const DATED: &str = "schema = 1\nexperience = [{ name = \"a\", data = \"b\", arrived = 2026-01-31 }, \
                     { name = \"c\", data = \"d\", arrived = \"2026-02-28T18:00:00+01:00\" }]\n";
const EMBEDDED: &str =
    "schema = 1\n[[experience]]\nname = \"a\"\ndata = \"a.npy\"\npositives = \"p.npy\"\n";

/// Returns the format.
pub fn format() -> Result<Format> {
    let valid = |manifest: &str| Valid::plain(vec![Part::new(NAME, manifest)]);
    Ok(Format {
        name: "manifest",
        valid: vec![valid(PLAIN), valid(DATED), valid(EMBEDDED)],
        words: &[
            "\"",
            "'''",
            "[",
            "]]",
            "{",
            "}",
            "=",
            "\n",
            "#",
            ".",
            "/",
            "..",
            "schema = ",
            "1979-05-27",
            "07:32:00",
            "[[experience]]\n",
            "arrived = ",
            "held_out = ",
            "positives = \"",
            "\\u0000",
            "\\u001b",
            "data = \"/dev/zero\"\n",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

/// Reads the manifest and nothing else: the data are not there.
fn read(folder: &Path) -> Result<(), Told> {
    let path = folder.join(NAME);
    if !path.exists() {
        return Ok(());
    }
    match call([&["stream", "--dry-run", "--stream"][..], &[text(&path)]].concat()) {
        Err(told) if told.message.contains("found no ") => Ok(()),
        result => result,
    }
}
