//! Activations of hidden units, and units that begin anew, against plain loops over the elements of all tensors.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::graph::{GraphBatch, HostGraphs};
use icl_core::testing::{TestAutodiff, assert_close, to_vec};
use icl_core::{Encoder, Mode, Seed};
use icl_models::{
    GcnConfig, GinConfig, Mlp, MlpConfig, ProjectionHead, ProjectionHeadConfig, ResNetConfig, Stem,
};

use crate::parameters::{matrix, shapes};
use crate::synthetic::tensors;

type B = TestAutodiff;

/// Places of a unit in the tensors of an encoder: name, axis of the units, and the place of the first.
struct Units {
    incoming: Vec<(String, usize)>,
    outgoing: Vec<(String, usize, usize)>,
}

fn units(incoming: &[(&str, usize)], outgoing: &[(&str, usize, usize)]) -> Units {
    let incoming = incoming
        .iter()
        .map(|(name, axis)| ((*name).to_owned(), *axis));
    let outgoing = outgoing.iter();
    Units {
        incoming: incoming.collect(),
        outgoing: outgoing
            .map(|(name, axis, first)| ((*name).to_owned(), *axis, *first))
            .collect(),
    }
}

/// Checks that every third unit of every layer begins anew, and that nothing else changes.
fn check<E>(encoder: &E, fresh: &E, batch: E::Batch, layers: &[Units])
where
    E: Encoder<B>,
{
    let activations = encoder.hidden_activations(batch.clone()).unwrap();
    assert_eq!(activations.len(), layers.len());
    let chosen: Vec<Vec<bool>> = activations
        .iter()
        .map(|layer| (0..layer.dims()[1]).map(|unit| unit % 3 == 1).collect())
        .collect();
    assert!(activations.iter().all(|layer| layer.dims()[0] > 0));

    let before = tensors(encoder);
    let of_fresh = tensors(fresh);
    let after = tensors(&encoder.clone().with_fresh_units(fresh, &chosen).unwrap());
    assert_eq!(tensors(encoder), before);
    let shapes: BTreeMap<String, Vec<usize>> = shapes(encoder).into_iter().collect();
    let mut n_changed = 0;
    for (name, (is_trained, values)) in &after {
        let shape = &shapes[name];
        let place = |element: usize, axis: usize| {
            element / shape[axis + 1..].iter().product::<usize>() % shape[axis]
        };
        for (element, found) in values.iter().enumerate() {
            let mut expected = before[name].1[element];
            for (layer, chosen) in layers.iter().zip(&chosen) {
                for (other, axis) in &layer.incoming {
                    if other == name && chosen[place(element, *axis)] {
                        expected = of_fresh[name].1[element];
                    }
                }
            }
            for (layer, chosen) in layers.iter().zip(&chosen) {
                for (other, axis, first) in &layer.outgoing {
                    let unit = (other == name).then(|| place(element, *axis));
                    let unit = unit.and_then(|unit| unit.checked_sub(*first));
                    if unit.is_some_and(|unit| chosen.get(unit) == Some(&true)) {
                        expected = 0.0;
                    }
                }
            }
            assert_eq!(*found, expected, "{name}, element {element}");
            n_changed += usize::from(*found != before[name].1[element]);
        }
        assert_eq!(*is_trained, before[name].0, "{name}");
    }
    assert!(n_changed > layers.len());
}

fn rows() -> Vec<Vec<f64>> {
    let row = |i: i32| (0..4).map(|j| f64::from((3 * i + 5 * j) % 7 - 3)).collect();
    (0..9).map(row).collect()
}

/// A path of three nodes and a single node, with three features.
fn graphs() -> GraphBatch<B> {
    let graphs = HostGraphs {
        offsets: vec![0, 3, 4],
        pointers: vec![0, 1, 3, 4, 4],
        neighbours: vec![1, 0, 2, 1],
        features: (0..12).map(|i| (i * 7 % 5) as f32 - 2.0).collect(),
        d_features: 3,
    };
    GraphBatch::new(graphs, &Default::default())
}

