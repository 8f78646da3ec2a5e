//! Data sets, batchers and data loaders of Burn with samples, views and collation of this project.

use burn::data::dataloader::DataLoaderBuilder;
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::testing::{TestBackend, to_vec};
use icl_core::{FromBatcher, FromDataset, Origin, Seed};
use icl_train::{OriginBatcher, PairBatch, PairBatcher, Trainer};

use crate::partners::Halfway;
use crate::toy::{Jitter, Stack, corrected, increment, points, settings, start, trainer};

/// Bound of the noise of [`Jitter`].
const NOISE: f64 = 0.150_001;

/// Batcher of Burn, as its users write it.
struct Rows;

impl<B: Backend> Batcher<B, [f32; 4], Tensor<B, 2>> for Rows {
    fn batch(&self, items: Vec<[f32; 4]>, device: &B::Device) -> Tensor<B, 2> {
        let n = items.len();
        Tensor::from_data(TensorData::new(items.concat(), [n, 4]), device)
    }
}

#[test]
fn a_data_set_and_a_batcher_of_burn_train_to_the_same_bits() {
    let (samples, increment, settings) = (points(), increment(), settings());
    let ours = trainer(&samples, &increment, &settings, 5);
    let ours = ours.update(&corrected(), start()).unwrap();
    let dataset = FromDataset::new(InMemDataset::new(points()));
    let theirs = Trainer::new(&dataset, Jitter, FromBatcher(Rows), &increment)
        .settings(settings)
        .seed(5)
        .update(&corrected(), start())
        .unwrap();
    assert_eq!(
        to_vec(&theirs.trained.weight.val()),
        to_vec(&ours.trained.weight.val())
    );
}

/// Batches of a data loader: the first views of its items, then their second views.
#[test]
fn a_data_loader_makes_positive_pairs() {
    let items = points()[..10].to_vec();
    let epoch = |seed: u64| -> Vec<Vec<f64>> {
        let batcher = PairBatcher::new(Jitter, Stack, Seed::new(seed));
        let loader = DataLoaderBuilder::<TestBackend, _, Tensor<TestBackend, 2>>::new(batcher)
            .batch_size(4)
            .build(InMemDataset::new(items.clone()));
        loader.iter().map(|batch| to_vec(&batch)).collect()
    };
    let batches = epoch(1);
    assert_eq!(
        batches.iter().map(Vec::len).collect::<Vec<_>>(),
        [32, 32, 16]
    );
    let mut place = 0;
    for batch in &batches {
        let n = batch.len() / 8;
        for at in 0..n {
            let [first, second] = [at, n + at].map(|row| &batch[4 * row..4 * (row + 1)]);
            assert_ne!(first, second);
            for view in [first, second] {
                for (value, item) in view.iter().zip(items[place + at]) {
                    assert!((value - f64::from(item)).abs() < NOISE, "{value} of {item}");
                }
            }
        }
        place += n;
    }
    assert_eq!(epoch(1), batches);
    assert_ne!(epoch(2), batches);
}

/// Partners come from the other items of a batch: views halfway to one are between two items.
#[test]
fn partners_come_from_the_batch() {
    let items = vec![[0.0_f32; 4], [1.0; 4], [4.0; 4]];
    let batcher = PairBatcher::new(Halfway::new(), Stack, Seed::new(1));
    let batch: Tensor<TestBackend, 2> = batcher.batch(items.clone(), &Default::default());
    for (row, view) in to_vec(&batch).chunks(4).enumerate() {
        let own = f64::from(items[row % 3][0]);
        let shares = items
            .iter()
            .map(|of| f64::from(of[0]))
            .filter(|&of| of != own);
        let is_towards = |of: f64| (0.0..=0.5).contains(&((view[0] - own) / (of - own)));
        assert!(shares.into_iter().any(is_towards), "{view:?} of {own}");
    }
}

#[test]
#[should_panic = "a batch of pairs: mixup: found 1 sample, expected at least 2"]
fn a_batch_of_one_has_no_partners() {
    let batcher = PairBatcher::new(Halfway::new(), Stack, Seed::new(1));
    let _: Tensor<TestBackend, 2> = batcher.batch(vec![[0.0; 4]], &Default::default());
}

/// Fixed views are those of a place in a batch; old samples come first, each with its views.
#[test]
fn old_samples_come_first_and_fixed_views_stay() {
    let batcher = OriginBatcher(PairBatcher::new(Jitter, Stack, Seed::new(3)).fixed());
    let [a, b, c] = [0.0_f32, 10.0, 20.0].map(|x| [x; 4]);
    let items = vec![(a, Origin::New), (b, Origin::Old), (c, Origin::New)];
    let batch = |items: Vec<_>| -> PairBatch<Tensor<TestBackend, 2>> {
        batcher.batch(items, &Default::default())
    };
    let first = batch(items.clone());
    assert_eq!(first.n_old, 1);
    let rows = to_vec(&first.views);
    for (row, expected) in [10.0, 0.0, 20.0, 10.0, 0.0, 20.0].into_iter().enumerate() {
        assert!((rows[4 * row] - expected).abs() < NOISE, "{rows:?}");
    }
    assert_eq!(to_vec(&batch(items).views), rows);
}
