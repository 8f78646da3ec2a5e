//! Old noise from a queue, against plain double loops.

use burn::tensor::{DType, Tensor, TensorData};
use icl_core::testing::{
    TestAutodiff, TestBackend as B, assert_close, has_double_precision, precisions, to_vec,
};
use icl_core::{Contrast, MixedBatch, QueuedNoise, Seed};
use rand::RngExt;

type Rows = Vec<Vec<f64>>;

fn draw(n: usize, seed: u64) -> Rows {
    let mut rng = Seed::new(seed).rng();
    let mut row = || (0..4).map(|_| rng.random::<f64>() - 0.5).collect();
    (0..n).map(|_| row()).collect()
}

fn tensor(rows: &Rows, dtype: DType) -> Tensor<B, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), 4]);
    Tensor::from_data(data, (&Default::default(), dtype))
}

fn f(a: &[f64], b: &[f64], temperature: f64) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() / temperature).exp()
}

/// Returns the log of the mean of f over the noise samples that are not of the anchor's own sample.
fn log_mean(anchor: (usize, &[f64]), noise: &[(usize, &[f64])], temperature: f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (sample, row) in noise {
        if *sample != anchor.0 {
            sum += f(anchor.1, row, temperature);
            count += 1.0;
        }
    }
    f64::ln(sum / count)
}

fn with<'a>(samples: &[usize], rows: &'a Rows) -> Vec<(usize, &'a [f64])> {
    let rows = rows.iter().map(Vec::as_slice);
    samples.iter().copied().zip(rows).collect()
}

/// The samples of 3 old rows and 2 new ones. Some of the old ones are also in the queue, one of them
/// twice.
const SAMPLES: [usize; 5] = [7, 1, 4, 20, 21];
const QUEUED: [usize; 6] = [1, 2, 3, 1, 9, 7];

#[test]
fn the_queue_joins_the_old_noise_without_the_anchors_own_sample() {
    let (anchors, positives, queued) = (draw(5, 1), draw(5, 2), draw(6, 3));
    for (dtype, tolerance) in precisions(1e-5, 1e-12) {
        for temperature in [0.1, 1.0] {
            for (n_old, rows) in [(3, 0..5), (3, 0..3), (3, 3..5), (0, 0..5), (1, 0..5)] {
                let queue = QueuedNoise::new(tensor(&queued, dtype), QUEUED.to_vec());
                let batch = MixedBatch {
                    anchors: tensor(&anchors, dtype),
                    positives: tensor(&positives, dtype),
                    samples: &SAMPLES,
                    n_old,
                };
                let found = Contrast::in_batch_with_queue(batch, rows.clone(), &queue, temperature);
                let noise = with(&SAMPLES, &positives);
                let (old, new) = noise.split_at(n_old);
                let old = [old, &with(&QUEUED, &queued)].concat();
                let expected = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
                    rows.clone().map(value).collect()
                };
                let anchor = |row: usize| (SAMPLES[row], &anchors[row][..]);
                let positive = |i: usize| f(&anchors[i], &positives[i], temperature).ln();
                assert_close(&to_vec(&found.positive), &expected(&positive), tolerance);
                assert_close(
                    &to_vec(&found.log_noise_old),
                    &expected(&|i| log_mean(anchor(i), &old, temperature)),
                    tolerance,
                );
                assert_close(
                    &to_vec(&found.log_noise_new),
                    &expected(&|i| log_mean(anchor(i), new, temperature)),
                    tolerance,
                );
            }
        }
    }
}

/// Checks that the entries of an anchor's own sample have no influence.
#[test]
fn an_anchor_never_meets_its_own_sample() {
    let anchors = tensor(&draw(5, 1), DType::F32);
    let old_noise = |own: f32| {
        let mut queued = draw(6, 3);
        // The entries of sample 1, from far to as near as can be.
        for entry in [0, 3] {
            queued[entry] = vec![f64::from(own), 0.2, -0.3, 0.1];
        }
        let queue = QueuedNoise::new(tensor(&queued, DType::F32), QUEUED.to_vec());
        let batch = MixedBatch {
            anchors: anchors.clone(),
            positives: tensor(&draw(5, 2), DType::F32),
            samples: &SAMPLES,
            n_old: 3,
        };
        to_vec(&Contrast::in_batch_with_queue(batch, 0..5, &queue, 0.1).log_noise_old)
    };
    let (far, near) = (old_noise(-9.0), old_noise(9.0));
    assert_eq!(far[1], near[1]);
    for other in [0, 2, 3, 4] {
        assert_ne!(far[other], near[other]);
    }
}

#[test]
fn positives_and_new_noise_are_those_of_the_batch_alone() {
    let (anchors, positives) = (draw(5, 1), draw(5, 2));
    let tensors = || (tensor(&anchors, DType::F32), tensor(&positives, DType::F32));
    let (left, right) = tensors();
    let plain = Contrast::in_batch(left, right, 3, 0.1);
    let (left, right) = tensors();
    let queue = QueuedNoise::new(tensor(&draw(1, 3), DType::F32), vec![99]);
    let batch = MixedBatch {
        anchors: left,
        positives: right,
        samples: &SAMPLES,
        n_old: 3,
    };
    let queued = Contrast::in_batch_with_queue(batch, 0..5, &queue, 0.1);
    // Similarities of about 1 over a temperature of 0.1, in single precision.
    for (queued, plain) in [
        (queued.positive, plain.positive),
        (queued.log_noise_new, plain.log_noise_new),
    ] {
        assert_close(&to_vec(&queued), &to_vec(&plain), 1e-6);
    }
}

