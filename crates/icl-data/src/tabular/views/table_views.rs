//! Views of rows: the drawn and the plain ones.

use std::ops::Range;

use icl_core::mixup::{MixingRange, binary, gaussian, geometric, linear};
use icl_core::{Error, Pairing, Rng, Seed, Side, Views};
use rand::RngExt;

use super::config::TableViewsConfig;
use super::kind::NoiseKind;
use super::mixture::{Mixing, Run, by_kind, check_not_negative, columns};
use crate::tabular::dataset::TableRow;
use crate::tabular::schema::TableSchema;
use crate::tabular::statistics::FeatureStatistics;

/// Noise that makes the positive pairs of rows (Verma et al., 2021, "Towards Domain-Agnostic
/// Contrastive Learning"). Created by [`TableViewsConfig::init`].
///
/// A view is a row of standardised features, `(x − mean) / sd` by the old data, for
/// [`Stack`](icl_core::Stack) to collate. Rows are mixed before they are standardised, in the units of
/// the file.
///
/// All kinds of noise but `gaussian`, `gaussian-printed` and `none` need partners, which the trainer
/// draws: their views are made by [`paired_view`](Views::paired_view).
///
/// ```
/// use std::borrow::Cow;
///
/// use icl_core::{Pairing, Seed, Side, Views};
/// use icl_data::{TableSchema, TableViewsConfig, embedded};
///
/// let table = embedded::tables("digits-table")?;
/// let old: Vec<usize> = (0..1000).collect();
/// let digits = TableSchema::fit(&table, &old, &[])?.apply(&table)?;
/// let views = TableViewsConfig::new().init(digits.schema());
/// let pairing = Pairing {
///     part: 0,
///     side: Side::First,
///     pair: Seed::new(1),
///     partners: &[Cow::Owned(digits.row(7))],
/// };
/// let row = digits.row(0);
/// let view = views.paired_view(&row, &pairing, &mut Seed::new(2).rng());
/// assert_eq!(view.len(), digits.d_features());
/// assert_ne!(view, views.plain(&row));
/// # Ok::<(), icl_data::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TableViews {
    config: TableViewsConfig,
    pub(super) lambda: MixingRange,
    statistics: Vec<FeatureStatistics>,
    /// ε of each feature.
    pub(super) epsilon: Vec<f32>,
    /// Features of each column.
    pub(super) columns: Vec<Range<usize>>,
    /// Mixing of the columns by their kinds.
    runs: Vec<Run>,
}

impl TableViewsConfig {
    /// Checks the configuration and creates the views of rows with these columns.
    ///
    /// # Errors
    /// [`Error`]
    /// - if a setting lies outside its interval or is not a number, even if the kind of noise does not use it;
    /// - if the noise is `geometric` or `plus` and a column has values below 0 in the old data.
    pub fn try_init(&self, schema: &TableSchema) -> Result<TableViews, Error> {
        let lambda = self.check()?;
        if matches!(self.noise, NoiseKind::Geometric | NoiseKind::Plus) {
            check_not_negative(schema)?;
        }
        let epsilon = |statistics: &FeatureStatistics| match self.exact {
            true => 0.0,
            false => statistics.epsilon(),
        };
        Ok(TableViews {
            config: self.clone(),
            lambda,
            statistics: schema.statistics().to_vec(),
            epsilon: schema.statistics().iter().map(epsilon).collect(),
            columns: columns(schema),
            runs: by_kind(schema),
        })
    }

    /// Checks the configuration and creates the views, see [`try_init`](Self::try_init).
    ///
    /// # Panics
    /// If `try_init` returns an error, with the error's message.
    pub fn init(&self, schema: &TableSchema) -> TableViews {
        match self.try_init(schema) {
            Ok(views) => views,
            Err(error) => panic!("{error}"),
        }
    }
}

impl TableViews {
    /// Returns the configuration, whose values are all checked.
    pub fn config(&self) -> &TableViewsConfig {
        &self.config
    }

    /// Writes the features of a row into `slot`.
    fn start(&self, sample: &TableRow, slot: &mut Vec<f32>) {
        assert_eq!(
            sample.len(),
            self.statistics.len(),
            "a row (left) must have the features of the views (right)"
        );
        slot.clear();
        slot.extend_from_slice(sample);
    }

    fn standardize(&self, view: &mut [f32]) {
        for (value, statistics) in view.iter_mut().zip(&self.statistics) {
            *value = statistics.standardize(*value);
        }
    }

    /// Mixes features geometrically; values below 0 linearly.
    fn mix_geometrically(&self, x: &mut [f32], partner: &[f32], lambda: f32, at: Range<usize>) {
        let epsilon = &self.epsilon[at];
        if x.iter().chain(partner).all(|value| *value >= 0.0) {
            return geometric(x, partner, lambda, epsilon);
        }
        for ((x, partner), epsilon) in x.iter_mut().zip(partner).zip(epsilon) {
            let (x, partner) = (std::slice::from_mut(x), std::slice::from_ref(partner));
            if x[0] >= 0.0 && partner[0] >= 0.0 {
                geometric(x, partner, lambda, std::slice::from_ref(epsilon));
            } else {
                linear(x, partner, lambda);
            }
        }
    }

    /// Exchanges each column for that of the partner, unless it is kept.
    fn mix_columns(&self, x: &mut [f32], partner: &[f32], rng: &mut Rng) {
        let mut keep = vec![true; x.len()];
        for column in &self.columns {
            // The features of a column share one m of Eq. (6) of DACL: part of a one-hot code is no category.
            keep[column.clone()].fill(rng.random_bool(self.config.keep));
        }
        binary(x, partner, &keep);
    }

