//! The gradient of a step by several members, and in shards, against that of the whole batch and a plain double loop.

use super::*;

/// Batches divide unevenly, so that members and shards have other numbers of old samples and other values.
#[test]
fn the_gradient_is_that_of_the_whole_batch() {
    for (dtype, tolerance) in precisions(1e-5, 1e-12) {
        for (method, settings) in objectives(&one_step()) {
            let whole = weight(&descend(&Alone, &method, &settings, precise(dtype)));
            let before = to_vec(&precise(dtype).weight.val());
            let largest = whole.iter().zip(&before).map(|(a, b)| (a - b).abs());
            assert!(largest.fold(0.0, f64::max) > 1e-3, "{method}: a gradient");
            for chunk in [2, 7, 13, 32, 60, 89, 90, 1000] {
                let settings = chunked(&settings, chunk);
                let found = weight(&descend(&Alone, &method, &settings, precise(dtype)));
                assert_close(&found, &whole, tolerance);
            }
            for (size, chunk) in [
                (2, None),
                (3, None),
                (2, Some(7)),
                (3, Some(16)),
                (4, Some(1000)),
            ] {
                let settings = TrainingSettings {
                    chunk,
                    ..settings.clone()
                };
                let members = at_all(size, |group| {
                    weight(&descend(group, &method, &settings, precise(dtype)))
                });
                assert_close(&members[0], &whole, tolerance);
                assert!(members.iter().all(|other| *other == members[0]), "{method}");
            }
        }
    }
}

/// Members of a large batch compute the losses of some anchors each, uneven numbers of them.
#[test]
fn the_gradient_of_a_large_batch_is_that_of_the_whole_batch() {
    let mut rng = Seed::new(21).rng();
    let sample = |_| std::array::from_fn(|_| rng.random::<f32>() * 2.0 - 1.0);
    let samples: Vec<[f32; 4]> = (0..833).map(sample).collect();
    // Also the new samples alone are a large batch.
    let increment = Increment::try_new((0..310).collect(), (310..833).collect()).unwrap();
    let large = TrainingSettings {
        batch_size: samples.len(),
        epochs: 2,
        ..one_step()
    };
    for (dtype, tolerance) in precisions(1e-5, 1e-12) {
        for (method, settings) in objectives(&large) {
            let after = |group: &dyn Group, chunk| {
                let settings = TrainingSettings {
                    chunk,
                    ..settings.clone()
                };
                let trainer = trainer(&samples, &increment, &settings, 4)
                    .update_rule(UpdateRule::Sgd)
                    .group(group);
                let outcome = trainer.update(&method, precise(dtype)).unwrap();
                let trained = to_vec(&outcome.trained.weight.val());
                (trained, outcome.record.epoch_losses)
            };
            let (whole, losses) = after(&Alone, None);
            for (size, chunk) in [(2, None), (3, Some(50))] {
                let members = at_all(size, |group| after(group, chunk));
                assert_close(&members[0].0, &whole, tolerance);
                assert_close(&members[0].1, &losses, tolerance);
                assert!(members.iter().all(|other| *other == members[0]), "{method}");
            }
        }
    }
}

/// With the plain view of each sample twice, so that a loop can compute the same.
#[derive(Debug)]
struct Twice;

impl icl_core::Views for Twice {
    type Sample = [f32; 4];
    type View = [f32; 4];

    fn view(&self, sample: &[f32; 4], _: &mut icl_core::Rng) -> [f32; 4] {
        *sample
    }

    fn plain(&self, sample: &[f32; 4]) -> [f32; 4] {
        *sample
    }
}