#[test]
fn units_of_a_perceptron_begin_anew() {
    let config = MlpConfig::new(4).with_n_layers(2).with_width(5);
    let with_head = config.clone().with_projection(Some(3));
    let layer = |name: &str, next: &str| {
        let at = |part: &str| format!("{name}.{part}");
        Units {
            incoming: vec![
                (at("weight"), 1),
                (at("norm.weight"), 0),
                (at("norm.bias"), 0),
            ],
            outgoing: vec![(format!("{next}.weight"), 0, 0)],
        }
    };
    for (config, layers) in [
        (
            with_head,
            vec![
                layer("layers.0", "layers.1"),
                layer("layers.1", "projection.hidden"),
                layer("projection.hidden", "projection.deeper.0"),
                layer("projection.deeper.0", "projection.output"),
            ],
        ),
        (
            config,
            vec![layer("layers.0", "layers.1"), layer("layers.1", "none")],
        ),
    ] {
        let [encoder, fresh] =
            [1, 2].map(|seed| config.init::<B>(Seed::new(seed), &Default::default()));
        // A fresh layer has γ = 1 and β = 0, as this one would have.
        let encoder = assigned(encoder, "layers.0.norm.weight", &[0.5, 2.0, 1.5, -1.0, 3.0]);
        let encoder = assigned(encoder, "layers.1.norm.bias", &[0.5, 0.2, 0.1, 0.3, 0.4]);
        check(&encoder, &fresh, matrix(&rows()), &layers);
    }
}

#[test]
fn units_of_graph_networks_begin_anew() {
    let config = GcnConfig::new(3).with_d_hidden(4);
    let [encoder, fresh] =
        [1, 2].map(|seed| config.init::<B>(Seed::new(seed), &Default::default()));
    let layers = [
        units(
            &[("convolutions.0.weight", 1)],
            &[("convolutions.1.weight", 0, 0)],
        ),
        units(&[("convolutions.1.weight", 1)], &[]),
    ];
    check(&encoder, &fresh, graphs(), &layers);

    let hidden = |layer: usize| {
        let at = |name: &str| format!("layers.{layer}.{name}");
        Units {
            incoming: vec![(at("first.weight"), 1), (at("first.bias"), 0)],
            outgoing: vec![(at("second.weight"), 0, 0)],
        }
    };
    let outer = |layer: usize, head: &str| {
        let at = |name: &str| format!("layers.{layer}.{name}");
        let next = format!("layers.{}.first.weight", layer + 1);
        Units {
            incoming: vec![
                (at("second.weight"), 1),
                (at("second.bias"), 0),
                (at("norm.weight"), 0),
                (at("norm.bias"), 0),
            ],
            outgoing: vec![(next, 0, 0), (head.to_owned(), 0, 4 * layer)],
        }
    };
    for (n_head, head) in [
        (2, "projection.hidden.weight"),
        (1, "projection.output.weight"),
    ] {
        let config = GinConfig::new(3)
            .with_n_layers(2)
            .with_d_hidden(4)
            .with_projection(Some(3))
            .with_n_projection_layers(n_head);
        let [encoder, fresh] =
            [1, 2].map(|seed| config.init::<B>(Seed::new(seed), &Default::default()));
        let mut layers = vec![hidden(0), outer(0, head), hidden(1), outer(1, head)];
        if n_head == 2 {
            layers.push(units(
                &[
                    ("projection.hidden.weight", 1),
                    ("projection.hidden.norm.weight", 0),
                    ("projection.hidden.norm.bias", 0),
                ],
                &[("projection.output.weight", 0, 0)],
            ));
        }
        check(&encoder, &fresh, graphs(), &layers);
    }
}

#[test]
fn channels_within_residual_blocks_begin_anew() {
    let config = ResNetConfig::new(1)
        .with_stem(Stem::Small)
        .with_projection(Some(3));
    let [encoder, fresh] =
        [1, 2].map(|seed| config.init::<B>(Seed::new(seed), &Default::default()));
    let block = |at: usize| {
        let name = |part: &str| format!("blocks.{at}.{part}");
        Units {
            incoming: vec![
                (name("first.weight"), 0),
                (name("first.norm.weight"), 0),
                (name("first.norm.bias"), 0),
            ],
            outgoing: vec![(name("second.weight"), 1, 0)],
        }
    };
    let mut layers: Vec<Units> = (0..8).map(block).collect();
    // The hidden layer of this head is not normalised.
    layers.push(units(
        &[
            ("projection.hidden.weight", 1),
            ("projection.hidden.bias", 0),
        ],
        &[("projection.output.weight", 0, 0)],
    ));
    let images: Vec<f32> = (0..128)
        .map(|i| (i * 11 % 13) as f32 / 13.0 - 0.5)
        .collect();
    let images = Tensor::from_data(TensorData::new(images, [2, 1, 8, 8]), &Default::default());
    check(&encoder, &fresh, images, &layers);
}

