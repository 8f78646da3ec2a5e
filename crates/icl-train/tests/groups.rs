//! Training by several members, and with batches in shards, against one process with whole batches.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor, TensorData};
use icl_core::testing::{TestAutodiff, assert_close, precisions, to_vec};
use icl_core::{
    Alone, Catalogue, Encoder, Group, GroupError, Increment, Mode, PairEmbeddings, SampleError,
    Samples, Seed, Threads,
};
use icl_meta::RateChoice;
use icl_train::{
    Callbacks, CheckpointError, Method, NoiseSet, Outcome, Sampling, TrainError, TrainingSettings,
    UpdateRule,
};
use rand::RngExt;

use crate::toy::{
    Linear, corrected, distillation, increment, info_nce, meta, points, published, settings, start,
    timeless, trainer,
};

/// Linear encoder of the toy problem in a precision of its own.
#[derive(Module, Debug)]
struct Precise<B: Backend> {
    weight: Param<Tensor<B, 2>>,
}

impl<B: Backend> Encoder<B> for Precise<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        let weight = self.weight.val();
        batch.cast(weight.dtype()).matmul(weight)
    }
}

/// Draws the same encoder at every call, with other identities of its parameters, as in another process.
fn precise(dtype: DType) -> Precise<TestAutodiff> {
    let mut rng = Seed::new(3).rng();
    let weight: Vec<f64> = (0..16).map(|_| rng.random::<f64>() - 0.5).collect();
    let data = TensorData::new(weight, [4, 4]);
    let weight = Tensor::from_data(data, (&Default::default(), dtype));
    Precise {
        weight: Param::from_tensor(weight),
    }
}

