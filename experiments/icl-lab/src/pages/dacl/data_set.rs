//! Data sets on which the tables of DACL are reproduced.

use serde::{Deserialize, Serialize};

/// Data set of a reproduction of DACL (Verma et al., 2021).
///
/// Only Fashion-MNIST, CIFAR-10 and the graphs are in the paper. The four tables of the UCI repository and
/// the digits are columns without an order, which is what DACL is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DaclDataSet {
    /// 1797 handwritten digits of 8 x 8 pixels, embedded in the program.
    #[serde(rename = "digits")]
    Digits,
    /// 20,000 letters by 16 integers.
    Letter,
    /// 6435 pixels of satellite images by 36 integers.
    Satellite,
    /// 4601 messages by 57 shares and lengths.
    Spambase,
    /// 3186 pieces of DNA by 180 binary columns.
    #[serde(rename = "DNA")]
    Dna,
    /// 70,000 images of clothes, of which 6000 are used for training.
    #[serde(rename = "Fashion-MNIST")]
    FashionMnist,
    /// The first 4000 training images of CIFAR-10, as images and as tables of pixels. The paper has all of CIFAR-10.
    #[serde(rename = "CIFAR-10-4000", alias = "CIFAR-10")]
    Cifar10,
    /// 188 molecules, embedded in the program.
    #[serde(rename = "MUTAG")]
    Mutag,
    /// 344 molecules.
    #[serde(rename = "PTC_MR")]
    PtcMr,
    /// 1000 networks of actors.
    #[serde(rename = "IMDB-BINARY")]
    ImdbBinary,
    /// 1500 networks of actors.
    #[serde(rename = "IMDB-MULTI")]
    ImdbMulti,
    /// 2000 graphs of discussions.
    #[serde(rename = "REDDIT-BINARY")]
    RedditBinary,
}

impl DaclDataSet {
    /// All data sets, tables first.
    pub const ALL: [Self; 12] = [
        Self::Digits,
        Self::Letter,
        Self::Satellite,
        Self::Spambase,
        Self::Dna,
        Self::FashionMnist,
        Self::Cifar10,
        Self::Mutag,
        Self::PtcMr,
        Self::ImdbBinary,
        Self::ImdbMulti,
        Self::RedditBinary,
    ];

    /// Returns the name in commands, in records and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Letter => "Letter",
            Self::Satellite => "Satellite",
            Self::Spambase => "Spambase",
            Self::Dna => "DNA",
            Self::FashionMnist => "Fashion-MNIST",
            Self::Cifar10 => "CIFAR-10-4000",
            Self::Mutag => "MUTAG",
            Self::PtcMr => "PTC_MR",
            Self::ImdbBinary => "IMDB-BINARY",
            Self::ImdbMulti => "IMDB-MULTI",
            Self::RedditBinary => "REDDIT-BINARY",
        }
    }

    /// Returns the number of seeds to run: one for REDDIT-BINARY, whose graphs are large, else `n_seeds`.
    pub fn n_seeds(self, n_seeds: u64) -> u64 {
        match self {
            Self::RedditBinary => n_seeds.min(1),
            _ => n_seeds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_names() {
        for data in DaclDataSet::ALL {
            assert_eq!(serde_json::to_value(data).unwrap(), data.name());
        }
    }
}
