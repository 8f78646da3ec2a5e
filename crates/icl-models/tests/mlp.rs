//! The multilayer perceptron against PyTorch, its statistics and its learning.

use burn::backend::Autodiff;
use burn::module::AutodiffModule;
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::{Tensor, backend::Backend};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Batches, Encoder, Error, Mode, Seed};
use icl_models::{Mlp, MlpConfig};
use serde::Deserialize;

use crate::parameters::{matrix, replaced, shapes, vector};
use crate::synthetic::tensors;

type Rows = Vec<Vec<f64>>;

/// Values computed by scripts/reference/mlp.py.
#[derive(Deserialize)]
struct Reference {
    d_input: usize,
    width: usize,
    d_output: usize,
    n_layers: usize,
    parameters: Rows,
    rows: Rows,
    target: Rows,
    training: Rows,
    gradients: Rows,
    meta_gradients: Rows,
    other_rows: Rows,
    evaluation: Rows,
    embedding: Rows,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/mlp.json")).expect("the reference parses")
}

impl Reference {
    /// The encoder with these elements as parameters.
    fn encoder<B: Backend>(&self, parameters: &[Tensor<B, 1>]) -> Mlp<B> {
        let encoder = MlpConfig::new(self.d_input)
            .with_n_layers(self.n_layers)
            .with_width(self.width)
            .with_projection(Some(self.d_output))
            .init(Seed::new(0), &Default::default());
        replaced(encoder, parameters)
    }

    /// The mean squared error of a training pass.
    fn loss<B: Backend>(&self, encoder: &Mlp<B>) -> Tensor<B, 1> {
        let output = training(encoder, matrix(&self.rows));
        (output - matrix(&self.target)).powi_scalar(2).mean()
    }
}

fn training<B: Backend>(encoder: &Mlp<B>, rows: Tensor<B, 2>) -> Tensor<B, 2> {
    encoder.encode(rows, Mode::Training(&mut Seed::new(0).rng()))
}

fn recalibrated<B: Backend>(encoder: Mlp<B>, batches: &[Tensor<B, 2>]) -> Mlp<B> {
    let batches = Batches::new(batches.len(), |at| Ok(batches[at].clone()));
    encoder.recalibrated(&batches).unwrap()
}

#[test]
fn passes_and_gradients_are_those_of_pytorch() {
    let reference = reference();
    let parameters: Vec<Tensor<TestAutodiff, 1>> = reference
        .parameters
        .iter()
        .map(|values| vector(values).require_grad())
        .collect();
    let encoder = reference.encoder(&parameters);
    let output = training(&encoder, matrix(&reference.rows));
    assert_close(&to_vec(&output), &reference.training.concat(), 1e-5);

    let gradients = reference.loss(&encoder).backward();
    for (parameter, expected) in parameters.iter().zip(&reference.gradients) {
        let gradient = parameter.grad(&gradients).expect("a gradient");
        assert_close(&to_vec(&gradient), expected, 1e-5);
    }

    let encoder = recalibrated(encoder.valid(), &[matrix(&reference.rows)]);
    let rows = matrix(&reference.other_rows);
    let output = encoder.encode(rows.clone(), Mode::Evaluation);
    assert_close(&to_vec(&output), &reference.evaluation.concat(), 1e-5);
    let embedding = encoder.embed(rows);
    assert_close(&to_vec(&embedding), &reference.embedding.concat(), 1e-5);
}

#[test]
fn the_gradient_through_a_step_of_descent_is_that_of_pytorch() {
    type Twice = Autodiff<TestAutodiff>;
    let reference = reference();
    let parameters: Vec<Tensor<TestAutodiff, 1>> = reference
        .parameters
        .iter()
        .map(|values| vector(values).require_grad())
        .collect();
    let outer: Vec<Tensor<Twice, 1>> = parameters
        .iter()
        .map(|parameter| Tensor::from_inner(parameter.clone()).require_grad())
        .collect();
    let gradients = reference.loss(&reference.encoder(&outer)).backward();
    let moved: Vec<Tensor<TestAutodiff, 1>> = outer
        .iter()
        .zip(&parameters)
        .map(|(outer, parameter)| {
            parameter.clone() - outer.grad(&gradients).expect("a gradient") * 0.1
        })
        .collect();
    let gradients = reference.loss(&reference.encoder(&moved)).backward();
    for (parameter, expected) in parameters.iter().zip(&reference.meta_gradients) {
        let gradient = parameter.grad(&gradients).expect("a gradient");
        // Two passes in single precision through five normalisations of nine rows each.
        assert_close(&to_vec(&gradient), expected, 5e-5);
    }
}

/// Rows of 5 columns.
fn some_rows<B: Backend>(seed: u64, n: usize) -> Tensor<B, 2> {
    use rand::RngExt;
    let mut rng = Seed::new(seed).rng();
    let row = |_| (0..5).map(|_| rng.random_range(-1.0..1.5)).collect();
    let rows: Rows = (0..n).map(row).collect();
    matrix(&rows)
}

fn small_config() -> MlpConfig {
    MlpConfig::new(5).with_width(7).with_projection(Some(3))
}