    fn mix_by_kind(&self, x: &mut [f32], partner: &[f32], rng: &mut Rng) {
        let lambda = self.lambda.draw(rng);
        for Run { mixing, features } in &self.runs {
            let (x, partner) = (&mut x[features.clone()], &partner[features.clone()]);
            match mixing {
                Mixing::Linear => linear(x, partner, lambda),
                Mixing::Geometric => self.mix_geometrically(x, partner, lambda, features.clone()),
                Mixing::Exchange => {
                    if !rng.random_bool(f64::from(lambda)) {
                        x.copy_from_slice(partner);
                    }
                }
            }
        }
    }

    /// Mixes a row with its only partner.
    fn mix(&self, kind: NoiseKind, x: &mut [f32], partner: &[f32], pair: Seed, rng: &mut Rng) {
        let n = x.len();
        match kind {
            NoiseKind::Linear => linear(x, partner, self.lambda.draw(rng)),
            NoiseKind::Geometric => {
                let lambda = self.lambda.draw(rng);
                self.mix_geometrically(x, partner, lambda, 0..n);
            }
            NoiseKind::Binary => self.mix_columns(x, partner, rng),
            NoiseKind::Auto => self.mix_by_kind(x, partner, rng),
            NoiseKind::Plus => {
                let kinds = [NoiseKind::Linear, NoiseKind::Geometric, NoiseKind::Binary];
                // Both views of the pair draw the same kind from the pair's seed.
                let drawn = pair.child("noise-kind").rng().random_range(0..3_u32);
                self.mix(kinds[drawn as usize], x, partner, pair, rng);
            }
            NoiseKind::Gaussian
            | NoiseKind::GaussianPrinted
            | NoiseKind::Marginal
            | NoiseKind::None => {}
        }
    }

    /// Adds Gaussian noise to a standardised row.
    fn add_noise(&self, view: &mut [f32], rng: &mut Rng) {
        match self.config.noise {
            NoiseKind::Gaussian => gaussian(view, 0.0, self.config.sigma as f32, rng),
            NoiseKind::GaussianPrinted => {
                let mut noise = vec![0.0; view.len()];
                gaussian(&mut noise, self.config.printed_mean as f32, 1.0, rng);
                for ((value, noise), of) in view.iter_mut().zip(noise).zip(&self.statistics) {
                    // One unit of the scale from 0 to 1, in standard deviations.
                    let unit = (f64::from(of.max) - f64::from(of.min)) / of.sd;
                    *value += (unit * f64::from(noise)) as f32;
                }
            }
            _ => {}
        }
    }
}

impl Views for TableViews {
    type Sample = TableRow;
    type View = Vec<f32>;

    /// Makes a view without a partner.
    ///
    /// # Panics
    /// If the noise needs partners, or if the row has another number of features than the schema.
    fn view(&self, sample: &TableRow, rng: &mut Rng) -> Vec<f32> {
        assert_eq!(
            self.n_partners(),
            0,
            "the noise `{}` needs partners (left), found none: `paired_view` makes its views",
            self.config.noise
        );
        let mut view = self.plain(sample);
        self.add_noise(&mut view, rng);
        view
    }

    fn plain(&self, sample: &TableRow) -> Vec<f32> {
        let mut view = Vec::new();
        self.start(sample, &mut view);
        self.standardize(&mut view);
        view
    }

    fn paired_view(
        &self,
        sample: &TableRow,
        pairing: &Pairing<'_, TableRow>,
        rng: &mut Rng,
    ) -> Vec<f32> {
        let mut view = Vec::new();
        self.paired_view_into(sample, pairing, rng, &mut view);
        view
    }

    /// Makes a view in a slot that holds an earlier one.
    ///
    /// # Panics
    /// If there are other than [`n_partners`](Self::n_partners) partners, or if a row has another number
    /// of features than the schema.
    fn paired_view_into(
        &self,
        sample: &TableRow,
        pairing: &Pairing<'_, TableRow>,
        rng: &mut Rng,
        slot: &mut Vec<f32>,
    ) {
        assert_eq!(
            pairing.partners.len(),
            self.n_partners(),
            "found partners (left), expected as many as the noise `{}` needs (right)",
            self.config.noise
        );
        self.start(sample, slot);
        match (self.config.noise, pairing.side) {
            (NoiseKind::Marginal, Side::First) => {}
            (NoiseKind::Marginal, Side::Second) => {
                for (column, partner) in self.columns.iter().zip(pairing.partners) {
                    if rng.random_bool(self.config.corruption) {
                        slot[column.clone()].copy_from_slice(&partner[column.clone()]);
                    }
                }
            }
            (kind, _) => {
                if let [partner] = pairing.partners {
                    self.mix(kind, slot, partner, pairing.pair, rng);
                }
            }
        }
        self.standardize(slot);
        self.add_noise(slot, rng);
    }

    /// Returns the number of partners of a view: 0 for `gaussian`, `gaussian-printed` and `none`, one for
    /// each column for `marginal`, else 1.
    fn n_partners(&self) -> usize {
        match self.config.noise {
            NoiseKind::Gaussian | NoiseKind::GaussianPrinted | NoiseKind::None => 0,
            NoiseKind::Marginal => self.columns.len(),
            _ => 1,
        }
    }
}
