//! Hidden noise: a small problem on which its views and its encoder are tested.

mod encoder;
mod learning;
mod views;

use burn::tensor::{Tensor, backend::Backend};
use icl_core::mixup::MixingRange;
use icl_core::testing::to_vec;
use icl_core::{Augment, Collate, Encoder, Mode, Pairing, Rng, Seed, Side, Stack, Views};
use icl_models::{
    HiddenBatch, HiddenCollate, HiddenMixup, HiddenNoise, HiddenView, HiddenViews, Mlp, MlpConfig,
    ProjectionHead, ProjectionHeadConfig, RowNoise,
};

pub type Sample = [f32; 3];
pub type Batch<B> = HiddenBatch<B, Tensor<B, 2>>;
pub type Small<B> = HiddenMixup<B, Mlp<B>, ProjectionHead<B>>;

pub fn mixup(alpha: f64) -> HiddenNoise {
    let range = MixingRange::try_new(alpha).unwrap();
    HiddenNoise::Mixup { range }
}

pub fn gaussian(sigma: f64) -> HiddenNoise {
    HiddenNoise::Gaussian { sigma }
}

pub fn sample(at: usize) -> Sample {
    std::array::from_fn(|column| ((at * 7 + column * 5) % 11) as f32 / 4.0 - 1.0)
}

pub fn hidden_views(
    noise: HiddenNoise,
) -> HiddenViews<Augment<Sample, impl Fn(&Sample, &mut Rng) -> Sample>> {
    let inner = Augment::new(|_: &Sample, _: &mut Rng| [f32::NAN; 3]);
    HiddenViews::try_new(inner, noise).unwrap()
}

/// The view of sample `at` on a side.
pub fn view(noise: HiddenNoise, at: usize, side: Side, seed: u64) -> HiddenView<Sample> {
    let pairing = Pairing {
        part: 0,
        side,
        pair: Seed::new(seed).child("pair").at(at as u64),
        partners: &[],
    };
    let mut rng = Seed::new(seed).at(at as u64).at(side.index()).rng();
    hidden_views(noise).paired_view(&sample(at), &pairing, &mut rng)
}

/// Both views of the first `n` samples, first views first.
pub fn both(noise: HiddenNoise, n: usize, seed: u64) -> Vec<HiddenView<Sample>> {
    Side::BOTH
        .into_iter()
        .flat_map(|side| (0..n).map(move |at| view(noise, at, side, seed)))
        .collect()
}

pub fn collate<B: Backend>(views: &[HiddenView<Sample>]) -> Batch<B> {
    HiddenCollate::new(Stack).collate(views, &Default::default())
}

pub fn small<B: Backend>() -> Small<B> {
    let device = Default::default();
    let encoder = MlpConfig::new(3).with_n_layers(2).with_width(6);
    let head = ProjectionHeadConfig::new(6, 4)
        .with_n_layers(3)
        .with_norm(true);
    HiddenMixup::new(
        encoder.init(Seed::new(1), &device),
        head.init(Seed::new(2), &device),
    )
}

/// Source, partner and λ of each view.
pub fn mixtures<B: Backend>(batch: &Batch<B>) -> Vec<(usize, usize, f64)> {
    let RowNoise::Mixup { partner, lambda } = &batch.noise else {
        panic!("no mixup: {:?}", batch.noise);
    };
    let rows = |rows: &Tensor<B, 1, burn::tensor::Int>| -> Vec<usize> {
        let rows = rows.to_data().convert::<i64>().into_vec::<i64>().unwrap();
        rows.into_iter().map(|row| row as usize).collect()
    };
    let (sources, partners) = (rows(&batch.source), rows(partner));
    let rows = sources.into_iter().zip(partners).zip(to_vec(lambda));
    rows.map(|((source, partner), lambda)| (source, partner, lambda))
        .collect()
}

pub fn train<B: Backend, E: Encoder<B>>(encoder: &E, batch: E::Batch) -> Tensor<B, 2> {
    encoder.encode(batch, Mode::Training(&mut Seed::new(0).rng()))
}
