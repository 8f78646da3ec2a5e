//! The graph encoder against PyTorch Geometric, and the invariances that it must have.

use std::collections::HashMap;

use burn::module::{AutodiffModule, Module, ModuleMapper, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::graph::{GraphBatch, HostGraphs};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Batches, Encoder, Error, Mode, Seed};
use icl_models::{Gcn, GcnConfig, GraphConvConfig, Readout};
use serde::Deserialize;

type Rows = Vec<Vec<f64>>;

#[derive(Deserialize)]
struct Reference {
    edges: Vec<(usize, usize)>,
    sizes: Vec<usize>,
    features: Rows,
    convolutions: Vec<Convolution>,
    layers: Vec<Rows>,
    target: Rows,
    encodings: HashMap<String, Rows>,
    gradients: HashMap<String, Vec<Rows>>,
}

#[derive(Deserialize)]
struct Convolution {
    weight: Rows,
    bias: Vec<f64>,
    output: Rows,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/gcn.json")).expect("the reference parses")
}

fn matrix<B: Backend>(rows: &Rows) -> Tensor<B, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, &Default::default())
}

pub fn graphs(sizes: &[usize], edges: &[(usize, usize)], features: &Rows) -> HostGraphs {
    let n_nodes: usize = sizes.iter().sum();
    let mut neighbours = vec![Vec::new(); n_nodes];
    for &(a, b) in edges {
        neighbours[a].push(b as i32);
        neighbours[b].push(a as i32);
    }
    let mut host = HostGraphs {
        offsets: vec![0],
        pointers: vec![0],
        d_features: features[0].len(),
        features: features.concat().iter().map(|&x| x as f32).collect(),
        ..Default::default()
    };
    for size in sizes {
        host.offsets
            .push(host.offsets[host.offsets.len() - 1] + *size as u32);
    }
    for list in neighbours {
        host.neighbours.extend(list);
        host.pointers.push(host.neighbours.len() as i32);
    }
    host
}

fn batch<B: Backend>(reference: &Reference) -> GraphBatch<B> {
    let host = graphs(&reference.sizes, &reference.edges, &reference.features);
    GraphBatch::new(host, &Default::default())
}

/// Replaces the weights of a module, in the order in which it visits them.
struct SetWeights<'a>(std::slice::Iter<'a, Rows>);

impl<B: Backend> ModuleMapper<B> for SetWeights<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        if D != 2 {
            return param;
        }
        let rows = self.0.next().expect("as many weights as the reference has");
        param.map(|weight| {
            let new = matrix::<B>(rows).reshape(weight.shape());
            new.set_require_grad(weight.is_require_grad())
        })
    }
}

#[test]
fn the_convolution_is_that_of_pytorch_geometric() {
    let reference = reference();
    for expected in &reference.convolutions {
        let (d_input, d_output) = (expected.weight.len(), expected.bias.len());
        let mut convolution = GraphConvConfig::new(d_input, d_output)
            .init::<TestBackend>(Seed::new(0), &Default::default());
        convolution.weight = Param::from_tensor(matrix(&expected.weight));
        let bias = matrix(&vec![expected.bias.clone()]).squeeze_dim(0);
        convolution.bias = Some(Param::from_tensor(bias));
        let batch = batch(&reference);
        let output = convolution.forward(&batch, batch.features.clone());
        assert_close(&to_vec(&output), &expected.output.concat(), 1e-5);
    }
}

#[test]
fn training_pass_and_gradients_are_those_of_pytorch_geometric() {
    let reference = reference();
    for (name, readout) in [
        ("Sum", Readout::Sum),
        ("Mean", Readout::Mean),
        ("Max", Readout::Max),
    ] {
        let encoder = GcnConfig::new(3)
            .with_d_hidden(4)
            .with_dropout(0.0)
            .with_readout(readout)
            .init::<TestAutodiff>(Seed::new(0), &Default::default())
            .map(&mut SetWeights(reference.layers.iter()));
        let mut rng = Seed::new(0).rng();
        let encoding = encoder.encode(batch(&reference), Mode::Training(&mut rng));
        let expected = reference.encodings[name].concat();
        assert_close(&to_vec(&encoding.clone().inner()), &expected, 1e-5);

        let loss = (encoding - matrix(&reference.target)).powi_scalar(2).mean();
        let gradients = loss.backward();
        let mut weights = Weights(Vec::new());
        encoder.visit(&mut weights);
        for (weight, expected) in weights.0.iter().zip(&reference.gradients[name]) {
            let gradient = weight
                .grad(&gradients)
                .expect("every weight has a gradient");
            assert_close(&to_vec(&gradient), &expected.concat(), 1e-5);
        }
    }
}

struct Weights(Vec<Tensor<TestAutodiff, 2>>);

impl burn::module::ModuleVisitor<TestAutodiff> for Weights {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<TestAutodiff, D>>) {
        if D == 2 {
            let tensor = param.val();
            let primitive = tensor.into_primitive();
            self.0.push(Tensor::from_primitive(primitive));
        }
    }
}

