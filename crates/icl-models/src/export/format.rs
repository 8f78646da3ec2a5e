//! The formats of exported encoders, and which kinds have which.

use serde::{Deserialize, Serialize};

/// Format of an encoder for other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportFormat {
    /// A safetensors file with the names and shapes of the state dict of torchvision's `resnet18`.
    Torchvision,
    /// An ONNX model (opset 17, IR version 8) whose output is h, the embeddings.
    Onnx,
    /// A safetensors file with tensors in PyTorch's conventions, from which the network is rebuilt in a few lines.
    Safetensors,
}

impl ExportFormat {
    /// Returns the name of the format, that of the option of `icl export`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Torchvision => "torchvision",
            Self::Onnx => "onnx",
            Self::Safetensors => "safetensors",
        }
    }
}

/// An encoder in the format of other programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Sentence, without its end, on what a reader must know: inputs and outputs of an ONNX model, or where a network
    /// of PyTorch differs from the usual one.
    pub note: String,
}

/// Kinds of encoders that can be exported, each with its formats.
pub(super) const KINDS: [(&str, &[ExportFormat]); 8] = {
    use ExportFormat::{Onnx, Safetensors, Torchvision};
    [
        ("resnet-18", &[Torchvision, Onnx]),
        ("convnet", &[Onnx, Safetensors]),
        ("mlp", &[Onnx, Safetensors]),
        ("image-mlp", &[Onnx, Safetensors]),
        ("gcn", &[Safetensors]),
        ("gin", &[Safetensors]),
        ("gcn-hidden", &[Safetensors]),
        ("gin-hidden", &[Safetensors]),
    ]
};
