//! The protocols by which accuracies are measured.

use anyhow::anyhow;
use clap::Args;
use icl_eval::{
    EvalError, FewLabelsConfig, KnnProtocolConfig, LinearProbeConfig, Protocol, SvmProtocolConfig,
};
use serde::{Deserialize, Serialize};

use crate::options::choice;
use crate::process::failure::Failure;

/// Maximum number of judged samples for k nearest neighbours and the linear probe, whose time grows with n².
const MAX_JUDGED: usize = 10_000;
/// Maximum number of judged samples for the support vector machine, whose time grows up to n³, and for features so
/// wide that the linear probe takes as long.
const MAX_JUDGED_SLOWLY: usize = 2000;
/// Number of columns above which features are wide.
const WIDE: usize = 1024;

/// A protocol, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProtocolName {
    /// Support vector machine of the paper.
    Svm,
    /// Linear probe.
    Linear,
    /// k nearest neighbours.
    Knn,
    /// Nearest of a few labelled samples.
    FewLabels,
    /// No protocol.
    None,
}

impl ProtocolName {
    /// Protocols in the order in which they are measured: the fastest first.
    const ALL: [Self; 4] = [Self::FewLabels, Self::Knn, Self::Linear, Self::Svm];

    /// Returns the name in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Svm => "support vector machine",
            Self::Linear => "linear probe",
            Self::Knn => "k nearest neighbours",
            Self::FewLabels => "nearest neighbour from five labels a class",
            Self::None => "no protocol",
        }
    }

    /// Creates the protocol with its default settings; none for [`ProtocolName::None`].
    ///
    /// # Errors
    /// If the settings are not valid.
    pub fn try_init(self) -> Result<Option<Box<dyn Protocol>>, EvalError> {
        Ok(match self {
            Self::Svm => Some(Box::new(SvmProtocolConfig::default().try_init()?)),
            Self::Linear => Some(Box::new(LinearProbeConfig::default().try_init()?)),
            Self::Knn => Some(Box::new(KnnProtocolConfig::default().try_init()?)),
            Self::FewLabels => Some(Box::new(FewLabelsConfig::default().try_init()?)),
            Self::None => None,
        })
    }
}

/// The protocols to measure accuracies by.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Accuracy")]
pub struct ProtocolOption {
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = choice::any::<ProtocolName>(),
        default_value = "few-labels,knn,linear",
        help = format!(
            "Protocols to measure accuracies by, comma-separated: few-labels (the nearest of five labelled \
             samples of each class), knn (k nearest neighbours), linear (a linear probe), svm (the paper's support vector machine, which takes far longer); none measures no \
             accuracy. At most {MAX_JUDGED} samples are judged, drawn at random; with svm, or features of more \
             than {WIDE} columns, {MAX_JUDGED_SLOWLY}"
        )
    )]
    protocol: Vec<ProtocolName>,
}

impl ProtocolOption {
    /// Returns the protocols, the fastest first and each once. Fills them in.
    ///
    /// # Errors
    /// If `none` stands beside another.
    pub fn fill(&mut self) -> Result<Vec<ProtocolName>, Failure> {
        let asked = &self.protocol;
        if asked.contains(&ProtocolName::None) {
            if let Some(other) = asked.iter().find(|name| **name != ProtocolName::None) {
                return Err(Failure::input(anyhow!(
                    "protocol: found none beside {}, expected none alone",
                    choice::name(other)
                )));
            }
            self.protocol = vec![ProtocolName::None];
            return Ok(Vec::new());
        }
        let mut protocols = ProtocolName::ALL.to_vec();
        protocols.retain(|name| asked.contains(name));
        self.protocol.clone_from(&protocols);
        Ok(protocols)
    }
}

/// Returns the maximum number of judged samples for these protocols on features of at most this width.
pub fn max_judged(protocols: &[ProtocolName], width: usize) -> usize {
    if protocols.contains(&ProtocolName::Svm) || width > WIDE {
        MAX_JUDGED_SLOWLY
    } else {
        MAX_JUDGED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(protocol: &[ProtocolName]) -> Result<Vec<ProtocolName>, String> {
        let mut option = ProtocolOption {
            protocol: protocol.to_vec(),
        };
        option.fill().map_err(|failure| failure.to_string())
    }

    #[test]
    fn protocols_have_one_order() {
        use ProtocolName::{Knn, Linear, None, Svm};
        assert_eq!(fill(&[Svm, Knn, Svm]), Ok(vec![Knn, Svm]));
        assert_eq!(fill(&[Linear]), Ok(vec![Linear]));
        assert_eq!(fill(&[None, None]), Ok(vec![]));
    }

    #[test]
    fn none_excludes_the_others() {
        let found = fill(&[ProtocolName::Knn, ProtocolName::None]);
        assert_eq!(
            found.unwrap_err(),
            "protocol: found none beside knn, expected none alone"
        );
    }

    #[test]
    fn slow_protocols_judge_fewer() {
        assert_eq!(max_judged(&[ProtocolName::Knn], 64), 10_000);
        assert_eq!(max_judged(&[ProtocolName::Linear], 3072), 2000);
        assert_eq!(max_judged(&ProtocolName::ALL, 64), 2000);
    }
}