#[test]
fn the_queue_gets_no_gradient_and_the_batch_that_of_finite_differences() {
    if !has_double_precision() {
        return;
    }
    let leaf = |rows: &Rows| {
        Tensor::<TestAutodiff, 2>::from_inner(tensor(rows, DType::F64)).require_grad()
    };
    let (anchors, positives, queued) = (draw(5, 1), draw(5, 2), draw(6, 3));
    let value = |anchors: Tensor<TestAutodiff, 2>, positives, queue: &QueuedNoise<TestAutodiff>| {
        let batch = MixedBatch {
            anchors,
            positives,
            samples: &SAMPLES,
            n_old: 3,
        };
        let contrast = Contrast::in_batch_with_queue(batch, 3..5, queue, 0.5);
        (contrast.log_noise_old + contrast.log_noise_new - contrast.positive).sum()
    };
    let of_queue = leaf(&queued);
    let queue = QueuedNoise::new(of_queue.clone(), QUEUED.to_vec());
    assert!(!queue.directions().is_require_grad());
    let (left, right) = (leaf(&anchors), leaf(&positives));
    let gradients = value(left.clone(), right.clone(), &queue).backward();
    assert!(of_queue.grad(&gradients).is_none());
    assert!(queue.directions().grad(&gradients).is_none());
    let at = |rows: &Rows, flat: &[f64]| -> Rows {
        let chunks = flat.chunks(4).map(<[f64]>::to_vec);
        chunks.take(rows.len()).collect()
    };
    let difference = |which: usize| {
        let rows = [&anchors, &positives][which];
        let f = |flat: &[f64]| {
            let moved = at(rows, flat);
            let [a, p] = match which {
                0 => [&moved, &positives],
                _ => [&anchors, &moved],
            };
            to_vec(&value(leaf(a), leaf(p), &queue))[0]
        };
        icl_core::testing::finite_difference(f, &rows.concat(), 1e-5)
    };
    let [of_left, of_right] = [left, right].map(|x| to_vec(&x.grad(&gradients).unwrap()));
    assert_close(&of_left, &difference(0), 1e-7);
    assert_close(&of_right, &difference(1), 1e-7);
    // The old rows are no anchors here, but noise.
    assert!(of_left[..12].iter().all(|&g| g == 0.0));
    assert!(of_right[..12].iter().any(|&g| g != 0.0));
}

#[test]
fn the_noise_of_a_queue_alone_is_a_double_loop_too() {
    let (anchors, queued) = (draw(5, 1), draw(6, 3));
    for (dtype, tolerance) in precisions(1e-5, 1e-12) {
        let queue = QueuedNoise::new(tensor(&queued, dtype), QUEUED.to_vec());
        let found = queue.log_noise(tensor(&anchors, dtype), &SAMPLES, 0.2);
        let (noise, anchors) = (with(&QUEUED, &queued), with(&SAMPLES, &anchors));
        let expected = anchors.iter().map(|&anchor| log_mean(anchor, &noise, 0.2));
        assert_close(&to_vec(&found), &expected.collect::<Vec<_>>(), tolerance);
    }
}

#[test]
fn the_newest_entries_stay() {
    let [first, second] = [draw(3, 1), draw(2, 2)];
    let queues = || {
        vec![
            QueuedNoise::new(tensor(&first, DType::F32), vec![5, 6, 7]),
            QueuedNoise::new(tensor(&second, DType::F32), vec![6, 8]),
        ]
    };
    let newest = QueuedNoise::newest_of(queues(), 4);
    assert_eq!(newest.samples(), [6, 7, 6, 8]);
    let all = QueuedNoise::newest_of(queues(), usize::MAX);
    assert_eq!(all.samples(), [5, 6, 7, 6, 8]);
    assert_eq!(
        to_vec(newest.directions()),
        to_vec(all.directions())[4..].to_vec()
    );
    let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
    assert!(
        to_vec(all.directions())
            .chunks(4)
            .all(|row| (length(row) - 1.0).abs() < 1e-6)
    );
}

#[test]
#[should_panic(expected = "every anchor needs old and new noise beside its own sample")]
fn an_anchor_without_old_noise_is_refused() {
    let queue = QueuedNoise::new(tensor(&draw(1, 3), DType::F32), vec![SAMPLES[1]]);
    let batch = MixedBatch {
        anchors: tensor(&draw(5, 1), DType::F32),
        positives: tensor(&draw(5, 2), DType::F32),
        samples: &SAMPLES,
        n_old: 0,
    };
    Contrast::in_batch_with_queue(batch, 0..5, &queue, 0.1);
}