fn some_graphs() -> (Vec<usize>, Vec<(usize, usize)>, Rows) {
    let reference = reference();
    (reference.sizes, reference.edges, reference.features)
}

fn evaluate(encoder: &Gcn<TestBackend>, host: HostGraphs) -> Vec<f64> {
    let batch = GraphBatch::new(host, &Default::default());
    to_vec(&encoder.encode(batch, Mode::Evaluation))
}

#[test]
fn the_order_of_nodes_does_not_matter() {
    let (sizes, edges, features) = some_graphs();
    // Nodes of the first graph in reverse.
    let place = |node: usize| if node < 4 { 3 - node } else { node };
    let moved_edges: Vec<_> = edges.iter().map(|&(a, b)| (place(a), place(b))).collect();
    let moved_features: Rows = (0..features.len())
        .map(|node| features[place(node)].clone())
        .collect();
    for readout in [Readout::Sum, Readout::Mean, Readout::Max] {
        let encoder = GcnConfig::new(3)
            .with_readout(readout)
            .init(Seed::new(4), &Default::default());
        let expected = evaluate(&encoder, graphs(&sizes, &edges, &features));
        let moved = evaluate(&encoder, graphs(&sizes, &moved_edges, &moved_features));
        assert_close(&moved, &expected, 1e-5);
    }
}

#[test]
fn recalibration_depends_on_parameters_and_data_alone() {
    let (sizes, edges, features) = some_graphs();
    let whole = graphs(&sizes, &edges, &features);
    let first = graphs(&sizes[..2], &edges[..4], &features[..6].to_vec());
    let shifted: Vec<_> = edges[4..].iter().map(|&(a, b)| (a - 6, b - 6)).collect();
    let second = graphs(&sizes[2..], &shifted, &features[6..].to_vec());
    let device = Default::default();
    let encoder: Gcn<TestBackend> = GcnConfig::new(3).init(Seed::new(4), &device);
    let calibrate = |encoder: Gcn<TestBackend>, parts: Vec<HostGraphs>| {
        let batch = |part: usize| Ok(GraphBatch::new(parts[part].clone(), &device));
        encoder
            .recalibrated(&Batches::new(parts.len(), batch))
            .unwrap()
    };
    let together = calibrate(encoder.clone(), vec![whole.clone()]);
    let apart = calibrate(encoder.clone(), vec![first.clone(), second.clone()]);
    // Other statistics before make no difference.
    let again = calibrate(
        calibrate(encoder.clone(), vec![second]),
        vec![whole.clone()],
    );
    let expected = evaluate(&together, whole.clone());
    assert_close(&evaluate(&apart, whole.clone()), &expected, 1e-5);
    assert_eq!(evaluate(&again, whole.clone()), expected);
    assert_ne!(evaluate(&encoder, whole.clone()), expected);

    // Over the whole data, evaluation then is the training pass without dropout.
    let trained: Gcn<TestAutodiff> = AutodiffModule::from_inner(encoder);
    let mut rng = Seed::new(0).rng();
    let batch = GraphBatch::new(whole, &device);
    let no_dropout = GcnConfig::new(3)
        .with_dropout(0.0)
        .init::<TestAutodiff>(Seed::new(4), &device);
    let encoding = no_dropout
        .load_record(trained.into_record())
        .encode(batch, Mode::Training(&mut rng));
    assert_close(&to_vec(&encoding.inner()), &expected, 1e-4);
}

#[test]
fn a_seed_fixes_weights_and_dropout() {
    let (sizes, edges, features) = some_graphs();
    let device = Default::default();
    let run = |init, dropout| {
        let encoder: Gcn<TestBackend> = GcnConfig::new(3).init(Seed::new(init), &device);
        let batch = GraphBatch::new(graphs(&sizes, &edges, &features), &device);
        to_vec(&encoder.encode(batch, Mode::Training(&mut Seed::new(dropout).rng())))
    };
    assert_eq!(run(1, 1), run(1, 1));
    assert_ne!(run(1, 1), run(2, 1));
    assert_ne!(run(1, 1), run(1, 2));
}

#[test]
fn wrong_configurations_are_rejected() {
    let device = Default::default();
    let error = |config: GcnConfig| {
        config
            .try_init::<TestBackend>(Seed::new(0), &device)
            .unwrap_err()
    };
    for found in [1.0, -0.1, f64::NAN] {
        let expected = Error::new("dropout", found, "a number from 0 to below 1");
        assert_eq!(error(GcnConfig::new(3).with_dropout(found)), expected);
    }
    let empty = |field| Error::new(field, 0, "at least 1");
    assert_eq!(error(GcnConfig::new(0)), empty("d_input"));
    assert_eq!(error(GcnConfig::new(3).with_n_layers(0)), empty("n_layers"));
    for found in [0.0, -1.0, f64::NAN] {
        let number = error(GcnConfig::new(3).with_epsilon(found));
        assert_eq!(number, Error::new("epsilon", found, "a number above 0"));
    }
    let number = error(GcnConfig::new(3).with_negative_slope(f64::INFINITY));
    assert_eq!(
        number,
        Error::new("negative_slope", f64::INFINITY, "a finite number")
    );
}
