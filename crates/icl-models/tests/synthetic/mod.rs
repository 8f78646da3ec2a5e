//! The weights of the reference, made by its formula, and a look into a module by its paths.

use std::collections::BTreeMap;
use std::path::Path;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::host_values;
use icl_models::Stem;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, serialize_to_file};
use serde::Deserialize;

/// Values computed by scripts/reference/resnet.py.
#[derive(Deserialize)]
pub struct Reference {
    pub cases: Vec<Case>,
}

/// One network on one batch.
#[derive(Deserialize)]
pub struct Case {
    pub stem: Stem,
    pub images: [usize; 4],
    pub n_classes: usize,
    pub n_parameters: usize,
    /// Every so many logits of an image are kept.
    pub step: usize,
    /// The state dict's.
    pub shapes: BTreeMap<String, Vec<usize>>,
    pub evaluation: Vec<f64>,
    pub training: Vec<f64>,
    pub gradient_norms: BTreeMap<String, f64>,
}

pub fn reference() -> Reference {
    serde_json::from_str(include_str!("../reference/resnet.json")).expect("the reference parses")
}

/// Numbers on [−1, 1) that belong to a name: FNV-1a of it, plus a Weyl sequence, through
/// MurmurHash3's mixer.
pub fn uniform(name: &str, n: usize) -> Vec<f64> {
    let seed = name.bytes().fold(0x811c_9dc5_u32, |seed, byte| {
        (seed ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let number = |index: usize| {
        let mut x = (index as u32).wrapping_mul(0x9e37_79b9).wrapping_add(seed);
        x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
        x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
        f64::from(x ^ (x >> 16)) / 2f64.powi(31) - 1.0
    };
    (0..n).map(number).collect()
}

/// The tensor of the reference's state dict under this name.
pub fn synthetic(name: &str, shape: &[usize]) -> Vec<f32> {
    let (scale, shift) = if let [_, fan @ .., last] = shape
        && fan.len() == 2
    {
        ((6.0 / (fan[0] * fan[1] * last) as f64).sqrt(), 0.0)
    } else if name == "fc.weight" {
        ((shape[1] as f64).sqrt().recip(), 0.0)
    } else if name.ends_with("running_var") {
        (0.5, 1.0)
    } else if name.ends_with("running_mean") || name.ends_with("bias") {
        (0.25, 0.0)
    } else {
        (0.25, 1.0)
    };
    let numbers = uniform(name, shape.iter().product());
    numbers.iter().map(|u| (shift + scale * u) as f32).collect()
}

/// The images of a case.
pub fn images<B: Backend>(shape: [usize; 4]) -> Tensor<B, 4> {
    let values = uniform("images", shape.iter().product());
    Tensor::from_data(TensorData::new(values, shape), &Default::default())
}

/// Tensors as a safetensors file has them: name, type, shape and bytes.
pub type Stored = (String, Dtype, Vec<usize>, Vec<u8>);

/// The whole state dict of a case.
pub fn state(case: &Case) -> Vec<Stored> {
    let tensor = |(name, shape): (&String, &Vec<usize>)| {
        if name.ends_with("num_batches_tracked") {
            return (name.clone(), Dtype::I64, shape.clone(), vec![0; 8]);
        }
        let values = synthetic(name, shape);
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        (name.clone(), Dtype::F32, shape.clone(), bytes.collect())
    };
    case.shapes.iter().map(tensor).collect()
}

pub fn write(tensors: &[Stored], path: &Path) {
    let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
        let view = TensorView::new(*dtype, shape.clone(), bytes);
        (name, view.expect("as many bytes as the shape asks for"))
    });
    serialize_to_file(views, None, path).expect("a temporary file can be written");
}

/// A module's float tensors by their paths, and whether they are trained.
pub fn tensors<B: Backend>(module: &impl Module<B>) -> BTreeMap<String, (bool, Vec<f64>)> {
    struct Visitor(Vec<String>, BTreeMap<String, (bool, Vec<f64>)>);

    impl<B: Backend> ModuleVisitor<B> for Visitor {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            let tensor = param.val();
            let entry = (tensor.is_require_grad(), host_values(tensor));
            self.1.insert(self.0.join("."), entry);
        }

        fn enter_module(&mut self, name: &str, _: &str) {
            self.0.push(name.to_owned());
        }

        fn exit_module(&mut self, _: &str, _: &str) {
            self.0.pop();
        }
    }

    let mut visitor = Visitor(Vec::new(), BTreeMap::new());
    module.visit(&mut visitor);
    visitor.1
}

/// Path in the module of the tensor with this name in torchvision's state dict.
pub fn path(name: &str) -> String {
    let (layer, part) = name.rsplit_once('.').expect("layer and part");
    let part = match part {
        "running_mean" => "statistics.mean",
        "running_var" => "statistics.variance",
        part => part,
    };
    let layer = match layer.split('.').collect::<Vec<_>>()[..] {
        ["fc"] => return format!("classifier.{part}"),
        ["conv1"] => "stem.convolution".to_owned(),
        ["bn1"] => "stem.convolution.norm".to_owned(),
        [stage, block, ref inner @ ..] => {
            let stage: usize = stage["layer".len()..].parse().expect("a number");
            let block: usize = block.parse().expect("a number");
            let inner = match inner {
                ["conv1"] => "first",
                ["bn1"] => "first.norm",
                ["conv2"] => "second",
                ["bn2"] => "second.norm",
                ["downsample", "0"] => "shortcut",
                ["downsample", "1"] => "shortcut.norm",
                other => panic!("{other:?}"),
            };
            format!("blocks.{}.{inner}", 2 * (stage - 1) + block)
        }
        ref other => panic!("{other:?}"),
    };
    format!("{layer}.{part}")
}
