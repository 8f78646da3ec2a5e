//! Rows of the tables: what is judged.

use serde::{Deserialize, Serialize};

/// Row of a reproduced table of DACL: features that are judged, with or without training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DaclRow {
    /// The most frequent class.
    Majority,
    /// Numbers of nodes and edges of a graph.
    Counts,
    /// Features without any encoder.
    Raw,
    /// Untrained encoder with the normalisation statistics with which it was created.
    NotReestimated,
    /// Untrained encoder with re-estimated normalisation statistics.
    Untrained,
    /// Gaussian noise as the paper prints it.
    GaussianPrinted,
    /// Gaussian noise on standardised columns.
    Gaussian,
    /// Gaussian noise on normalised pixels with σ = 0.1.
    GaussianSigma10,
    /// Linear mixup with α = 0.5.
    LinearAlpha50,
    /// Linear mixup with α = 0.9.
    LinearAlpha90,
    /// One of linear, geometric and binary mixup, which keeps a column with ρ = 0.9.
    PlusKeep90,
    /// The same with ρ = 0.5.
    PlusKeep50,
    /// The same with ρ = 0.1.
    PlusKeep10,
    /// Columns of the second view from other rows.
    Marginal,
    /// Mixup by the kind of each column.
    Auto,
    /// The encoder with a linear classifier, trained with labels.
    Supervised,
    /// Untrained shallow encoder with re-estimated statistics.
    ShallowUntrained,
    /// Linear mixup with α = 0.9 on a shallow encoder.
    ShallowLinear,
    /// Mixup by the kind of each column on a shallow encoder.
    ShallowAuto,
    /// Gaussian noise on the encoder's output.
    HiddenGaussian,
    /// Linear mixup of the encoder's output.
    HiddenMixup,
    /// Augmentations of graphs.
    Augmentations,
    /// Augmentations of images.
    Simclr,
    /// Two positive pairs of augmented images in a step.
    SimclrFourViews,
    /// A positive pair of augmented images and one with linear mixup in a step.
    SimclrDacl,
}

impl DaclRow {
    /// Rows of the table of tables, in their order.
    pub const TABLES: [Self; 16] = [
        Self::Majority,
        Self::Raw,
        Self::Untrained,
        Self::GaussianPrinted,
        Self::Gaussian,
        Self::LinearAlpha50,
        Self::LinearAlpha90,
        Self::PlusKeep90,
        Self::PlusKeep50,
        Self::PlusKeep10,
        Self::Marginal,
        Self::Auto,
        Self::Supervised,
        Self::ShallowUntrained,
        Self::ShallowLinear,
        Self::ShallowAuto,
    ];

    /// Rows of the table of images, in their order.
    pub const IMAGES: [Self; 10] = [
        Self::Majority,
        Self::Raw,
        Self::Untrained,
        Self::GaussianPrinted,
        Self::GaussianSigma10,
        Self::LinearAlpha90,
        Self::PlusKeep50,
        Self::Simclr,
        Self::SimclrFourViews,
        Self::SimclrDacl,
    ];

    /// Rows of the table of graphs, in their order.
    pub const GRAPHS: [Self; 8] = [
        Self::Majority,
        Self::Counts,
        Self::Raw,
        Self::NotReestimated,
        Self::Untrained,
        Self::HiddenGaussian,
        Self::HiddenMixup,
        Self::Augmentations,
    ];

