//! Dictionary keys and prefixes of names around the tensors of an encoder in a file of weights.

use std::collections::BTreeMap;
use std::fmt;

/// Prefixes that wrappers add to all names: `DataParallel` and `torch.compile`.
const WRAPPERS: [&str; 2] = ["module.", "_orig_mod."];

/// Prefixes of the names of an encoder within a larger module, which has other parts: MoCo, SimCLR and Lightning.
const PARTS: [&str; 4] = ["encoder_q.", "backbone.", "encoder.", "model."];

/// Largest number of prefixes in a row, as in `model.module.encoder_q.conv1.weight`.
const MAX_BEGINNINGS: usize = 3;

/// Parts of a file around its tensors that [`read_weights`](crate::read_weights) removed: dictionary keys, a prefix of
/// the names, and tensors of other parts.
///
/// Prints as text that completes "found …".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WeightsLayout {
    /// Keys of nested dictionaries, from outside to inside; the value of the last is the state dict.
    pub keys: Vec<String>,
    /// Prefix of the names that was removed.
    pub prefix: String,
    /// Number of tensors of other parts of the module, which were left out.
    pub n_left_out: usize,
}

impl WeightsLayout {
    /// Returns whether the file was a plain state dict.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for WeightsLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match &self.keys[..] {
            [] => {}
            [key] => parts.push(format!("the state dict under the key {key:?}")),
            keys => parts.push(format!("the state dict under the keys {}", keys.join("."))),
        }
        if !self.prefix.is_empty() {
            let prefix = &self.prefix;
            parts.push(format!(
                "names that begin with {prefix:?}, which was removed"
            ));
        }
        match self.n_left_out {
            0 => {}
            1 => parts.push("1 tensor of another part, which was left out".to_owned()),
            n => parts.push(format!("{n} tensors of other parts, which were left out")),
        }
        match parts.is_empty() {
            true => f.write_str("a plain state dict"),
            false => f.write_str(&parts.join(", and ")),
        }
    }
}

/// Prefix of the names of an encoder in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Beginning {
    pub(super) prefix: String,
    /// Whether names without the prefix belong to other parts of a module.
    pub(super) is_part: bool,
}

impl Beginning {
    /// Finds the shortest prefix with which the file has all `wanted` names. If there is none, returns the longest
    /// known prefix that all names of the file share, so that errors name tensors that could be meant.
    pub(super) fn find(
        shapes: &BTreeMap<String, Vec<usize>>,
        wanted: &[(String, Vec<usize>)],
    ) -> Self {
        let has_all = |it: &Self| {
            let mut wanted = wanted.iter();
            wanted.all(|(name, _)| shapes.contains_key(&format!("{}{name}", it.prefix)))
        };
        // Level by level, all prefixes of one number of parts, so that the shortest is found first.
        let mut found = vec![Self::default()];
        for _ in 0..=MAX_BEGINNINGS {
            if let Some(place) = found.iter().position(has_all) {
                return found.swap_remove(place);
            }
            found = found.iter().flat_map(Self::longer).collect();
        }
        let is_common = |it: &Self| shapes.keys().all(|name| name.starts_with(&it.prefix));
        let mut common = Self::default();
        for _ in 0..MAX_BEGINNINGS {
            let longer = common.longer().find(is_common);
            match longer {
                Some(longer) if !shapes.is_empty() => common = longer,
                _ => break,
            }
        }
        common
    }

    fn longer(&self) -> impl Iterator<Item = Self> {
        let with = |(is_part, next): (bool, &str)| Self {
            prefix: format!("{}{next}", self.prefix),
            is_part: self.is_part || is_part,
        };
        let wrappers = WRAPPERS.iter().map(|it| (false, *it));
        let parts = PARTS.iter().map(|it| (true, *it));
        wrappers.chain(parts).map(with)
    }
}
