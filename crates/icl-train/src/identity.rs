//! The identity of a run, which a checkpoint must share with it.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use icl_core::host_values;
use serde::{Deserialize, Serialize};

/// Named facts about a run, such as its settings, method, seed, data and first encoder. A run resumes
/// from a checkpoint only if all of them are equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity(Vec<(String, String)>);

impl Identity {
    /// Creates an identity from the names and values of its facts.
    pub fn new(facts: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(facts.into_iter().collect())
    }

    /// Creates an identity from facts whose names are known.
    pub(crate) fn of(facts: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let facts = facts.into_iter();
        Self::new(facts.map(|(name, value)| (name.to_owned(), value)))
    }

    /// Returns the same identity with more facts.
    pub(crate) fn with(mut self, facts: impl IntoIterator<Item = (String, String)>) -> Self {
        self.0.extend(facts);
        self
    }

    /// Returns the first fact in which `self` differs from `expected`: its name and both values, as an error shows them.
    pub(crate) fn difference(&self, expected: &Self) -> Option<(String, String, String)> {
        let value = |of: &Self, name: &str| {
            let fact = of.0.iter().find(|(known, _)| known == name);
            fact.map_or_else(|| "not there".to_owned(), |(_, value)| value.clone())
        };
        let names = expected.0.iter().chain(&self.0).map(|(name, _)| name);
        names
            .map(|name| [name.clone(), value(self, name), value(expected, name)])
            .find(|[_, found, expected]| found != expected)
            .map(|texts| texts.map(|text| shown(&text)).into())
    }
}

/// Returns a text from a file as an error shows it: its first 200 characters, without control characters.
fn shown(text: &str) -> String {
    const LENGTH: usize = 200;
    let mut shown = String::new();
    for c in text.chars().take(LENGTH) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    if text.chars().nth(LENGTH).is_some() {
        shown.push('…');
    }
    shown
}

/// Computes the CRC-32 of all float parameters, in the order of the module.
pub(crate) fn digest<B: Backend, M: Module<B>>(module: &M) -> u32 {
    let mut visitor = Digest(crc32fast::Hasher::new());
    module.visit(&mut visitor);
    visitor.0.finalize()
}

/// Describes a list of samples: their number and a checksum.
pub(crate) fn digest_of(samples: &[usize]) -> String {
    let mut checksum = crc32fast::Hasher::new();
    for &sample in samples {
        checksum.update(&(sample as u64).to_le_bytes());
    }
    format!(
        "{} with checksum {:08x}",
        samples.len(),
        checksum.finalize()
    )
}

struct Digest(crc32fast::Hasher);

impl<B: Backend> ModuleVisitor<B> for Digest {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        for value in host_values(param.val()) {
            self.0.update(&value.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let of = |facts: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
            Identity::new(facts.iter().map(owned))
        };
        let run = of(&[("seed", "1"), ("τ", "0.1")]);
        assert_eq!(run.difference(&run), None);
        let other = of(&[("seed", "1"), ("τ", "0.2")]).difference(&run);
        assert_eq!(other, Some(("τ".into(), "0.2".into(), "0.1".into())));
        let fewer = of(&[("seed", "1")]).difference(&run).unwrap();
        assert_eq!(fewer.1, "not there");
        let more = of(&[("seed", "1"), ("τ", "0.1"), ("K", "3")]).difference(&run);
        assert_eq!(more.unwrap().2, "not there");
    }

    #[test]
    fn values_of_a_file_are_shown_briefly() {
        assert_eq!(shown("\"adam\", τ\u{7f}\n"), "\"adam\", τ\\u{7f}\\n");
        assert_eq!(shown(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(shown(&"é".repeat(201)), "é".repeat(200) + "…");
    }
}
