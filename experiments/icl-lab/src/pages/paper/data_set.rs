//! Data sets of the paper's experiments.

/// Data set of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataSet {
    /// Two classes of ImageNet.
    ImageNet2,
    /// Two digits of MNIST.
    Mnist2,
    /// 1113 graphs of proteins.
    Proteins,
    /// 2000 graphs of discussions; the paper calls it REDDIT.
    Reddit,
}

impl DataSet {
    /// All data sets, in the paper's order.
    pub const ALL: [Self; 4] = [Self::ImageNet2, Self::Mnist2, Self::Proteins, Self::Reddit];

    /// Returns the name in commands and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::ImageNet2 => "ImageNet-2",
            Self::Mnist2 => "MNIST-2",
            Self::Proteins => "PROTEINS",
            Self::Reddit => "REDDIT-BINARY",
        }
    }

    /// Finds a data set by its name in any capitalisation; REDDIT, the paper's name, is valid too.
    pub fn from_name(name: &str) -> Option<Self> {
        let is = |own: &str| own.eq_ignore_ascii_case(name);
        match name {
            name if name.eq_ignore_ascii_case("REDDIT") => Some(Self::Reddit),
            _ => Self::ALL.into_iter().find(|data| is(data.name())),
        }
    }

    /// Returns whether the samples are images.
    pub fn is_image(self) -> bool {
        matches!(self, Self::ImageNet2 | Self::Mnist2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for data in DataSet::ALL {
            assert_eq!(DataSet::from_name(data.name()), Some(data));
            assert_eq!(DataSet::from_name(&data.name().to_lowercase()), Some(data));
        }
        assert_eq!(DataSet::from_name("REDDIT"), Some(DataSet::Reddit));
        assert_eq!(DataSet::from_name("MUTAG"), None);
    }
}
