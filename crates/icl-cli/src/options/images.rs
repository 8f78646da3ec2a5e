//! Options that only images take: which of them, and what their encoder is.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::anyhow;
use icl_data::ImageOptions;
use icl_models::Stem;
use serde::{Deserialize, Serialize};

use crate::process::failure::Failure;

/// Which images of a data set are taken.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Their classes, all if there are none.
    pub classes: Option<Classes>,
    /// How many at most.
    pub limit: Option<usize>,
    /// Whether images that cannot be decoded are left out.
    pub skip_broken: bool,
}

impl Selection {
    /// What the readers are told.
    pub fn options(&self) -> ImageOptions {
        ImageOptions {
            classes: self.classes.clone().unwrap_or_default().0,
            limit: self.limit,
            skip_broken: self.skip_broken,
            ..ImageOptions::default()
        }
    }

    /// That nothing is chosen, since graphs have no such choice.
    ///
    /// # Errors
    /// If something is.
    pub fn check_unused(&self, data: &str) -> Result<(), Failure> {
        let given = [
            ("classes", self.classes.is_some()),
            ("limit", self.limit.is_some()),
            ("skip-broken", self.skip_broken),
        ];
        check_unused(&given, data)
    }
}

/// What the encoder of images is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EncoderChoice {
    /// The side of a view.
    pub image_size: Option<usize>,
    /// The stem.
    pub stem: Option<Stem>,
    /// The width of a projection head.
    pub projection: Option<usize>,
    /// The probability of Gaussian blur.
    pub blur: Option<f64>,
    /// First weights.
    pub weights: Option<PathBuf>,
}

impl EncoderChoice {
    /// That nothing is chosen, since graphs have no such choice.
    ///
    /// # Errors
    /// If something is.
    pub fn check_unused(&self, data: &str) -> Result<(), Failure> {
        let given = [
            ("image-size", self.image_size.is_some()),
            ("stem", self.stem.is_some()),
            ("projection", self.projection.is_some()),
            ("blur", self.blur.is_some()),
            ("weights", self.weights.is_some()),
        ];
        check_unused(&given, data)
    }
}

fn check_unused(given: &[(&str, bool)], data: &str) -> Result<(), Failure> {
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::input(anyhow!(
            "{option}: found it with {data}, a data set of graphs, expected it with images only"
        ))),
    }
}

/// Names of classes, separated by commas in one argument.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "ClassList", into = "ClassList")]
pub struct Classes(pub Vec<String>);

impl FromStr for Classes {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(
            text.split(',').map(|name| name.trim().to_owned()).collect(),
        ))
    }
}

/// How classes can stand in a TOML file: `"1,7"`, `["ants", "bees"]` or `[1, 7]`. They are written in
/// the first form, unless a comma is part of a name.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a list of classes")]
enum ClassList {
    Text(String),
    Names(Vec<String>),
    Numbers(Vec<i64>),
}

impl From<ClassList> for Classes {
    fn from(list: ClassList) -> Self {
        match list {
            ClassList::Text(text) => match text.parse() {
                Ok(classes) => classes,
                Err(never) => match never {},
            },
            ClassList::Names(names) => Self(names),
            ClassList::Numbers(numbers) => Self(numbers.iter().map(i64::to_string).collect()),
        }
    }
}

impl From<Classes> for ClassList {
    fn from(Classes(names): Classes) -> Self {
        if names.iter().any(|name| name.contains(',')) {
            Self::Names(names)
        } else {
            Self::Text(names.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct File {
        classes: Classes,
    }

    #[test]
    fn every_form_of_classes_is_read_and_one_is_written() {
        let names = |names: &[&str]| File {
            classes: Classes(names.iter().map(|&name| name.to_owned()).collect()),
        };
        for (text, expected, written) in [
            (
                "classes = \"1, 7\"",
                names(&["1", "7"]),
                "classes = \"1,7\"\n",
            ),
            (
                "classes = [1, 7]",
                names(&["1", "7"]),
                "classes = \"1,7\"\n",
            ),
            (
                "classes = [\"a,b\", \"c\"]",
                names(&["a,b", "c"]),
                "classes = [\"a,b\", \"c\"]\n",
            ),
        ] {
            let file: File = toml::from_str(text).unwrap();
            assert_eq!(file, expected);
            assert_eq!(toml::to_string(&file).unwrap(), written);
        }
        assert!(toml::from_str::<File>("classes = 1.5").is_err());
    }
}