fn small<B: Backend>(seed: u64) -> Mlp<B> {
    small_config().init(Seed::new(seed), &Default::default())
}

#[test]
fn the_tensors_are_those_of_the_module() {
    let device = Default::default();
    let configs = [
        small_config(),
        small_config().with_projection(None).with_n_layers(1),
        small_config().with_n_projection_layers(1),
        small_config().with_n_projection_layers(2),
        small_config().with_n_projection_layers(5).with_n_layers(12),
    ];
    for config in configs {
        let encoder = config.init::<TestBackend>(Seed::new(0), &device);
        assert_eq!(config.tensors().collect::<Vec<_>>(), shapes(&encoder));
    }
}

#[test]
fn a_seed_fixes_the_weights_and_a_head_does_not_move_them() {
    let encoder = |config: MlpConfig, seed| {
        tensors(&config.init::<TestBackend>(Seed::new(seed), &Default::default()))
    };
    let plain = encoder(small_config().with_projection(None), 1);
    assert_eq!(plain, encoder(small_config().with_projection(None), 1));
    assert_ne!(plain, encoder(small_config().with_projection(None), 2));
    let with_head = encoder(small_config(), 1);
    assert!(
        plain
            .iter()
            .all(|(path, tensor)| with_head[path] == *tensor)
    );
    let bound = 5.0_f64.sqrt().recip();
    let first = &plain["layers.0.weight"].1;
    assert!(first.iter().all(|weight| weight.abs() <= bound));
    assert!(first.iter().any(|weight| weight.abs() > 0.8 * bound));
}

#[test]
fn recalibration_depends_on_parameters_and_batches_alone() {
    let encoder = small::<TestBackend>(3);
    let batches = [some_rows(1, 5), some_rows(2, 3)];
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
    // The same numbers on a backend with gradients, where parameters stay trained.
    let after = recalibrated(
        small::<TestAutodiff>(3),
        &[some_rows(1, 5), some_rows(2, 3)],
    );
    for (path, (is_trained, values)) in tensors(&after) {
        assert_eq!(is_trained, !path.contains("statistics"), "{path}");
        assert_eq!(values, once[&path].1, "{path}");
    }
}

#[test]
fn over_one_batch_evaluation_is_then_the_training_pass() {
    let rows = some_rows::<TestBackend>(1, 6);
    let encoder = recalibrated(small(3), std::slice::from_ref(&rows));
    let expected = to_vec(&training(&encoder, rows.clone()));
    let found = encoder.encode(rows, Mode::Evaluation);
    assert_close(&to_vec(&found), &expected, 1e-5);
}

#[test]
fn it_learns_and_all_parameters_move() {
    let mut encoder = small::<TestAutodiff>(5);
    let before = tensors(&encoder);
    let rows = some_rows::<TestAutodiff>(1, 12);
    let target = rows.clone().narrow(1, 0, 3).powi_scalar(2);
    let mut optimizer = AdamConfig::new().init();
    let mut losses = Vec::new();
    for _ in 0..40 {
        let output = training(&encoder, rows.clone());
        let loss = (output - target.clone()).powi_scalar(2).mean();
        losses.push(to_vec(&loss)[0]);
        let gradients = GradientsParams::from_grads(loss.backward(), &encoder);
        encoder = optimizer.step(1e-2, encoder, gradients);
    }
    assert!(losses[39] < 0.1 * losses[0], "{losses:?}");
    for (path, (is_trained, values)) in tensors(&encoder) {
        assert_eq!(is_trained, values != before[&path].1, "{path}");
    }
}

#[test]
#[should_panic(expected = "rows have 5 columns, the encoder takes 4")]
fn rows_of_other_widths_are_misuse() {
    let encoder: Mlp<TestBackend> = MlpConfig::new(4).init(Seed::new(0), &Default::default());
    encoder.embed(some_rows(0, 2));
}

#[test]
#[should_panic(expected = "statistics need at least one batch")]
fn statistics_of_no_batch_are_misuse() {
    recalibrated(small::<TestBackend>(0), &[]);
}

#[test]
fn wrong_configurations_are_rejected() {
    for (config, field) in [
        (MlpConfig::new(0), "d_input"),
        (MlpConfig::new(3).with_n_layers(0), "n_layers"),
        (MlpConfig::new(3).with_width(0), "width"),
        (MlpConfig::new(3).with_projection(Some(0)), "projection"),
        (
            MlpConfig::new(3).with_n_projection_layers(0),
            "n_projection_layers",
        ),
    ] {
        let error = config.try_init::<TestBackend>(Seed::new(0), &Default::default());
        let error = error.unwrap_err();
        assert_eq!(error, Error::new(field, 0, "at least 1"));
        let expected = format!("{field}: found 0, expected at least 1");
        assert_eq!(error.to_string(), expected);
    }
    for found in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = MlpConfig::new(3).with_epsilon(found).check().unwrap_err();
        let expected = format!("epsilon: found {found}, expected a number above 0");
        assert_eq!(error.to_string(), expected);
    }
}