/// Runs a function at every member, and returns the results in the order of the ranks.
fn at_all<T: Send>(size: usize, run: impl Fn(&dyn Group) -> T + Sync) -> Vec<T> {
    let run = &run;
    std::thread::scope(|scope| {
        let members = Threads::group(size).into_iter();
        let threads: Vec<_> = members
            .map(|member| scope.spawn(move || run(&member)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

type Trained<M> = Result<Outcome<M, TestAutodiff>, TrainError>;

/// Trains one member.
fn train<M>(
    group: &dyn Group,
    method: &Method,
    settings: &TrainingSettings,
    encoder: M,
) -> Trained<M>
where
    M: burn::module::AutodiffModule<TestAutodiff>
        + Encoder<TestAutodiff, Batch = Tensor<TestAutodiff, 2>>,
    M::InnerModule:
        Encoder<icl_core::testing::TestBackend, Batch = Tensor<icl_core::testing::TestBackend, 2>>,
{
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, settings, 4).group(group);
    trainer.update(method, encoder)
}

/// Settings of one step whose change is the gradient.
fn one_step() -> TrainingSettings {
    TrainingSettings {
        epochs: 1,
        batch_size: 90,
        optimizer: UpdateRule::Sgd,
        learning_rate: 1.0,
        ..settings()
    }
}

fn chunked(settings: &TrainingSettings, chunk: usize) -> TrainingSettings {
    TrainingSettings {
        chunk: Some(chunk),
        ..settings.clone()
    }
}

fn weight(outcome: &Trained<Precise<TestAutodiff>>) -> Vec<f64> {
    to_vec(&outcome.as_ref().unwrap().trained.weight.val())
}

/// Every objective with its settings.
fn objectives(of: &TrainingSettings) -> Vec<(Method, TrainingSettings)> {
    let with_queue = TrainingSettings {
        old_queue: Some(24),
        ..of.clone()
    };
    let both = TrainingSettings {
        noise_set: NoiseSet::BothViews,
        ..of.clone()
    };
    vec![
        (info_nce(Sampling::All), of.clone()),
        (info_nce(Sampling::All), both),
        (info_nce(Sampling::New), of.clone()),
        (published(), of.clone()),
        (corrected(), of.clone()),
        (corrected(), with_queue),
        (distillation(), of.clone()),
    ]
}

/// Batches divide unevenly, so that members and shards have other numbers of old samples and other values.
#[test]
fn the_gradient_is_that_of_the_whole_batch() {
    for (dtype, tolerance) in precisions(1e-5, 1e-12) {
        for (method, settings) in objectives(&one_step()) {
            let whole = weight(&train(&Alone, &method, &settings, precise(dtype)));
            let before = to_vec(&precise(dtype).weight.val());
            let largest = whole.iter().zip(&before).map(|(a, b)| (a - b).abs());
            assert!(largest.fold(0.0, f64::max) > 1e-3, "{method}: a gradient");
            for chunk in [2, 7, 13, 32, 60, 89, 90, 1000] {
                let settings = chunked(&settings, chunk);
                let found = weight(&train(&Alone, &method, &settings, precise(dtype)));
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
                    weight(&train(group, &method, &settings, precise(dtype)))
                });
                assert_close(&members[0], &whole, tolerance);
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
    for (size, chunk) in [(2, None), (1, Some(3)), (5, Some(2))] {
        let settings = TrainingSettings {
            chunk,
            ..settings.clone()
        };
        let gradients = at_all(size, |group| {
            let trainer = icl_train::Trainer::new(&samples, Twice, crate::toy::Stack, &increment)
                .settings(settings.clone())
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

/// A batch may have fewer samples than there are members, some of which then have none.
#[test]
fn a_run_of_several_members_is_that_of_one_but_for_rounding() {
    let settings = TrainingSettings {
        batch_size: 4,
        ..settings()
    };
    for (dtype, tolerance) in precisions(1e-3, 1e-9) {
        for method in [info_nce(Sampling::Share(0.3)), corrected(), distillation()] {
            let one = train(&Alone, &method, &settings, precise(dtype)).unwrap();
            for size in [2, 3, 5] {
                let members = at_all(size, |group| {
                    train(group, &method, &settings, precise(dtype)).unwrap()
                });
                for member in &members {
                    let [found, expected] =
                        [member, &one].map(|of| to_vec(&of.trained.weight.val()));
                    assert_close(&found, &expected, tolerance);
                    let [found, expected] =
                        [member, &one].map(|of| [of.risk.all, of.first_risk.old]);
                    assert_close(&found, &expected, tolerance);
                    assert_eq!(member.record.cost, one.record.cost);
                    assert_eq!(member.record.sample_passes, one.record.sample_passes);
                    assert_eq!(
                        timeless(member.record.clone()),
                        timeless(members[0].record.clone())
                    );
                }
            }
        }
    }
}

/// Linear encoder with dropout, whose masks come from the generator of the pass.
#[derive(Module, Debug)]
struct Dropping<B: Backend> {
    inner: Precise<B>,
}

impl<B: Backend> Encoder<B> for Dropping<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        let [n, d] = batch.dims();
        let batch = match mode {
            Mode::Evaluation => batch,
            Mode::Training(rng) => {
                let kept = (0..n * d).map(|_| f32::from(u8::from(rng.random::<f32>() > 0.3)));
                let data = TensorData::new(kept.collect::<Vec<_>>(), [n, d]);
                let mask = Tensor::from_data(data, &batch.device());
                batch * mask
            }
        };
        self.inner.encode(batch, Mode::Evaluation)
    }
}

/// Random numbers belong to shards, and the second pass of a shard draws those of the first again.
#[test]
fn as_many_shards_take_the_same_steps_whoever_has_them() {
    for (dtype, tolerance) in precisions(1e-3, 1e-9) {
        let run = |size: usize, chunk: Option<usize>| {
            let settings = TrainingSettings {
                chunk,
                ..settings()
            };
            let members = at_all(size, |group| {
                let encoder = Dropping {
                    inner: precise(dtype),
                };
                train(group, &corrected(), &settings, encoder).unwrap()
            });
            to_vec(&members[0].trained.inner.weight.val())
        };
        let four = run(4, None);
        assert_close(&run(2, Some(4)), &four, tolerance);
        assert_close(&run(1, Some(4)), &four, tolerance);
        let other = run(2, None);
        let difference = other.iter().zip(&four).map(|(a, b)| (a - b).abs());
        assert!(difference.fold(0.0, f64::max) > tolerance);
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
                let trained = train(group, &method, &settings, encoder).unwrap();
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

/// The first pass of GradCache is charged as a pass without a gradient; members share their passes.
#[test]
fn chunks_cost_a_pass_more_and_members_do_not() {
    let cost = |settings: &TrainingSettings| {
        let outcome = train(&Alone, &info_nce(Sampling::All), settings, start());
        outcome.unwrap().record.cost.training
    };
    let whole = cost(&settings());
    let expected = whole * (1.0 + <Linear<TestAutodiff> as Encoder<TestAutodiff>>::FORWARD_SHARE);
    assert_close(&[cost(&chunked(&settings(), 5))], &[expected], 1e-9);
    assert_eq!(cost(&chunked(&settings(), 16)), whole);
}

#[test]
fn what_needs_whole_batches_is_refused() {
    let refused = |method: Method, settings: &TrainingSettings| {
        let error = train(&Alone, &method, settings, start()).map(drop);
        error.unwrap_err().to_string()
    };
    let settings = chunked(&settings(), 4);
    let expected = "found batches in 4 shards with meta-optimization, whose gradients need whole batches; expected one \
                    process and no chunk";
    assert_eq!(refused(meta(corrected()), &settings), expected);
    let learned = Method {
        rate: RateChoice::Learned,
        ..corrected()
    };
    assert!(refused(learned, &settings).contains("found batches in 4 shards with a learned rate"));
    let too_small = chunked(&settings, 1);
    assert!(refused(corrected(), &too_small).contains("chunk"));
}

#[test]
fn encoders_that_differ_are_told_apart() {
    let errors = at_all(3, |group| {
        let encoder = Linear::<TestAutodiff>::new(if group.rank() == 1 { 7 } else { 1 });
        train(group, &corrected(), &settings(), encoder).map(drop)
    });
    for error in errors {
        let expected = GroupError::Diverged { rank: 1, step: 0 };
        assert!(matches!(error, Err(TrainError::Group(found)) if found == expected));
    }
}

/// Points of which one cannot be read.
struct Unreadable(Vec<[f32; 4]>);

impl Samples for Unreadable {
    type Sample = [f32; 4];

    fn n_samples(&self) -> usize {
        self.0.len()
    }

    fn sample(&self, index: usize) -> Result<std::borrow::Cow<'_, [f32; 4]>, SampleError> {
        match index {
            77 => Err("the file is gone".into()),
            _ => self.0.sample(index),
        }
    }
}

/// The member that has the sample says so, and the others do not wait for it.
#[test]
fn an_error_of_one_member_ends_all() {
    let increment = increment();
    let errors = at_all(3, |group| {
        let samples = Unreadable(points());
        let trainer = trainer(&samples, &increment, &settings(), 4).group(group);
        trainer.update(&corrected(), start()).map(drop).unwrap_err()
    });
    let is_own = |error: &TrainError| matches!(error, TrainError::Sample(_));
    let is_left = |error: &TrainError| matches!(error, TrainError::Group(GroupError::Left { .. }));
    assert!(errors.iter().any(is_own), "{errors:?}");
    assert!(
        errors.iter().all(|error| is_own(error) || is_left(error)),
        "{errors:?}"
    );
}

/// Takes `n_steps` steps at each member, or all that are left, from the checkpoint if there is one. Only the member
/// `stopping` asks to stop.
fn go_on(
    size: usize,
    chunk: Option<usize>,
    path: &Path,
    (stopping, n_steps): (usize, u64),
) -> Vec<Result<Outcome<Linear<TestAutodiff>, TestAutodiff>, TrainError>> {
    let settings = TrainingSettings {
        chunk,
        ..settings()
    };
    at_all(size, |group| {
        let (samples, increment) = (points(), increment());
        let taken = Cell::new(0);
        // Members have no files in common.
        let path = path.join(group.rank().to_string());
        let mut watch = Callbacks::new().with_checkpoint(path).stop_when(|| {
            taken.set(taken.get() + 1);
            group.rank() == stopping && taken.get() >= n_steps
        });
        let trainer = trainer(&samples, &increment, &settings, 4).group(group);
        trainer.update_with(&corrected(), Linear::new(1), &mut watch)
    })
}

#[test]
fn all_members_stop_at_one_step_and_go_on_as_if_they_had_not() {
    let undisturbed = train(&Alone, &corrected(), &chunked(&settings(), 8), start()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (stopping, step) in [(1, 7), (0, 20)] {
        let n_steps = if stopping == 1 { 7 } else { 13 };
        for outcome in go_on(2, None, folder.path(), (stopping, n_steps)) {
            let found = outcome.map(drop).unwrap_err();
            assert!(
                matches!(found, TrainError::Interrupted { step: at } if at == step),
                "{found}"
            );
        }
        let files = folder.path().read_dir().unwrap();
        let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names, ["0"], "the first member writes");
    }
    // One process with as many shards is the same run; one with whole batches is not.
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join("0"), copy.path().join("0")).unwrap();
    let other = go_on(1, None, copy.path(), (0, u64::MAX)).remove(0);
    let Err(TrainError::Checkpoint(CheckpointError::OtherRun {
        field,
        found,
        expected,
        ..
    })) = other
    else {
        panic!("{:?}", other.map(drop));
    };
    assert_eq!([field, found, expected], ["shards of a batch", "2", "1"]);
    let alone = go_on(1, Some(8), copy.path(), (0, u64::MAX))
        .remove(0)
        .unwrap();
    let together = go_on(2, None, folder.path(), (0, u64::MAX));
    for outcome in together.into_iter().map(Result::unwrap).chain([alone]) {
        let [found, expected] = [&outcome, &undisturbed].map(|of| to_vec(&of.trained.weight.val()));
        assert_close(&found, &expected, 1e-4);
        assert_eq!(outcome.record.n_steps, undisturbed.record.n_steps);
    }
}
