//! The tensors of the encoder by torchvision's names.

use burn::module::Param;
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::host_values;

use super::super::encoder::ResNet;
use super::super::torchvision::torchvision_name;
use crate::convolution::Convolution;

/// A tensor of the encoder that is to be set or written.
pub(super) enum Slot<'a, B: Backend> {
    /// γ, β, a bias or statistics.
    Vector(&'a mut Param<Tensor<B, 1>>),
    /// `[d_input, d_output]`, in files `[d_output, d_input]`.
    Linear(&'a mut Param<Tensor<B, 2>>),
    /// `[c_out, c_in, size, size]`.
    Convolution(&'a mut Param<Tensor<B, 4>>),
}

impl<B: Backend> Slot<'_, B> {
    /// Returns the shape of the tensor in a file.
    pub(super) fn shape(&self) -> Vec<usize> {
        match self {
            Self::Vector(param) => param.val().dims().to_vec(),
            Self::Linear(param) => {
                let [d_input, d_output] = param.val().dims();
                vec![d_output, d_input]
            }
            Self::Convolution(param) => param.val().dims().to_vec(),
        }
    }

    /// Returns the values as a file has them, row after row in single precision.
    pub(super) fn values(&self) -> Vec<f32> {
        let values = match self {
            Self::Vector(param) => host_values(param.val()),
            Self::Linear(param) => host_values(param.val().transpose()),
            Self::Convolution(param) => host_values(param.val()),
        };
        values.into_iter().map(|value| value as f32).collect()
    }

    /// Sets the tensor to the values of a file, as many as its shape has.
    pub(super) fn set(self, values: Vec<f32>) {
        let shape = self.shape();
        match self {
            Self::Vector(param) => set(param, TensorData::new(values, shape), |tensor| tensor),
            Self::Linear(param) => set(param, TensorData::new(values, shape), Tensor::transpose),
            Self::Convolution(param) => set(param, TensorData::new(values, shape), |tensor| tensor),
        }
    }
}

/// Sets a parameter, which keeps its identity and whether it is trained.
fn set<B: Backend, const D: usize>(
    param: &mut Param<Tensor<B, D>>,
    data: TensorData,
    arrange: impl Fn(Tensor<B, D>) -> Tensor<B, D>,
) {
    *param = param.clone().map(|old| {
        let new = arrange(Tensor::from_data(data, &old.device()));
        new.set_require_grad(old.is_require_grad())
    });
}

/// Returns all tensors that torchvision's network has, too.
pub(super) fn slots<B: Backend>(resnet: &mut ResNet<B>) -> Vec<(String, Slot<'_, B>)> {
    let mut slots = Vec::new();
    convolution("stem.convolution", &mut resnet.stem.convolution, &mut slots);
    for (index, block) in resnet.blocks.iter_mut().enumerate() {
        let at = |part: &str| format!("blocks.{index}.{part}");
        convolution(&at("first"), &mut block.first, &mut slots);
        convolution(&at("second"), &mut block.second, &mut slots);
        if let Some(shortcut) = &mut block.shortcut {
            convolution(&at("shortcut"), shortcut, &mut slots);
        }
    }
    if let Some(classifier) = &mut resnet.classifier {
        let weight = Slot::Linear(&mut classifier.weight);
        slots.push(("classifier.weight".to_owned(), weight));
        let bias = Slot::Vector(&mut classifier.bias);
        slots.push(("classifier.bias".to_owned(), bias));
    }
    let named = slots
        .into_iter()
        .filter_map(|(path, slot)| Some((torchvision_name(&path)?, slot)));
    named.collect()
}

/// Adds the tensors of a convolution and its normalisation, by their paths in the module.
fn convolution<'a, B: Backend>(
    path: &str,
    convolution: &'a mut Convolution<B>,
    slots: &mut Vec<(String, Slot<'a, B>)>,
) {
    let weight = Slot::Convolution(&mut convolution.weight);
    slots.push((format!("{path}.weight"), weight));
    let layer = &mut convolution.norm;
    for (part, param) in [
        ("weight", &mut layer.weight),
        ("bias", &mut layer.bias),
        ("statistics.mean", &mut layer.statistics.mean),
        ("statistics.variance", &mut layer.statistics.variance),
    ] {
        slots.push((format!("{path}.norm.{part}"), Slot::Vector(param)));
    }
}
