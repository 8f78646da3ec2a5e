//! The cases that are measured.

use std::fmt;

use icl_models::Stem;

/// Work that every side can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Case {
    /// Training step of the GCN on both views of `n_samples` graphs.
    Gcn { graphs: Graphs, n_samples: usize },
    /// Training step of ResNet-18 on colour images.
    ResNet {
        stem: Stem,
        side: usize,
        n_images: usize,
    },
    /// Training step of the small convolutional network on grey images of 28 pixels.
    ConvNet { n_images: usize },
    /// Training step of a perceptron on rows of 784 columns.
    Perceptron { n_rows: usize },
    /// InfoNCE of embeddings `[n, width]`, and its gradients.
    InfoNce { n: usize, width: usize },
    /// Exact risk of `n` samples.
    Risk { n: usize },
    /// Action of an agent for one state.
    Decision,
}

/// Graphs of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Graphs {
    /// A data set.
    Tu(&'static str),
    /// Graphs of `n_nodes` nodes, made by a rule.
    Synthetic { n_nodes: usize },
}

/// Subject of a table of cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Topic {
    Graphs,
    Images,
    Losses,
    Agent,
}

/// Work that is measured at several sizes, and one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// The work, without its size.
    pub of: String,
    /// Unit of the size.
    pub by: &'static str,
    pub size: usize,
}

const BATCHES: [usize; 3] = [32, 128, 512];

impl Case {
    /// Returns all cases; those of a table, and of a growth, follow each other.
    pub fn all() -> impl Iterator<Item = Self> {
        let data_sets = ["PROTEINS", "REDDIT-BINARY"].into_iter().flat_map(|name| {
            BATCHES.map(|n_samples| Self::Gcn {
                graphs: Graphs::Tu(name),
                n_samples,
            })
        });
        let synthetic = [50, 500, 5000].map(|n_nodes| Self::Gcn {
            graphs: Graphs::Synthetic { n_nodes },
            n_samples: 32,
        });
        let images = [
            (Stem::Small, 28, &BATCHES[..]),
            (Stem::Standard, 64, &BATCHES),
            (Stem::Standard, LARGE, &[32, 256]),
        ];
        let images = images.into_iter().flat_map(|(stem, side, batches)| {
            batches.iter().map(move |&n_images| Self::ResNet {
                stem,
                side,
                n_images,
            })
        });
        let small = BATCHES
            .map(|n_images| Self::ConvNet { n_images })
            .into_iter()
            .chain(BATCHES.map(|n_rows| Self::Perceptron { n_rows }));
        let losses = [1024, 8192].map(|n| Self::InfoNce { n, width: 128 });
        let risks = [2500, 5000, 10_000, 20_000].map(|n| Self::Risk { n });
        data_sets
            .chain(synthetic)
            .chain(images)
            .chain(small)
            .chain(losses)
            .chain(risks)
            .chain([Self::Decision])
    }

    /// Returns the case in the words that both sides understand.
    pub fn words(&self) -> String {
        match self {
            Self::Gcn { graphs, n_samples } => match graphs {
                Graphs::Tu(name) => format!("gcn {name} {n_samples}"),
                Graphs::Synthetic { n_nodes } => format!("gcn_synthetic {n_nodes} {n_samples}"),
            },
            Self::ResNet {
                stem,
                side,
                n_images,
            } => format!("resnet18 {stem:?} {side} {n_images}"),
            Self::ConvNet { n_images } => format!("convnet {n_images}"),
            Self::Perceptron { n_rows } => format!("perceptron {n_rows}"),
            Self::InfoNce { n, width } => format!("info_nce {n} {width}"),
            Self::Risk { n } => format!("risk {n}"),
            Self::Decision => "decision".to_owned(),
        }
    }

    /// Returns the subject of its table.
    pub fn topic(&self) -> Topic {
        match self {
            Self::Gcn { .. } => Topic::Graphs,
            Self::ResNet { .. } | Self::ConvNet { .. } | Self::Perceptron { .. } => Topic::Images,
            Self::InfoNce { .. } | Self::Risk { .. } => Topic::Losses,
            Self::Decision => Topic::Agent,
        }
    }

    /// Whether it takes too long without a GPU.
    pub fn needs_gpu(&self) -> bool {
        matches!(self, Self::ResNet { side: LARGE, .. })
    }

    /// Whether it takes little time.
    pub fn is_small(&self) -> bool {
        match *self {
            Self::Gcn { graphs, n_samples } => match graphs {
                Graphs::Tu(_) => n_samples <= 128,
                Graphs::Synthetic { n_nodes } => n_nodes <= 500,
            },
            Self::ResNet { n_images, .. } => n_images <= 32,
            Self::ConvNet { n_images: n } | Self::Perceptron { n_rows: n } => n <= 128,
            Self::InfoNce { n, .. } => n <= 1024,
            Self::Risk { n } => n <= 5000,
            Self::Decision => true,
        }
    }

    /// Returns the growth that it is part of; `None` if it has only one size.
    pub fn growth(&self) -> Option<Growth> {
        let (of, by, size) = match *self {
            Self::Gcn { graphs, n_samples } => match graphs {
                Graphs::Tu(name) => (format!("GCN on {name}"), "batch", n_samples),
                Graphs::Synthetic { n_nodes } => (
                    format!("GCN on synthetic graphs, batch {n_samples}"),
                    "nodes a graph",
                    n_nodes,
                ),
            },
            Self::ResNet {
                stem,
                side,
                n_images,
            } => (
                format!("ResNet-18, {} stem, {side} px", stem_name(stem)),
                "batch",
                n_images,
            ),
            Self::ConvNet { n_images } => ("convnet, 28 px".to_owned(), "batch", n_images),
            Self::Perceptron { n_rows } => ("perceptron".to_owned(), "batch", n_rows),
            Self::InfoNce { n, width } => (format!("InfoNCE, width {width}"), "rows", n),
            Self::Risk { n } => ("exact risk".to_owned(), "samples", n),
            Self::Decision => return None,
        };
        Some(Growth { of, by, size })
    }
}

/// Side of images in pixels that only a GPU is measured with.
pub const LARGE: usize = 224;

fn stem_name(stem: Stem) -> &'static str {
    match stem {
        Stem::Small => "small",
        Stem::Standard => "standard",
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gcn { graphs, n_samples } => match graphs {
                Graphs::Tu(name) => write!(f, "GCN on {name}, batch {n_samples}"),
                Graphs::Synthetic { n_nodes } => {
                    write!(f, "GCN on graphs of {n_nodes} nodes, batch {n_samples}")
                }
            },
            Self::ResNet {
                stem,
                side,
                n_images,
            } => write!(
                f,
                "ResNet-18, {} stem, {side} px, batch {n_images}",
                stem_name(*stem)
            ),
            Self::ConvNet { n_images } => write!(f, "convnet, 28 px, batch {n_images}"),
            Self::Perceptron { n_rows } => write!(f, "perceptron, batch {n_rows}"),
            Self::InfoNce { n, width } => write!(f, "InfoNCE, {n} x {width}"),
            Self::Risk { n } => write!(f, "exact risk, {n} samples"),
            Self::Decision => f.write_str("LSTM actor, one decision"),
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Graphs => "Training steps on graphs",
            Self::Images => "Training steps on images and rows",
            Self::Losses => "InfoNCE with its gradients, and the exact risk",
            Self::Agent => "An agent's decision",
        })
    }
}
