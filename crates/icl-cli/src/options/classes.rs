//! Names of classes in one option.

use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Names of classes, comma-separated.
///
/// A comma that is part of a name follows a backslash.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Classes(pub Vec<String>);

impl Classes {
    /// Returns the text that is parsed as these names.
    pub fn text<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
        let names: Vec<String> = names
            .into_iter()
            .map(|name| name.replace(',', "\\,"))
            .collect();
        names.join(",")
    }
}

impl FromStr for Classes {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut names = vec![String::new()];
        for part in text.split_inclusive(',') {
            let (name, is_whole) = match part.strip_suffix(',') {
                None => (part.to_owned(), false),
                Some(name) => match name.strip_suffix('\\') {
                    None => (name.to_owned(), true),
                    Some(name) => (format!("{name},"), false),
                },
            };
            if let Some(last) = names.last_mut() {
                *last += &name;
            }
            if is_whole {
                names.push(String::new());
            }
        }
        for name in &mut names {
            *name = name.trim().to_owned();
        }
        Ok(Self(names))
    }
}

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Self::text(self.0.iter().map(String::as_str)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_read_as_they_are_written() {
        for (text, names) in [
            ("1, 7", &["1", "7"][..]),
            ("ants", &["ants"]),
            ("a\\,b,c", &["a,b", "c"]),
            ("", &[""]),
            ("a,", &["a", ""]),
        ] {
            let classes: Classes = text.parse().unwrap();
            assert_eq!(classes.0, names, "{text}");
            let written = Classes::text(names.iter().copied());
            assert_eq!(written.parse::<Classes>().unwrap(), classes, "{written}");
        }
    }
}
