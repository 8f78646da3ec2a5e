//! Encoders as Burn modules.
//!
//! | item | description |
//! |---|---|
//! | [`ResNet`] | ResNet-18 as encoder of images, also with torchvision's weights |
//! | [`ConvNet`] | four convolutions as encoder of images, small enough to train on a CPU |
//! | [`Gcn`], [`GraphConv`], [`Readout`] | a graph convolutional network as encoder of graphs, and its layers |
//! | [`Gin`] | a graph isomorphism network as encoder of graphs |
//! | [`Mlp`] | a multilayer perceptron as encoder of rows of a table |
//! | [`TwoTower`] | a recommender with two towers as encoder of histories and items |
//! | [`WordTower`] | means of word embeddings as encoder of texts |
//! | [`StoredEncoder`] | the file of an encoder, which the program `icl` writes and reads, too |
//! | [`Origin`], [`Parent`] | where an encoder comes from: its training, its data, and the encoders before it |
//! | [`StoredTensor`], [`safetensors_bytes`] | other safetensors files, the same bytes for the same tensors |
//! | `read_weights` | the tensors of a file of PyTorch or safetensors, for other encoders (feature `weights`) |
//! | `StoredEncoder::export` | an encoder for other programs (feature `export`) |
//! | [`ProjectionHead`] | a head of n layers between an encoder and the losses |
//! | [`HiddenMixup`], [`HiddenViews`], [`HiddenCollate`] | noise between an encoder and its head, with its views and collation |
//! | [`BatchStatistics`] | statistics of batch normalisation that are estimated at fixed parameters |
//! | [`recalibrate_batch_norm`] | re-estimation of the statistics of Burn's own `BatchNorm` layers |
//! | [`kernels`] | the operators that they are made of, for encoders of your own |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod batch_norm;
mod checks;
mod convnet;
mod convolution;
mod embedding_table;
#[cfg(feature = "export")]
mod export;
mod gcn;
mod gin;
mod gin_layer;
mod graph_conv;
mod head;
mod hidden_layer;
mod hidden_mixup;
mod linear;
mod mlp;
mod normalization;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod readout;
mod resnet;
mod stock_batch_norm;
mod stored_encoder;
mod stored_tensor;
mod two_tower;
mod word_tower;

pub use batch_norm::BatchStatistics;
pub use convnet::{ConvNet, ConvNetConfig};
#[cfg(feature = "export")]
pub use export::{Export, ExportFormat};
pub use gcn::{Gcn, GcnConfig};
pub use gin::{Gin, GinConfig};
pub use graph_conv::{GraphConv, GraphConvConfig};
pub use head::{ProjectionHead, ProjectionHeadConfig};
pub use hidden_mixup::{
    HiddenBatch, HiddenCollate, HiddenMixup, HiddenMixupConfig, HiddenNoise, HiddenView,
    HiddenViews, NoiseDraw, PairNoise, RowNoise,
};
pub use icl_kernels as kernels;
pub use mlp::{Mlp, MlpConfig};
pub use readout::Readout;
pub use resnet::{ResNet, ResNetConfig, Stem};
#[cfg(feature = "weights")]
pub use resnet::{WeightsLayout, read_weights};
pub use stock_batch_norm::recalibrate_batch_norm;
pub use stored_encoder::{BURN_VERSION, DataOrigin, Origin, Parent, SamplesDigest, StoredEncoder};
pub use stored_tensor::{StoredTensor, safetensors_bytes};
pub use two_tower::{TwoTower, TwoTowerConfig};
pub use word_tower::{WordTower, WordTowerConfig};