/// Sets a tensor of a module by its path.
fn assigned<M: Module<B>>(module: M, name: &str, values: &[f64]) -> M {
    struct Assign<'a>(Vec<String>, &'a str, &'a [f64]);

    impl<B: Backend> ModuleMapper<B> for Assign<'_> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
            if self.0.join(".") != self.1 {
                return param;
            }
            let data = TensorData::new(self.2.to_vec(), param.val().dims());
            let new = Tensor::from_data(data, &param.val().device());
            Param::initialized(param.id, new.require_grad())
        }

        fn enter_module(&mut self, name: &str, _: &str) {
            self.0.push(name.to_owned());
        }

        fn exit_module(&mut self, _: &str, _: &str) {
            self.0.pop();
        }
    }

    module.map(&mut Assign(Vec::new(), name, values))
}

/// relu(γ·x·W/√(1 + ε) + β), at the statistics of a fresh encoder: mean 0 and variance 1.
fn layer_by_loops(encoder: &Mlp<B>, name: &str, x: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let tensors = tensors(encoder);
    let of = |part: &str| &tensors[&format!("{name}.{part}")].1;
    let (weight, gamma, beta) = (of("weight"), of("norm.weight"), of("norm.bias"));
    let unit = |row: &Vec<f64>, j: usize| {
        let mut z = 0.0;
        for (i, x) in row.iter().enumerate() {
            z += x * weight[i * gamma.len() + j];
        }
        (gamma[j] * z / (1.0 + 1e-5_f64).sqrt() + beta[j]).max(0.0)
    };
    x.iter()
        .map(|row| (0..gamma.len()).map(|j| unit(row, j)).collect())
        .collect()
}

#[test]
fn dead_units_are_reset_without_a_change_of_the_output() {
    let config = MlpConfig::new(4)
        .with_n_layers(2)
        .with_width(5)
        .with_projection(Some(3));
    let init = |seed| config.init::<B>(Seed::new(seed), &Default::default());
    // Units 1 and 4 of the first layer and unit 2 of the second are never active.
    let encoder = assigned(
        init(1),
        "layers.0.norm.bias",
        &[0.0, -99.0, 0.2, 0.0, -99.0],
    );
    let encoder = assigned(encoder, "layers.1.norm.bias", &[0.1, 0.0, -99.0, 0.3, 0.0]);
    let activations = encoder.hidden_activations(matrix(&rows())).unwrap();
    let first = layer_by_loops(&encoder, "layers.0", &rows());
    let second = layer_by_loops(&encoder, "layers.1", &first);
    assert_close(&to_vec(&activations[0]), &first.concat(), 1e-5);
    assert_close(&to_vec(&activations[1]), &second.concat(), 1e-5);

    let dead = |layer: &Tensor<B, 2>| -> Vec<bool> {
        let sums = to_vec(&layer.clone().abs().sum_dim(0));
        sums.iter().map(|sum| *sum == 0.0).collect()
    };
    let mut chosen: Vec<Vec<bool>> = activations.iter().map(dead).collect();
    assert_eq!(chosen[0], [false, true, false, false, true]);
    assert!(chosen[1][2]);
    chosen[2].fill(false);
    chosen[3].fill(false);
    let reset = encoder.clone().with_fresh_units(&init(2), &chosen).unwrap();
    let output = |encoder: &Mlp<B>| to_vec(&encoder.encode(matrix(&rows()), Mode::Evaluation));
    assert_eq!(output(&reset), output(&encoder));
    let alive = reset.hidden_activations(matrix(&rows())).unwrap();
    let sums = to_vec(&alive[0].clone().sum_dim(0));
    assert!(sums.iter().all(|sum| *sum > 0.0), "{sums:?}");
}

#[test]
fn encoders_that_expose_no_units_say_so() {
    let device = Default::default();
    let head = |seed| -> ProjectionHead<B> {
        ProjectionHeadConfig::new(4, 2).init(Seed::new(seed), &device)
    };
    assert!(head(1).hidden_activations(matrix(&rows())).is_none());
    assert!(head(1).with_fresh_units(&head(2), &[]).is_none());
}

#[test]
#[should_panic(expected = "found units of 1 layers, expected 3 layers")]
fn units_of_other_layers_are_refused() {
    let encoder = MlpConfig::new(4).init::<B>(Seed::new(1), &Default::default());
    encoder
        .clone()
        .with_fresh_units(&encoder, &[vec![true; 256]]);
}
