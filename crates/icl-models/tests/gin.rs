//! The graph isomorphism network against PyTorch Geometric, its invariances and its statistics.

use burn::backend::Autodiff;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::graph::{GraphBatch, HostGraphs};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Batches, Encoder, Error, Mode, Seed};
use icl_models::{Gin, GinConfig};
use serde::Deserialize;

use crate::gcn::graphs;
use crate::parameters::{matrix, replaced, shapes, vector};
use crate::synthetic::tensors;

type Rows = Vec<Vec<f64>>;

/// Values computed by scripts/reference/gin.py.
#[derive(Deserialize)]
struct Reference {
    d_hidden: usize,
    n_layers: usize,
    edges: Vec<(usize, usize)>,
    sizes: Vec<usize>,
    features: Rows,
    target: Rows,
    cases: Vec<Case>,
}

/// An encoder with one ε.
#[derive(Deserialize)]
struct Case {
    epsilon: f64,
    parameters: Rows,
    encoding: Rows,
    gradients: Rows,
    meta_gradients: Rows,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/gin.json")).expect("the reference parses")
}

impl Reference {
    fn host(&self) -> HostGraphs {
        graphs(&self.sizes, &self.edges, &self.features)
    }

    fn batch<B: Backend>(&self) -> GraphBatch<B> {
        GraphBatch::new(self.host(), &Default::default())
    }

    fn config(&self) -> GinConfig {
        GinConfig::new(self.features[0].len())
            .with_d_hidden(self.d_hidden)
            .with_n_layers(self.n_layers)
    }

    /// The encoder of a case with these elements as parameters.
    fn encoder<B: Backend>(&self, case: &Case, parameters: &[Tensor<B, 1>]) -> Gin<B> {
        let config = self.config().with_epsilon_gin(case.epsilon);
        let encoder = config.init(Seed::new(0), &Default::default());
        replaced(encoder, parameters)
    }

    /// The mean squared error of a training pass.
    fn loss<B: Backend>(&self, encoder: &Gin<B>) -> Tensor<B, 1> {
        let output = training(encoder, self.batch());
        (output - matrix(&self.target)).powi_scalar(2).mean()
    }
}

fn training<B: Backend>(encoder: &Gin<B>, batch: GraphBatch<B>) -> Tensor<B, 2> {
    encoder.encode(batch, Mode::Training(&mut Seed::new(0).rng()))
}

#[test]
fn training_pass_and_gradients_are_those_of_pytorch_geometric() {
    let reference = reference();
    for case in &reference.cases {
        let parameters: Vec<Tensor<TestAutodiff, 1>> = case
            .parameters
            .iter()
            .map(|values| vector(values).require_grad())
            .collect();
        let encoder = reference.encoder(case, &parameters);
        let output = training(&encoder, reference.batch());
        // Three normalisations of 12 nodes each, with columns that are almost constant after ReLU.
        assert_close(&to_vec(&output), &case.encoding.concat(), 1e-5);

        let gradients = reference.loss(&encoder).backward();
        for (parameter, expected) in parameters.iter().zip(&case.gradients) {
            let gradient = parameter.grad(&gradients).expect("a gradient");
            assert_close(&to_vec(&gradient), expected, 1e-5);
        }
    }
}

#[test]
fn the_gradient_through_a_step_of_descent_is_that_of_pytorch_geometric() {
    type Twice = Autodiff<TestAutodiff>;
    let reference = reference();
    for case in &reference.cases {
        let parameters: Vec<Tensor<TestAutodiff, 1>> = case
            .parameters
            .iter()
            .map(|values| vector(values).require_grad())
            .collect();
        let outer: Vec<Tensor<Twice, 1>> = parameters
            .iter()
            .map(|parameter| Tensor::from_inner(parameter.clone()).require_grad())
            .collect();
        let gradients = reference.loss(&reference.encoder(case, &outer)).backward();
        let moved: Vec<Tensor<TestAutodiff, 1>> = outer
            .iter()
            .zip(&parameters)
            .map(|(outer, parameter)| {
                parameter.clone() - outer.grad(&gradients).expect("a gradient") * 0.01
            })
            .collect();
        let gradients = reference.loss(&reference.encoder(case, &moved)).backward();
        for (parameter, expected) in parameters.iter().zip(&case.meta_gradients) {
            let gradient = parameter.grad(&gradients).expect("a gradient");
            // Two passes in single precision through three normalisations of 12 nodes each.
            assert_close(&to_vec(&gradient), expected, 5e-5);
        }
    }
}

#[test]
fn the_order_of_nodes_does_not_matter() {
    let reference = reference();
    // Nodes of the first graph in reverse.
    let place = |node: usize| if node < 4 { 3 - node } else { node };
    let edges: Vec<_> = reference
        .edges
        .iter()
        .map(|&(a, b)| (place(a), place(b)))
        .collect();
    let features: Rows = (0..reference.features.len())
        .map(|node| reference.features[place(node)].clone())
        .collect();
    let device = Default::default();
    let encoder: Gin<TestBackend> = reference.config().init(Seed::new(4), &device);
    let expected = to_vec(&training(&encoder, reference.batch()));
    let moved = GraphBatch::new(graphs(&reference.sizes, &edges, &features), &device);
    assert_close(&to_vec(&training(&encoder, moved)), &expected, 1e-5);
}

