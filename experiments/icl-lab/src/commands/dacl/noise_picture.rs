//! The picture of the noise, of the embedded digits: rows of a table that are images of 8 x 8 pixels.

use std::borrow::Cow;

use crate::pages::dacl::NoisePicture;
use icl_cli::parts::Failure;
use icl_core::{Pairing, Seed, Side, Views};
use icl_data::{NoiseKind, TableSchema, TableViewsConfig, TabularDataset, embedded};
use rand::RngExt;

/// Side of an image.
const SIDE: usize = 8;
/// Largest value of a pixel.
const LARGEST: f64 = 16.0;
/// Lower end α of the range of λ, and the probability ρ that a column is kept: the paper's smallest α, so
/// that the noise can be seen.
const SHARE: f64 = 0.5;
/// Standard deviation of Gaussian noise, and the mean of its printed form.
const SIGMA: f64 = 0.5;
/// Root seed.
const SEED: u64 = 0;

/// Draws the views.
///
/// # Errors
/// If the embedded data cannot be read.
pub fn noise_picture() -> Result<NoisePicture, Failure> {
    let table = embedded::tables("digits-table").map_err(Failure::input)?;
    let all: Vec<usize> = (0..table.n_rows()).collect();
    let schema = TableSchema::fit(&table, &all, &[]).map_err(Failure::input)?;
    let data = schema.apply(&table).map_err(Failure::input)?;
    let config = TableViewsConfig::new()
        .with_alpha_mix(SHARE)
        .with_keep(SHARE)
        .with_sigma(SIGMA)
        .with_printed_mean(SIGMA);
    let of = |noise: NoiseKind| config.clone().with_noise(noise);
    let exact = of(NoiseKind::Geometric).with_exact(true);
    let kinds = [
        ("linear, α = 0.5", of(NoiseKind::Linear)),
        ("geometric, α = 0.5", of(NoiseKind::Geometric)),
        ("geometric as printed, α = 0.5", exact),
        ("binary, ρ = 0.5", of(NoiseKind::Binary)),
        ("auto, α = 0.5", of(NoiseKind::Auto)),
        ("Gaussian, σ = 0.5", of(NoiseKind::Gaussian)),
        (
            "Gaussian, printed, mean 0.5",
            of(NoiseKind::GaussianPrinted),
        ),
        ("SCARF, first view plain", of(NoiseKind::Marginal)),
    ];
    let kinds = kinds.into_iter().map(|(name, config)| {
        let views = [Side::First, Side::Second].map(|side| view(&config, &data, side));
        let [first, second] = views;
        Ok((name.to_owned(), [first?, second?]))
    });
    Ok(NoisePicture {
        data: "digits".to_owned(),
        sample: view(&of(NoiseKind::None), &data, Side::First)?,
        width: SIDE,
        kinds: kinds.collect::<Result<_, Failure>>()?,
    })
}

/// Makes a view of the first row, with partners among the others.
fn view(config: &TableViewsConfig, data: &TabularDataset, side: Side) -> Result<Vec<f64>, Failure> {
    let views = config.try_init(data.schema()).map_err(Failure::input)?;
    let seed = Seed::new(SEED).child(match side {
        Side::First => "first",
        Side::Second => "second",
    });
    let mut partners = seed.child("partners").rng();
    let partners: Vec<_> = (0..views.n_partners())
        .map(|_| Cow::Owned(data.row(partners.random_range(1..data.n_rows()))))
        .collect();
    let pairing = Pairing {
        part: 0,
        side,
        pair: Seed::new(SEED),
        partners: &partners,
    };
    let values = views.paired_view(&data.row(0), &pairing, &mut seed.rng());
    Ok(pixels(data, &values))
}

/// Returns the pixels from 0 to 1 of standardised features; pixels that are constant are 0.
fn pixels(data: &TabularDataset, features: &[f32]) -> Vec<f64> {
    let schema = data.schema();
    let raw = |feature: usize| {
        let of = &schema.statistics()[feature];
        (of.mean + of.sd * f64::from(features[feature])) / LARGEST
    };
    let columns = schema.columns().iter();
    columns
        .map(|column| column.features.clone().next().map_or(0.0, raw))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_changes_the_views_and_not_the_row() {
        let picture = noise_picture().unwrap();
        let is_close = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-5;
        assert_eq!((picture.sample.len(), picture.width), (64, SIDE));
        let numbers = embedded::tables("digits-table").unwrap().numbers().unwrap();
        let row = numbers[..64].iter().map(|x| f64::from(*x) / LARGEST);
        assert!(
            picture
                .sample
                .iter()
                .zip(&row.collect::<Vec<f64>>())
                .all(is_close)
        );
        for (name, [first, second]) in &picture.kinds {
            let is_plain = first.iter().zip(&picture.sample).all(is_close);
            assert_eq!(is_plain, name.starts_with("SCARF"), "{name}");
            assert!(!second.iter().zip(&picture.sample).all(is_close), "{name}");
        }
    }
}
