//! Whole runs by several members: their steps, their cost, and what is refused.

use super::*;

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
