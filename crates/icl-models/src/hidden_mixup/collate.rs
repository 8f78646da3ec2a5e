//! Collation of views with hidden noise.

use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::{Int, Tensor, TensorData, backend::Backend};
use icl_core::{Collate, Seed, Side};

use super::batch::{HiddenBatch, RowNoise};
use super::noise::{NoiseDraw, PairNoise};
use super::views::HiddenView;

/// Collation of [`HiddenView`]s into a [`HiddenBatch`], by a collation `C` of the plain views.
///
/// Both views of a pair hold the same plain view, so the views of a pair are one row of the inner batch:
/// it is encoded once, which halves the cost of a step. The values are those of encoding it twice,
/// also under batch normalisation, whose mean and variance do not change if all rows are doubled.
///
/// The partner of a view is drawn uniformly from the other samples on its side of the batch.
///
/// # Panics
/// [`collate`](Collate::collate) panics if `C` does, if a view with mixup is the only sample on its side of
/// the batch, or if the views of a batch differ in the kind or the σ of their noise.
#[derive(Debug, Clone, Copy, Default)]
pub struct HiddenCollate<C> {
    inner: C,
}

impl<C> HiddenCollate<C> {
    /// Creates the collation of views whose plain views `inner` collates.
    pub const fn new(inner: C) -> Self {
        Self { inner }
    }
}

impl<B, V, T, C> Collate<B, HiddenView<V>, HiddenBatch<B, T>> for HiddenCollate<C>
where
    B: Backend,
    V: Clone,
    C: Collate<B, V, T>,
{
    fn collate(&self, views: &[HiddenView<V>], device: &B::Device) -> HiddenBatch<B, T> {
        let rows = Rows::of(views);
        let inner: Vec<V> = rows
            .first_views
            .iter()
            .map(|&view| views[view].inner.clone())
            .collect();
        HiddenBatch {
            inner: self.inner.collate(&inner, device),
            noise: rows.noise::<B, _>(views, device),
            source: indices(&rows.source, device),
        }
    }
}

/// Rows of the inner batch.
#[derive(Debug, Default)]
struct Rows {
    /// First view of each row.
    first_views: Vec<usize>,
    /// Row of each view.
    source: Vec<usize>,
    /// Rows on each side, in the order of their views there.
    sides: [Vec<usize>; 2],
    /// Place of each row on each side.
    places: [HashMap<usize, usize>; 2],
}

impl Rows {
    /// Assigns a row to each pair and to each plain view, in the order of the views.
    fn of<V>(views: &[HiddenView<V>]) -> Self {
        let mut rows = Self::default();
        let mut of_pair: HashMap<Seed, usize> = HashMap::new();
        for (at, view) in views.iter().enumerate() {
            let next = rows.first_views.len();
            let row = match &view.noise {
                Some(noise) => *of_pair.entry(noise.pair).or_insert(next),
                None => next,
            };
            if row == next {
                rows.first_views.push(at);
            }
            rows.source.push(row);
            if let Some(noise) = &view.noise {
                let side = side_index(noise.side);
                rows.places[side].entry(row).or_insert_with(|| {
                    rows.sides[side].push(row);
                    rows.sides[side].len() - 1
                });
            }
        }
        rows
    }

    /// Returns the noise of the views.
    fn noise<B: Backend, V>(&self, views: &[HiddenView<V>], device: &B::Device) -> RowNoise<B> {
        match views.iter().find_map(|view| view.noise) {
            None => RowNoise::None,
            Some(PairNoise {
                draw: NoiseDraw::Mixup { .. },
                ..
            }) => self.mixup(views, device),
            Some(PairNoise {
                draw: NoiseDraw::Gaussian { sigma, .. },
                ..
            }) => gaussian(sigma, views),
        }
    }

    fn mixup<B: Backend, V>(&self, views: &[HiddenView<V>], device: &B::Device) -> RowNoise<B> {
        let mut lambdas = Vec::with_capacity(views.len());
        let mut partners = Vec::with_capacity(views.len());
        for (view, &row) in views.iter().zip(&self.source) {
            let (lambda, partner) = match view.noise {
                None => (1.0, row),
                Some(PairNoise {
                    side,
                    draw: NoiseDraw::Mixup { lambda, partner },
                    ..
                }) => (lambda, self.partner(row, side, partner)),
                Some(other) => panic!("{UNEQUAL}, found mixup and {:?}", other.draw),
            };
            lambdas.push(lambda);
            partners.push(partner);
        }
        RowNoise::Mixup {
            partner: indices(&partners, device),
            lambda: Tensor::from_data(TensorData::new(lambdas, [views.len(), 1]), device),
        }
    }

    /// Returns another row on the side of a view.
    fn partner(&self, row: usize, side: Side, draw: u64) -> usize {
        let side = side_index(side);
        let rows = &self.sides[side];
        let n_others = rows.len() - 1;
        assert!(
            n_others > 0,
            "hidden mixup: found 1 sample on a side of the batch, expected at least 2"
        );
        // ⌊u·n⌋ of u = draw/2⁶⁴, in integers, since a float holds fewer than 64 bits.
        let at = ((u128::from(draw) * n_others as u128) >> 64) as usize;
        let own = self.places[side][&row];
        rows[if at < own { at } else { at + 1 }]
    }
}

const UNEQUAL: &str = "the views of a batch must have the same hidden noise";

fn gaussian<B: Backend, V>(sigma: f64, views: &[HiddenView<V>]) -> RowNoise<B> {
    let seed = |view: &HiddenView<V>| match view.noise?.draw {
        NoiseDraw::Gaussian { sigma: found, seed } if found == sigma => Some(seed),
        other => panic!("{UNEQUAL}, found Gaussian of σ = {sigma} and {other:?}"),
    };
    let seeds: Arc<[Option<Seed>]> = views.iter().map(seed).collect();
    RowNoise::Gaussian { sigma, seeds }
}

fn side_index(side: Side) -> usize {
    side.index() as usize
}

fn indices<B: Backend>(rows: &[usize], device: &B::Device) -> Tensor<B, 1, Int> {
    let rows: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
    let n = rows.len();
    Tensor::from_data(TensorData::new(rows, [n]), device)
}
