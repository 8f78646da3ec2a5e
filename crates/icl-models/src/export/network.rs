//! The networks of the encoders that can be ONNX models, with the names of weights of their state dicts.

use icl_kernels::image::Window;

use super::onnx::{Axis, Element, Model, equal_ints, int};
use super::proto::AttributeProto;
use crate::convnet::{ConvNetConfig, N_LAYERS, WINDOW};
use crate::mlp::MlpConfig;
use crate::resnet::{D_FEATURES, ResNetConfig, STAGES};

/// Returns the network of an MLP on the features of a table, which it standardises.
pub(super) fn table_mlp(config: &MlpConfig) -> Model {
    let axes = vec![Axis::Free("batch"), Axis::Fixed(config.d_input)];
    let mut model = Model::new(("rows", Element::F64, axes), config.width);
    let input = model.input();
    // An encoder's features have single precision, and are standardised in double precision.
    let shifted = model.add("Sub", [&input, "offset"], Vec::new());
    let rounded = model.add("Cast", [&shifted], vec![int("to", Element::F32 as i64)]);
    let exact = model.add("Cast", [&rounded], vec![int("to", Element::F64 as i64)]);
    let centred = model.add("Sub", [&exact, "mean"], Vec::new());
    let scaled = model.add("Div", [&centred, "sd"], Vec::new());
    let x = model.add("Cast", [&scaled], vec![int("to", Element::F32 as i64)]);
    hidden_layers(&mut model, x, config);
    model
}

/// Returns the network of an MLP on the pixels of images with so many channels and this side.
pub(super) fn image_mlp(config: &MlpConfig, channels: usize, side: usize) -> Model {
    let axes = vec![
        Axis::Free("batch"),
        Axis::Fixed(channels),
        Axis::Fixed(side),
        Axis::Fixed(side),
    ];
    let mut model = Model::new(("images", Element::F32, axes), config.width);
    let input = model.input();
    let x = model.add("Flatten", [&input], vec![int("axis", 1)]);
    hidden_layers(&mut model, x, config);
    model
}

/// Adds relu(norm(x·W)) for each layer of an MLP.
fn hidden_layers(model: &mut Model, mut x: String, config: &MlpConfig) {
    for layer in 0..config.n_layers {
        let weight = format!("layers.{layer}.linear.weight");
        let product = model.add("Gemm", [&x, &weight], vec![int("transB", 1)]);
        let normal = model.batch_norm(&product, &format!("layers.{layer}.norm"), config.epsilon);
        x = model.add("Relu", [&normal], Vec::new());
    }
}

/// Returns the network of a ResNet-18.
pub(super) fn resnet(config: &ResNetConfig) -> Model {
    let mut model = model_of_images(config.in_channels, D_FEATURES);
    let (input, epsilon) = (model.input(), config.epsilon);
    let stem = convolution(
        &mut model,
        &input,
        ["conv1", "bn1"],
        config.stem.window(),
        epsilon,
    );
    let mut x = model.add("Relu", [&stem], Vec::new());
    if let Some(pool) = config.stem.pool() {
        x = model.add("MaxPool", [&x], windowed(pool));
    }
    for block in 0..2 * STAGES.len() {
        x = residual_block(&mut model, x, block, epsilon);
    }
    means_over_places(&mut model, &x);
    model
}

/// Returns the network of a ConvNet.
pub(super) fn convnet(config: &ConvNetConfig) -> Model {
    let mut model = model_of_images(config.in_channels, config.d_features());
    let mut x = model.input();
    for layer in 0..N_LAYERS {
        let names = ["convolution", "norm"].map(|part| format!("layers.{layer}.{part}"));
        let y = convolution(
            &mut model,
            &x,
            names.each_ref().map(|it| &it[..]),
            WINDOW,
            config.epsilon,
        );
        x = model.add("Relu", [&y], Vec::new());
    }
    means_over_places(&mut model, &x);
    model
}

/// Begins a model of images of any height and width with so many channels, and of embeddings of width `d`.
fn model_of_images(channels: usize, d: usize) -> Model {
    let axes = vec![
        Axis::Free("batch"),
        Axis::Fixed(channels),
        Axis::Free("height"),
        Axis::Free("width"),
    ];
    Model::new(("images", Element::F32, axes), d)
}

/// Adds the means over height and width.
fn means_over_places(model: &mut Model, x: &str) {
    let means = model.add("GlobalAveragePool", [x], Vec::new());
    model.add("Flatten", [&means], vec![int("axis", 1)]);
}

/// Adds relu(norm(relu(norm(x ∗ W₁)) ∗ W₂) + shortcut(x)).
fn residual_block(model: &mut Model, x: String, block: usize, epsilon: f64) -> String {
    let narrows = block > 0 && block.is_multiple_of(2);
    let stride = if narrows { 2 } else { 1 };
    let at = |part: &str| format!("layer{}.{}.{part}", block / 2 + 1, block % 2);
    let window = |size, stride| Window {
        size,
        stride,
        padding: size / 2,
    };
    let shortcut = match narrows {
        true => {
            let names = [at("downsample.0"), at("downsample.1")];
            convolution(model, &x, [&names[0], &names[1]], window(1, 2), epsilon)
        }
        false => x.clone(),
    };
    let y = convolution(
        model,
        &x,
        [&at("conv1"), &at("bn1")],
        window(3, stride),
        epsilon,
    );
    let y = model.add("Relu", [&y], Vec::new());
    let y = convolution(model, &y, [&at("conv2"), &at("bn2")], window(3, 1), epsilon);
    let sum = model.add("Add", [&y, &shortcut], Vec::new());
    model.add("Relu", [&sum], Vec::new())
}

/// Adds norm(x ∗ W).
fn convolution(
    model: &mut Model,
    x: &str,
    [name, norm]: [&str; 2],
    window: Window,
    epsilon: f64,
) -> String {
    let weight = format!("{name}.weight");
    let y = model.add("Conv", [x, &weight], windowed(window));
    model.batch_norm(&y, norm, epsilon)
}

/// Returns the attributes of a window that is as high as wide.
fn windowed(window: Window) -> Vec<AttributeProto> {
    vec![
        equal_ints::<2>("kernel_shape", window.size),
        equal_ints::<2>("strides", window.stride),
        equal_ints::<4>("pads", window.padding),
    ]
}
