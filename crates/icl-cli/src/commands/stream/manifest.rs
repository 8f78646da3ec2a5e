//! The manifest of a stream: a TOML file that names its experiences.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;

use anyhow::anyhow;
use icl_core::InputFile;
use icl_data::{Found, instant};
use serde::Deserialize;
use toml::value::Datetime;

use crate::files::apart::check_apart;
use crate::files::work_folder::MAX_OPTIONS_BYTES;
use crate::options::nesting::too_deep;
use crate::process::failure::Failure;

/// Version of the manifest.
const SCHEMA: i64 = 1;
/// Largest number of characters of a name.
const LONGEST_NAME: usize = 100;
/// Largest number of characters that name a data set.
const LONGEST_DATA: usize = 1000;

/// Experience of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Name.
    pub name: String,
    /// Data set: an embedded one, or a path.
    pub data: String,
    /// Data set on which it is measured.
    pub held_out: Option<String>,
    /// Embeddings of the positives of `data`, where those are embeddings.
    pub positives: Option<String>,
    /// Moment of its arrival.
    pub arrived: Option<String>,
}

impl Listed {
    /// Checks that the folder `out` is none of the data of the experience, holds none and lies in none.
    ///
    /// # Errors
    /// If it is, or does.
    pub fn check_apart(&self, out: Option<&Path>) -> Result<(), Failure> {
        let data = [
            Some(&self.data),
            self.held_out.as_ref(),
            self.positives.as_ref(),
        ];
        let data = data.into_iter().flatten();
        let inputs = data.map(|data| ("stream", Path::new(data)));
        out.map_or(Ok(()), |out| check_apart(out, inputs))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    schema: i64,
    #[serde(default)]
    experience: Vec<toml::Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    data: String,
    held_out: Option<String>,
    positives: Option<String>,
    arrived: Option<Moment>,
}

/// Moment, with quotes or without.
#[derive(Deserialize)]
#[serde(untagged)]
enum Moment {
    Plain(Datetime),
    Quoted(String),
}

/// Reads a manifest. Paths in it are relative to its folder.
///
/// # Errors
/// If the file cannot be read, is no such manifest, or an experience has no name of its own, no data, or a time that is
/// earlier than that of the one before.
pub fn read(path: &Path) -> Result<Vec<Listed>, Failure> {
    let text = InputFile::open(path, MAX_OPTIONS_BYTES).and_then(InputFile::text);
    let text = text.map_err(|error| {
        Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected the manifest of a stream",
            path.display()
        ))
    })?;
    parse(&text, path.parent().unwrap_or(Path::new("")))
        .map_err(|wrong| Failure::input(anyhow!("{}, {wrong}", path.display())))
}

fn parse(text: &str, folder: &Path) -> Result<Vec<Listed>, String> {
    let line = |byte: usize| {
        let before = text.get(..byte).unwrap_or(text);
        before.matches('\n').count() + 1
    };
    if let Some(byte) = too_deep(text) {
        return Err(format!(
            "line {}: found brackets that are nested too deep, expected the manifest of a stream",
            line(byte)
        ));
    }
    let manifest: Manifest = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(1, |span| line(span.start));
        format!("line {at}: {}", error.message().replace('\n', ", "))
    })?;
    if manifest.schema != SCHEMA {
        return Err(format!(
            "line 1: found schema {}, expected {SCHEMA}",
            manifest.schema
        ));
    }
    let mut names = HashSet::new();
    let mut last: Option<(i128, String)> = None;
    let mut listed = Vec::with_capacity(manifest.experience.len());
    for entry in manifest.experience {
        let at = line(entry.span().start);
        let entry = entry.into_inner();
        let wrong = |what: String| format!("line {at}: {what}");
        check_name(&entry.name).map_err(wrong)?;
        if !names.insert(entry.name.clone()) {
            return Err(wrong(format!(
                "name: found {} twice, expected each name once",
                Found::new(&entry.name)
            )));
        }
        let texts = [
            Some(&entry.data),
            entry.held_out.as_ref(),
            entry.positives.as_ref(),
        ];
        for text in texts.into_iter().flatten() {
            match text.chars().count() {
                0 => return Err(wrong("found an empty text, expected a data set".to_owned())),
                1..=LONGEST_DATA => {}
                n => {
                    return Err(wrong(format!(
                        "found a text of {n} characters, expected a data set of at most {LONGEST_DATA}"
                    )));
                }
            }
        }
        let arrived = entry.arrived.map(moment).transpose().map_err(wrong)?;
        if let (Some((last, text)), Some((arrived, found))) = (&last, &arrived)
            && arrived < last
        {
            return Err(wrong(format!(
                "arrived: found {found}, expected {text} or later, the time of an earlier experience"
            )));
        }
        last = arrived.clone().or(last);
        let path = |data: String| located(data, folder);
        listed.push(Listed {
            name: entry.name,
            data: path(entry.data),
            held_out: entry.held_out.map(path),
            positives: entry.positives.map(path),
            arrived: arrived.map(|(_, text)| text),
        });
    }
    match listed.is_empty() {
        false => Ok(listed),
        true => Err("line 1: found no [[experience]], expected at least one".to_owned()),
    }
}

/// Checks that a name can be that of a folder.
///
/// # Errors
/// In words, if it cannot.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |it: char| !it.is_control() && !matches!(it, '/' | '\\');
    let n = name.chars().count();
    match (1..=LONGEST_NAME).contains(&n) && name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(format!(
            "name: found {}, expected 1 to {LONGEST_NAME} characters that a folder can have",
            Found::new(name)
        )),
    }
}