#[test]
fn graphs_of_a_batch_do_not_touch_each_other_in_evaluation() {
    let reference = reference();
    let device = Default::default();
    let config = reference.config().with_epsilon_gin(0.3);
    let encoder: Gin<TestBackend> = config.init(Seed::new(4), &device);
    let together = to_vec(&encoder.embed(reference.batch()));
    let width = reference.n_layers * reference.d_hidden;
    let mut first = 0;
    for (graph, expected) in together.chunks(width).enumerate() {
        let nodes = first..first + reference.sizes[graph];
        let edges = reference.edges.iter().filter(|(a, _)| nodes.contains(a));
        let edges: Vec<_> = edges.map(|&(a, b)| (a - first, b - first)).collect();
        let features = reference.features[nodes.clone()].to_vec();
        let alone = graphs(&reference.sizes[graph..=graph], &edges, &features);
        let alone = encoder.embed(GraphBatch::new(alone, &device));
        assert_close(&to_vec(&alone), expected, 1e-5);
        first = nodes.end;
    }
}

fn recalibrated<B: Backend>(encoder: Gin<B>, batches: &[GraphBatch<B>]) -> Gin<B> {
    let batches = Batches::new(batches.len(), |at| Ok(batches[at].clone()));
    encoder.recalibrated(&batches).unwrap()
}

#[test]
fn recalibration_depends_on_parameters_and_batches_alone() {
    let reference = reference();
    let device = Default::default();
    let config = reference.config().with_projection(Some(2));
    let encoder: Gin<TestBackend> = config.init(Seed::new(4), &device);
    let batches: [GraphBatch<TestBackend>; 2] = [
        reference.batch(),
        GraphBatch::new(
            graphs(
                &[3, 2],
                &[(0, 1), (3, 4)],
                &reference.features[..5].to_vec(),
            ),
            &device,
        ),
    ];
    let fresh = tensors(&encoder);
    let once = tensors(&recalibrated(encoder.clone(), &batches));
    assert_eq!(tensors(&encoder), fresh, "clones have their own statistics");
    let other = recalibrated(encoder.clone(), &batches[1..]);
    assert_ne!(tensors(&other), once);
    assert_eq!(tensors(&recalibrated(other, &batches)), once);
    for (path, (_, values)) in &once {
        assert_eq!(
            path.contains("statistics"),
            *values != fresh[path].1,
            "{path}"
        );
    }
    // Over one batch, evaluation then is the training pass.
    let encoder = recalibrated(encoder, &batches[..1]);
    let expected = to_vec(&training(&encoder, reference.batch()));
    let found = encoder.encode(reference.batch(), Mode::Evaluation);
    assert_eq!(found.dims(), [4, 2]);
    assert_close(&to_vec(&found), &expected, 1e-5);
    assert_eq!(encoder.embed(reference.batch()).dims(), [4, 12]);
}

#[test]
fn the_tensors_are_those_of_the_module() {
    let device = Default::default();
    for config in [
        GinConfig::new(3),
        GinConfig::new(3).with_n_layers(1).with_projection(Some(5)),
        GinConfig::new(7)
            .with_d_hidden(4)
            .with_projection(Some(5))
            .with_n_projection_layers(4),
    ] {
        let encoder = config.init::<TestBackend>(Seed::new(0), &device);
        assert_eq!(config.tensors().collect::<Vec<_>>(), shapes(&encoder));
    }
}

#[test]
fn a_seed_fixes_the_weights_and_a_head_does_not_move_them() {
    let encoder = |config: GinConfig, seed| {
        tensors(&config.init::<TestBackend>(Seed::new(seed), &Default::default()))
    };
    let plain = encoder(GinConfig::new(3), 1);
    assert_eq!(plain, encoder(GinConfig::new(3), 1));
    assert_ne!(plain, encoder(GinConfig::new(3), 2));
    let with_head = encoder(GinConfig::new(3).with_projection(Some(4)), 1);
    assert!(
        plain
            .iter()
            .all(|(path, tensor)| with_head[path] == *tensor)
    );
}

#[test]
#[should_panic(expected = "node features have 3 columns, the encoder takes 4")]
fn features_of_other_widths_are_misuse() {
    let encoder: Gin<TestBackend> = GinConfig::new(4).init(Seed::new(0), &Default::default());
    encoder.embed(reference().batch());
}

#[test]
fn wrong_configurations_are_rejected() {
    for (config, field) in [
        (GinConfig::new(0), "d_input"),
        (GinConfig::new(3).with_d_hidden(0), "d_hidden"),
        (GinConfig::new(3).with_n_layers(0), "n_layers"),
        (GinConfig::new(3).with_projection(Some(0)), "projection"),
        (
            GinConfig::new(3).with_n_projection_layers(0),
            "n_projection_layers",
        ),
    ] {
        let error = config.try_init::<TestBackend>(Seed::new(0), &Default::default());
        assert_eq!(error.unwrap_err(), Error::new(field, 0, "at least 1"));
    }
    for found in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = GinConfig::new(3).with_epsilon(found).check().unwrap_err();
        let expected = format!("epsilon: found {found}, expected a number above 0");
        assert_eq!(error.to_string(), expected);
    }
    for found in [f64::NAN, f64::INFINITY] {
        let error = GinConfig::new(3)
            .with_epsilon_gin(found)
            .check()
            .unwrap_err();
        let expected = format!("epsilon_gin: found {found}, expected a finite number");
        assert_eq!(error.to_string(), expected);
    }
}