/// NCE-I of some points by a double loop, as a function of the weights of a linear encoder.
fn loss_by_loops(points: &[[f32; 4]], weight: &[f64], temperature: f64, negatives: f64) -> f64 {
    let embed = |x: &[f32; 4]| -> Vec<f64> {
        let z: Vec<f64> = (0..4)
            .map(|out| {
                (0..4)
                    .map(|at| f64::from(x[at]) * weight[4 * at + out])
                    .sum()
            })
            .collect();
        let norm = z.iter().map(|z| z * z).sum::<f64>().sqrt();
        z.iter().map(|z| z / norm).collect()
    };
    let z: Vec<Vec<f64>> = points.iter().map(embed).collect();
    let f = |i: usize, j: usize| {
        let cosine: f64 = z[i].iter().zip(&z[j]).map(|(a, b)| a * b).sum();
        (cosine / temperature).exp()
    };
    let n = points.len();
    let of = |i: usize| {
        let noise: f64 = (0..n).filter(|&j| j != i).map(|j| f(i, j)).sum::<f64>() / (n - 1) as f64;
        -(f(i, i) / (f(i, i) + negatives * noise)).ln()
    };
    (0..n).map(of).sum::<f64>() / n as f64
}

/// A factor of the number of members, or of its inverse, would show here at once.
#[test]
fn the_gradient_of_two_members_is_that_of_a_plain_loop() {
    if !icl_core::testing::has_double_precision() {
        return;
    }
    let samples: Vec<[f32; 4]> = points()[..7].to_vec();
    let increment = Increment::try_new((0..5).collect(), (5..7).collect()).unwrap();
    let settings = one_step();
    let before = to_vec(&precise(DType::F64).weight.val());
    let loss = |weight: &[f64]| loss_by_loops(&samples, weight, settings.temperature, 31.0);
    let expected: Vec<f64> = (0..16)
        .map(|at| {
            let h = 1e-5;
            let at_distance = |h: f64| {
                let mut weight = before.clone();
                weight[at] += h;
                loss(&weight)
            };
            (at_distance(h) - at_distance(-h)) / (2.0 * h)
        })
        .collect();
    let norm = expected.iter().map(|g| g * g).sum::<f64>().sqrt();
    for (size, chunk, clip_norm) in [
        (2, None, None),
        (1, Some(3), None),
        (5, Some(2), None),
        (1, None, Some(0.3 * norm)),
        (3, None, Some(0.3 * norm)),
        (2, Some(2), Some(1.1 * norm)),
    ] {
        let settings = TrainingSettings {
            chunk,
            clip_norm,
            ..settings.clone()
        };
        // The norm is that of the gradient of the whole batch.
        let factor = clip_norm.map_or(1.0, |largest| f64::min(1.0, largest / (norm + 1e-6)));
        let expected: Vec<f64> = expected.iter().map(|g| factor * g).collect();
        let gradients = at_all(size, |group| {
            let trainer = icl_train::Trainer::new(&samples, Twice, crate::toy::Stack, &increment)
                .settings(settings.clone())
                .update_rule(UpdateRule::Sgd)
                .group(group);
            let outcome = trainer.update(&info_nce(Sampling::All), precise(DType::F64));
            let after = weight(&outcome);
            let gradient = before
                .iter()
                .zip(after)
                .map(|(before, after)| before - after);
            gradient.collect::<Vec<f64>>()
        });
        for gradient in gradients {
            assert_close(&gradient, &expected, 1e-7);
        }
    }
}

/// The encoder z = (x₀, w·x₁) with one weight w.
#[derive(Module, Debug)]
struct OneWeight<B: Backend> {
    weight: Param<Tensor<B, 2>>,
}

impl<B: Backend> Encoder<B> for OneWeight<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        let weight = self.weight.val();
        let batch = batch.cast(weight.dtype());
        let [first, second] = [0, 1].map(|column| batch.clone().narrow(1, column, 1));
        Tensor::cat(vec![first, second.matmul(weight)], 1)
    }
}