/// Returns a moment in nanoseconds since 1970, by which moments are compared, since their offsets from UTC may differ, and its text
/// in RFC 3339.
fn moment(found: Moment) -> Result<(i128, String), String> {
    let moment = match &found {
        Moment::Plain(moment) => Some(*moment),
        Moment::Quoted(text) => Datetime::from_str(text).ok(),
    };
    let dated = moment.and_then(|it| {
        let text = it.to_string();
        Some((instant(&text)?, text))
    });
    dated.ok_or_else(|| {
        let text = match found {
            Moment::Plain(moment) => moment.to_string(),
            Moment::Quoted(text) => text,
        };
        format!(
            "arrived: found {}, expected a date or a time as 2026-01-31T12:00:00Z",
            Found::new(&text)
        )
    })
}

/// Returns the path of a data set, relative to the folder of the manifest if there is something; else its name.
fn located(data: String, folder: &Path) -> String {
    let next_to = folder.join(&data);
    match next_to.to_str().filter(|_| next_to.exists()) {
        Some(path) => path.to_owned(),
        None => data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Listed>, String> {
        parse(text, Path::new("/nowhere"))
    }

    #[test]
    fn experiences_come_in_their_order() {
        let text = "schema = 1\n\n[[experience]]\nname = \"old\"\ndata = \"MUTAG\"\narrived = 2026-01-01\n\
                    [[experience]]\nname = \"new\"\ndata = \"a/b\"\nheld_out = \"c\"\narrived = \"2026-02-01T10:00:00Z\"\n";
        let listed = parsed(text).unwrap();
        assert_eq!(listed.len(), 2);
        assert_eq!((&listed[0].name[..], &listed[0].data[..]), ("old", "MUTAG"));
        assert_eq!(listed[0].arrived.as_deref(), Some("2026-01-01"));
        assert_eq!(listed[1].arrived.as_deref(), Some("2026-02-01T10:00:00Z"));
        assert_eq!(listed[1].held_out.as_deref(), Some("c"));
    }

    /// The hour from 2 to 3 comes twice at the end of daylight saving.
    #[test]
    fn moments_with_different_offsets_are_compared_as_instants() {
        let manifest = |first: &str, second: &str| {
            parsed(&format!(
                "schema = 1\n[[experience]]\nname = \"a\"\ndata = \"x\"\narrived = {first}\n[[experience]]\nname = \"b\"\ndata = \
                 \"y\"\narrived = {second}\n"
            ))
        };
        let rising = [
            ["2025-10-26T02:30:00+02:00", "2025-10-26T02:15:00+01:00"],
            ["2025-10-26T01:00:00Z", "2025-10-26T02:00:00+01:00"],
            ["2025-03-30T01:59:59+01:00", "2025-03-30T03:00:00+02:00"],
            ["2025-12-31T23:30:00-05:00", "2026-01-01T05:00:00Z"],
            ["2025-10-26", "2025-10-26T00:00:00.5Z"],
        ];
        for [first, second] in rising {
            assert_eq!(
                manifest(first, second).unwrap()[1].arrived.as_deref(),
                Some(second)
            );
            let quoted = manifest(&format!("\"{first}\""), &format!("\"{second}\""));
            assert_eq!(quoted.unwrap()[0].arrived.as_deref(), Some(first));
            if first != rising[1][0] {
                let wrong = manifest(second, first).unwrap_err();
                let expected = format!("arrived: found {first}, expected {second} or later");
                assert!(wrong.contains(&expected), "{wrong}");
            }
        }
    }

    #[test]
    fn manifests_that_are_none() {
        let one = |rest: &str| format!("schema = 1\n[[experience]]\n{rest}");
        for (text, expected) in [
            ("", "schema"),
            ("schema = 2\n", "found schema 2"),
            ("schema = 1\n", "found no [[experience]]"),
            (&one("name = \"a\"\n"), "data"),
            (
                &one("name = \"a/b\"\ndata = \"x\"\n"),
                "line 2: name: found",
            ),
            (&one("name = \"\"\ndata = \"x\"\n"), "line 2: name: found"),
            (&one("name = \"a\"\ndata = \"\"\n"), "an empty text"),
            (
                &one(&format!("name = \"a\"\ndata = \"{}\"\n", "x".repeat(1001))),
                "line 2: found a text of 1001 characters",
            ),
            (&one("name = \"a\"\ndata = \"x\"\nmore = 1\n"), "line 5"),
            (
                &one("name = \"a\"\ndata = \"x\"\narrived = \"soon\"\n"),
                "arrived: found",
            ),
            (
                &one("name = \"a\"\ndata = \"x\"\n[[experience]]\nname = \"a\"\ndata = \"y\"\n"),
                "line 5: name: found \"a\" twice",
            ),
            (
                &one(
                    "name = \"a\"\ndata = \"x\"\narrived = 2026-02-01\n[[experience]]\nname = \"b\"\ndata = \"y\"\narrived = 2026-01-01\n",
                ),
                "line 6: arrived: found 2026-01-01, expected 2026-02-01 or later",
            ),
            (
                "schema = 1\nexperience = [[[[[[[[[[[[[[[[[[[[[",
                "nested too deep",
            ),
        ] {
            let wrong = parsed(text).unwrap_err();
            assert!(wrong.starts_with("line "), "{wrong}");
            assert!(wrong.contains(expected), "{text}: {wrong}");
        }
    }
}