    /// Returns the name on pages.
    pub fn title(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Counts => "node and edge counts",
            Self::Raw => "raw features",
            Self::NotReestimated => "untrained, BN as created",
            Self::Untrained => "untrained",
            Self::GaussianPrinted => "Gaussian, printed",
            Self::Gaussian => "Gaussian, best σ",
            Self::GaussianSigma10 => "Gaussian, σ = 0.1",
            Self::LinearAlpha50 => "DACL, α = 0.5",
            Self::LinearAlpha90 => "DACL, α = 0.9",
            Self::PlusKeep90 => "DACL+, ρ = 0.9",
            Self::PlusKeep50 => "DACL+, ρ = 0.5",
            Self::PlusKeep10 => "DACL+, ρ = 0.1",
            Self::Marginal => "SCARF",
            Self::Auto => "auto",
            Self::Supervised => "supervised",
            Self::ShallowUntrained => "shallow, untrained",
            Self::ShallowLinear => "shallow, DACL",
            Self::ShallowAuto => "shallow, auto",
            Self::HiddenGaussian => "hidden Gaussian",
            Self::HiddenMixup => "DACL, hidden mixup",
            Self::Augmentations => "GraphCL's views",
            Self::Simclr => "SimCLR",
            Self::SimclrFourViews => "SimCLR, four views",
            Self::SimclrDacl => "SimCLR + DACL",
        }
    }

    /// Returns a sentence on what the row is.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Majority => "always the most frequent class of the training samples.",
            Self::Counts => "two features, the number of nodes and the number of edges.",
            Self::Raw => {
                "no encoder: standardised columns of a table, pixels of an image, or the sum of the node features of a \
                 graph."
            }
            Self::NotReestimated => {
                "random weights, with mean 0 and variance 1 in every normalisation, as InfoGraph's code evaluates \
                 an encoder that was never in training mode."
            }
            Self::Untrained => {
                "random weights, with normalisation statistics re-estimated over the training samples."
            }
            Self::GaussianPrinted => {
                "Gaussian noise of mean 0.1 and sd 1 on columns or pixels scaled to [0, 1]."
            }
            Self::Gaussian => {
                "Gaussian noise on standardised columns, with the σ among 0.05, 0.1, 0.3 and 0.5 that is best on \
                 validation rows."
            }
            Self::GaussianSigma10 => {
                "Gaussian noise with σ = 0.1 on pixels that are normalised by ImageNet's means and sds."
            }
            Self::LinearAlpha50 => "linear mixup with λ ~ U(0.5, 1).",
            Self::LinearAlpha90 => "linear mixup with λ ~ U(0.9, 1).",
            Self::PlusKeep90 => {
                "linear, geometric or binary mixup, drawn for each pair; a column is kept with ρ = 0.9, the others \
                 have α = 0.9."
            }
            Self::PlusKeep50 => {
                "linear, geometric or binary mixup, drawn for each pair; a column or a value of a pixel is kept with \
                 ρ = 0.5, the others have α = 0.9."
            }
            Self::PlusKeep10 => {
                "the same with ρ = 0.1, the paper's set read literally: a view is then nearer to its partner."
            }
            Self::Marginal => {
                "SCARF (Bahri et al., 2022): the second view takes 60 % of its columns from other rows."
            }
            Self::Auto => "mixup by the kind of each column, α = 0.9: ours.",
            Self::Supervised => {
                "the same encoder with a linear classifier, trained with labels; learning rate and epoch are chosen \
                 on validation rows."
            }
            Self::ShallowUntrained => "a shallow encoder with random weights.",
            Self::ShallowLinear => "a shallow encoder, α = 0.9.",
            Self::ShallowAuto => "a shallow encoder with the noise auto.",
            Self::HiddenGaussian => {
                "Gaussian noise on the encoder's output, σ = 0.1 of each column's sd."
            }
            Self::HiddenMixup => "linear mixup of the encoder's output, λ ~ U(0.9, 1).",
            Self::Augmentations => "augmentations of the graphs instead of noise.",
            Self::Simclr => {
                "augmentations instead of noise: crops, flips, jitter of colours and conversion to grey."
            }
            Self::SimclrFourViews => {
                "two positive pairs of augmented views of each image, whose losses are summed: the control of the \
                 next row, with as many passes."
            }
            Self::SimclrDacl => {
                "a positive pair of augmented views and one with linear mixup, α = 0.9, whose losses are summed."
            }
        }
    }

    /// Returns the letter of the row where it is a floor in the charts.
    pub(crate) fn floor(self) -> Option<char> {
        match self {
            Self::Majority => Some('M'),
            Self::Counts => Some('S'),
            Self::Raw => Some('R'),
            Self::Untrained => Some('U'),
            _ => None,
        }
    }

    /// Returns whether no encoder is trained in the row.
    pub fn is_untrained(self) -> bool {
        self.floor().is_some() || matches!(self, Self::NotReestimated | Self::ShallowUntrained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different() {
        for rows in [
            &DaclRow::TABLES[..],
            &DaclRow::IMAGES[..],
            &DaclRow::GRAPHS[..],
        ] {
            for (i, row) in rows.iter().enumerate() {
                assert!(!row.description().is_empty());
                assert!(rows[..i].iter().all(|other| other.title() != row.title()));
            }
        }
    }
}
