//! The tensors of the encoder by torchvision's names.

use burn::module::Param;
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::host_values;

use super::super::convolution::Convolution;
use super::super::encoder::ResNet;

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
    convolution("conv1", "bn1", &mut resnet.stem.convolution, &mut slots);
    for (index, block) in resnet.blocks.iter_mut().enumerate() {
        let prefix = format!("layer{}.{}", index / 2 + 1, index % 2);
        let name = |part: &str| format!("{prefix}.{part}");
        convolution(&name("conv1"), &name("bn1"), &mut block.first, &mut slots);
        convolution(&name("conv2"), &name("bn2"), &mut block.second, &mut slots);
        if let Some(shortcut) = &mut block.shortcut {
            let names = [name("downsample.0"), name("downsample.1")];
            convolution(&names[0], &names[1], shortcut, &mut slots);
        }
    }
    if let Some(classifier) = &mut resnet.classifier {
        let weight = Slot::Linear(&mut classifier.weight);
        slots.push(("fc.weight".to_owned(), weight));
        slots.push(("fc.bias".to_owned(), Slot::Vector(&mut classifier.bias)));
    }
    slots
}

/// Adds the tensors of a convolution and its normalisation.
fn convolution<'a, B: Backend>(
    name: &str,
    norm: &str,
    convolution: &'a mut Convolution<B>,
    slots: &mut Vec<(String, Slot<'a, B>)>,
) {
    let weight = Slot::Convolution(&mut convolution.weight);
    slots.push((format!("{name}.weight"), weight));
    let layer = &mut convolution.norm;
    for (part, param) in [
        ("weight", &mut layer.weight),
        ("bias", &mut layer.bias),
        ("running_mean", &mut layer.statistics.mean),
        ("running_var", &mut layer.statistics.variance),
    ] {
        slots.push((format!("{norm}.{part}"), Slot::Vector(param)));
    }
}
