//! The protocols by which accuracies are measured.

use std::fmt;
use std::sync::OnceLock;

use anyhow::anyhow;
use clap::builder::PossibleValuesParser;
use icl_eval::{FewLabelsConfig, KnnProtocolConfig, LinearProbeConfig, Protocol};

use crate::process::failure::Failure;

/// Maximum number of evaluated samples for k nearest neighbours and the linear probe, whose time grows with n².
const MAX_EVALUATED: usize = 10_000;
/// Maximum number of evaluated samples for slow protocols, and for features so wide that the linear probe takes as
/// long.
const MAX_EVALUATED_SLOWLY: usize = 2000;
/// Number of columns above which features are wide.
const WIDE: usize = 1024;
/// Protocols unless others are named.
pub const DEFAULT: &str = "few-labels,knn,linear";
/// Name for no protocol.
const NONE: &str = "none";

/// A protocol by its name.
#[derive(Clone, Copy)]
pub struct NamedProtocol {
    /// Name as a value of `--protocol`.
    pub name: &'static str,
    /// Name in words.
    pub words: &'static str,
    /// Whether its time grows faster than the square of the number of samples: at most 2000 are evaluated then.
    pub is_slow: bool,
    /// Function that creates the protocol.
    pub create: fn() -> Box<dyn Protocol>,
}

impl fmt::Debug for NamedProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedProtocol").field(&self.name).finish()
    }
}

/// Nearest of a few labelled samples.
pub const FEW_LABELS: NamedProtocol = NamedProtocol {
    name: "few-labels",
    words: "nearest neighbour from five labels a class",
    is_slow: false,
    create: || Box::new(FewLabelsConfig::default().init()),
};

/// k nearest neighbours.
pub const KNN: NamedProtocol = NamedProtocol {
    name: "knn",
    words: "k nearest neighbours",
    is_slow: false,
    create: || Box::new(KnnProtocolConfig::default().init()),
};

/// Linear probe.
pub const LINEAR: NamedProtocol = NamedProtocol {
    name: "linear",
    words: "linear probe",
    is_slow: false,
    create: || Box::new(LinearProbeConfig::default().init()),
};

/// Protocols of this program, the fastest first.
const OWN: &[NamedProtocol] = &[FEW_LABELS, KNN, LINEAR];
/// Protocols that a program adds.
static ADDED: OnceLock<&'static [NamedProtocol]> = OnceLock::new();

/// Adds protocols to those of `--protocol`. Before the first call of the program, once; later calls do nothing.
pub fn add_protocols(protocols: &'static [NamedProtocol]) {
    let _ = ADDED.set(protocols);
}

/// Returns the protocols in the order in which they are measured: the fastest first.
fn all() -> impl Iterator<Item = &'static NamedProtocol> {
    OWN.iter().chain(ADDED.get().copied().unwrap_or_default())
}

/// Returns the parser of the names of protocols.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(all().map(|it| it.name).chain([NONE]))
}

/// Returns the help of the option of protocols.
pub fn help() -> String {
    let list = |of: &mut dyn Iterator<Item = String>| of.collect::<Vec<_>>().join(", ");
    let named = list(&mut all().map(|it| format!("{} ({})", it.name, it.words)));
    let slow = list(
        &mut all()
            .filter(|it| it.is_slow)
            .map(|it| format!("{}, or ", it.name)),
    );
    format!(
        "Protocols to measure accuracies by, comma-separated: {named}; none measures no accuracy. At most \
         {MAX_EVALUATED} samples are evaluated, drawn at random; with {slow}features of more than {WIDE} columns, \
         {MAX_EVALUATED_SLOWLY}"
    )
}

/// Returns the protocols of these names, the fastest first and each once. Fills in their names.
///
/// # Errors
/// If `none` is given together with another.
pub fn fill(requested: &mut Vec<String>) -> Result<Vec<NamedProtocol>, Failure> {
    if requested.iter().any(|name| name == NONE) {
        if let Some(other) = requested.iter().find(|name| *name != NONE) {
            return Err(Failure::input(anyhow!(
                "protocol: found none together with {other}, expected none alone"
            )));
        }
        *requested = vec![NONE.to_owned()];
        return Ok(Vec::new());
    }
    let is_requested = |it: &&NamedProtocol| requested.iter().any(|name| name == it.name);
    let protocols: Vec<NamedProtocol> = all().filter(is_requested).copied().collect();
    *requested = protocols.iter().map(|it| it.name.to_owned()).collect();
    Ok(protocols)
}

/// Returns the maximum number of evaluated samples for these protocols on features of at most this width.
pub fn max_evaluated(protocols: &[NamedProtocol], width: usize) -> usize {
    if protocols.iter().any(|it| it.is_slow) || width > WIDE {
        MAX_EVALUATED_SLOWLY
    } else {
        MAX_EVALUATED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(protocol: &[&str]) -> Result<Vec<&'static str>, String> {
        let mut requested = protocol.iter().map(|&name| name.to_owned()).collect();
        let filled = fill(&mut requested).map_err(|failure| failure.to_string())?;
        Ok(filled.iter().map(|it| it.name).collect())
    }

    #[test]
    fn protocols_have_one_order() {
        assert_eq!(
            filled(&["linear", "knn", "linear"]),
            Ok(vec!["knn", "linear"])
        );
        assert_eq!(filled(&["linear"]), Ok(vec!["linear"]));
        assert_eq!(filled(&["none", "none"]), Ok(vec![]));
    }

    #[test]
    fn none_excludes_the_others() {
        let found = filled(&["knn", "none"]);
        assert_eq!(
            found.unwrap_err(),
            "protocol: found none together with knn, expected none alone"
        );
    }

    #[test]
    fn slow_protocols_judge_fewer() {
        let slow = NamedProtocol {
            is_slow: true,
            ..KNN
        };
        assert_eq!(max_evaluated(&[KNN], 64), 10_000);
        assert_eq!(max_evaluated(&[LINEAR], 3072), 2000);
        assert_eq!(max_evaluated(&[KNN, slow], 64), 2000);
    }
}