/// Two samples at (1, 1) and two at (1, −1), so that all anchors have the same loss, with c the cosine of two unlike ones:
///
/// ```text
/// c = (1 − w²)/(1 + w²)      e = exp((c − 1)/τ)      L = log(1 + K·(1 + 2e)/3)
/// dL/dw = 2Ke/(3 + K·(1 + 2e)) · 1/τ · dc/dw          dc/dw = −4w/(1 + w²)²
/// ```
#[test]
fn the_gradient_of_two_members_is_that_of_a_closed_form() {
    if !icl_core::testing::has_double_precision() {
        return;
    }
    let samples = [1.0, 1.0, -1.0, -1.0]
        .map(|x: f32| [1.0, x, 0.0, 0.0])
        .to_vec();
    let increment = Increment::try_new(vec![0, 2], vec![1, 3]).unwrap();
    let (w, tau, k): (f64, f64, f64) = (0.3, 0.5, 31.0);
    let settings = TrainingSettings {
        temperature: tau,
        negatives: k,
        ..one_step()
    };
    let e = (((1.0 - w * w) / (1.0 + w * w) - 1.0) / tau).exp();
    let by_cosine = 2.0 * k * e / (3.0 + k * (1.0 + 2.0 * e)) / tau;
    let expected = by_cosine * -4.0 * w / (1.0 + w * w).powi(2);
    for size in [1, 2, 3] {
        let gradients = at_all(size, |group| {
            let weight = Tensor::from_data(
                TensorData::new(vec![w], [1, 1]),
                (&Default::default(), DType::F64),
            );
            let encoder = OneWeight::<TestAutodiff> {
                weight: Param::from_tensor(weight),
            };
            let trainer = icl_train::Trainer::new(&samples, Twice, crate::toy::Stack, &increment)
                .settings(settings.clone())
                .update_rule(UpdateRule::Sgd)
                .group(group);
            let outcome = trainer.update(&info_nce(Sampling::All), encoder).unwrap();
            w - to_vec(&outcome.trained.weight.val())[0]
        });
        assert_close(&gradients, &vec![expected; size], 1e-12);
    }
}

/// A linear encoder with candidates of its own.
#[derive(Module, Debug)]
struct WithCandidates<B: Backend> {
    inner: Precise<B>,
    candidates: Param<Tensor<B, 2>>,
}

impl<B: Backend> Encoder<B> for WithCandidates<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.inner.encode(batch, mode)
    }

    fn encode_pairs(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> PairEmbeddings<B> {
        let pairs = PairEmbeddings::of_halves(self.encode(batch, mode));
        let n = pairs.anchors.dims()[0];
        let catalogue = Catalogue::new(self.candidates.val(), Arc::new(vec![vec![0]; n]));
        PairEmbeddings {
            catalogue: Some(catalogue),
            ..pairs
        }
    }

    fn has_catalogue(&self) -> bool {
        true
    }
}

#[test]
fn a_catalogue_has_its_gradient_from_all_members() {
    for (dtype, tolerance) in precisions(1e-5, 1e-12) {
        let run = |size: usize, chunk: Option<usize>| {
            let settings = TrainingSettings {
                chunk,
                ..one_step()
            };
            let members = at_all(size, |group| {
                let candidates: Vec<f64> = (0..20).map(|at| f64::from(at).sin()).collect();
                let data = TensorData::new(candidates, [5, 4]);
                let encoder = WithCandidates {
                    inner: precise(dtype),
                    candidates: Param::from_tensor(Tensor::from_data(
                        data,
                        (&Default::default(), dtype),
                    )),
                };
                let method = info_nce(Sampling::All);
                let trained = descend(group, &method, &settings, encoder).unwrap();
                let weight = to_vec(&trained.trained.inner.weight.val());
                let losses = trained.record.epoch_losses;
                (weight, to_vec(&trained.trained.candidates.val()), losses)
            });
            members.into_iter().next().unwrap()
        };
        let whole = run(1, None);
        for (size, chunk) in [(1, Some(20)), (2, None), (3, Some(8))] {
            let found = run(size, chunk);
            assert_close(&found.0, &whole.0, tolerance);
            assert_close(&found.1, &whole.1, tolerance);
            assert_close(&found.2, &whole.2, tolerance);
        }
    }
}
