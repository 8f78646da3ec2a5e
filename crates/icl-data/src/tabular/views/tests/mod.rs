//! Statistics and edge cases of the views of rows.

mod columns;
mod mixing;

use std::borrow::Cow;

use icl_core::mixup::MixupNote;
use icl_core::{Pairing, Seed, Side, Views};

use super::{NoiseKind, TableViews, TableViewsConfig};
use crate::embedded;
use crate::tabular::{
    Header, Missing, RawTable, TableOptions, TableRow, TableSchema, TabularDataset,
    read_table_bytes,
};

/// Number of draws of a statistical test.
pub const N: usize = 100_000;

pub fn table(text: &str) -> RawTable {
    let options = TableOptions {
        header: Header::Yes,
        missing: Missing::Mean,
        ..TableOptions::default()
    };
    read_table_bytes("T", text.as_bytes(), &options).unwrap()
}

pub fn data(text: &str) -> TabularDataset {
    let table = table(text);
    let all: Vec<usize> = (0..table.n_rows()).collect();
    TableSchema::fit(&table, &all, &[])
        .unwrap()
        .apply(&table)
        .unwrap()
}

pub fn config(noise: NoiseKind) -> TableViewsConfig {
    TableViewsConfig::new().with_noise(noise)
}

pub fn view(views: &TableViews, rows: [&TableRow; 2], side: Side, pair: u64, rng: u64) -> Vec<f32> {
    let partners = vec![Cow::Borrowed(rows[1]); views.n_partners()];
    let pairing = Pairing {
        part: 0,
        side,
        pair: Seed::new(pair).child("pair"),
        partners: &partners,
    };
    views.paired_view(rows[0], &pairing, &mut Seed::new(rng).child("view").rng())
}

/// A table of two rows of numbers, whose standardised values are −1 and 1.
pub fn two_rows() -> TabularDataset {
    data("a,b,c,d\n0,1,4,-6\n1,3,9,2\n")
}

/// A table in which `auto` finds each of its kinds: continuous, skewed, binary, categorical, missing.
pub fn mixed() -> TabularDataset {
    let mut text = String::from("number,amount,flag,colour,gaps\n");
    for row in 0..40 {
        let amount = if row == 7 { 20 } else { 1 + row % 3 };
        let gap = if row % 5 == 0 {
            "?".into()
        } else {
            row.to_string()
        };
        text += &format!(
            "{},{amount},{},{},{gap}\n",
            row * 7 % 40 - 20,
            row % 2,
            ["r", "g", "b"][row as usize % 3]
        );
    }
    data(&text)
}

pub fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found} is not {expected}"
    );
}

#[test]
fn plain_views_are_standardised_by_the_old_data() {
    let data = two_rows();
    let views = config(NoiseKind::None).init(data.schema());
    assert_eq!(views.plain(&data.row(0)), [-1.0; 4]);
    assert_eq!(views.plain(&data.row(1)), [1.0; 4]);
    assert_eq!(views.n_partners(), 0);
    let mut rng = Seed::new(1).rng();
    assert_eq!(views.view(&data.row(0), &mut rng), [-1.0; 4]);
}

#[test]
fn settings_without_noise_change_no_bit_and_are_noted() {
    let mixed = mixed();
    let digits = digits();
    for noise in NoiseKind::ALL {
        let still = config(noise)
            .with_alpha_mix(1.0)
            .with_keep(1.0)
            .with_sigma(0.0)
            .with_corruption(0.0);
        if noise == NoiseKind::GaussianPrinted {
            assert_eq!(still.note(), None);
            continue;
        }
        assert_eq!(still.note(), Some(MixupNote::NoNoise));
        let data = match noise {
            NoiseKind::Geometric | NoiseKind::Plus => &digits,
            _ => &mixed,
        };
        let views = still.init(data.schema());
        for seed in 0..20 {
            let row = data.row(seed as usize);
            let rows = [&row, &data.row(39 - seed as usize)];
            let found = view(&views, rows, Side::Second, seed, seed);
            assert_eq!(found, views.plain(&row), "{noise}");
        }
    }
    let low = config(NoiseKind::Linear).with_alpha_mix(0.4);
    assert_eq!(low.note(), Some(MixupNote::PartnerMayDominate));
    assert_eq!(config(NoiseKind::Binary).with_alpha_mix(0.4).note(), None);
    assert_eq!(config(NoiseKind::Auto).note(), None);
}

pub fn digits() -> TabularDataset {
    let table = embedded::tables("digits-table").unwrap();
    let all: Vec<usize> = (0..table.n_rows()).collect();
    TableSchema::fit(&table, &all, &[])
        .unwrap()
        .apply(&table)
        .unwrap()
}

#[test]
fn views_are_functions_of_their_seeds_and_reuse_their_slots() {
    let data = mixed();
    let rows = [&data.row(3), &data.row(30)];
    for noise in NoiseKind::ALL {
        if matches!(noise, NoiseKind::Geometric | NoiseKind::Plus) {
            continue;
        }
        let views = config(noise).init(data.schema());
        let first = view(&views, rows, Side::Second, 1, 2);
        assert_eq!(first, view(&views, rows, Side::Second, 1, 2), "{noise}");
        let partners = vec![Cow::Borrowed(rows[1]); views.n_partners()];
        let pairing = Pairing {
            part: 0,
            side: Side::Second,
            pair: Seed::new(1).child("pair"),
            partners: &partners,
        };
        let mut slot = vec![f32::NAN; 99];
        let mut rng = Seed::new(2).child("view").rng();
        views.paired_view_into(rows[0], &pairing, &mut rng, &mut slot);
        assert_eq!(slot, first, "{noise}");
    }
}

#[test]
fn settings_outside_their_interval_are_errors() {
    let data = two_rows();
    let message =
        |config: TableViewsConfig| config.try_init(data.schema()).unwrap_err().to_string();
    let new = TableViewsConfig::new;
    for found in [-0.1, 1.1, f64::NAN] {
        assert_eq!(
            message(new().with_alpha_mix(found)),
            format!("mixing range: found α = {found}, expected a number from 0 to 1")
        );
        for (name, config) in [
            ("keep", new().with_keep(found)),
            ("corruption", new().with_corruption(found)),
        ] {
            assert_eq!(
                message(config),
                format!("table views: found {found} as {name}, expected a number from 0 to 1")
            );
        }
    }
    for found in [-0.1, f64::NAN, f64::INFINITY] {
        assert_eq!(
            message(new().with_sigma(found)),
            format!(
                "table views: found {found} as sigma, expected a number of at least 0 that fits in 32 \
                 bits"
            )
        );
    }
    assert_eq!(
        message(new().with_printed_mean(f64::NAN)),
        "table views: found NaN as printed_mean, expected a number that fits in 32 bits"
    );
}

#[test]
#[should_panic = "the noise `linear` needs partners"]
fn a_view_without_its_partner_panics() {
    let data = two_rows();
    let views = config(NoiseKind::Linear).init(data.schema());
    views.view(&data.row(0), &mut Seed::new(1).rng());
}
