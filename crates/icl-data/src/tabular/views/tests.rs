//! Statistics and edge cases of the views of rows.

use std::borrow::Cow;

use icl_core::mixup::MixupNote;
use icl_core::{Pairing, Seed, Side, Views};
use rand::RngExt;

use super::{NoiseKind, TableViews, TableViewsConfig};
use crate::embedded;
use crate::tabular::{
    Header, Missing, RawTable, TableOptions, TableRow, TableSchema, TabularDataset,
    read_table_bytes,
};

/// Number of draws of a statistical test.
const N: usize = 100_000;

fn table(text: &str) -> RawTable {
    let options = TableOptions {
        header: Header::Yes,
        missing: Missing::Mean,
        ..TableOptions::default()
    };
    read_table_bytes("T", text.as_bytes(), &options).unwrap()
}

fn data(text: &str) -> TabularDataset {
    let table = table(text);
    let all: Vec<usize> = (0..table.n_rows()).collect();
    TableSchema::fit(&table, &all, &[])
        .unwrap()
        .apply(&table)
        .unwrap()
}

fn config(noise: NoiseKind) -> TableViewsConfig {
    TableViewsConfig::new().with_noise(noise)
}

fn view(views: &TableViews, rows: [&TableRow; 2], side: Side, pair: u64, rng: u64) -> Vec<f32> {
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
fn two_rows() -> TabularDataset {
    data("a,b,c,d\n0,1,4,-6\n1,3,9,2\n")
}

/// A table in which `auto` finds each of its kinds: continuous, skewed, binary, categorical, missing.
fn mixed() -> TabularDataset {
    let mut text = String::from("number,amount,flag,colour,gaps\n");
    for row in 0..40 {
        let amount = if row == 7 { 1000 } else { 1 + row % 3 };
        let gap = if row % 5 == 0 {
            "?".into()
        } else {
            row.to_string()
        };
        text += &format!(
            "{},{amount},{},{},{gap}\n",
            row - 20,
            row % 2,
            ["r", "g", "b"][row as usize % 3]
        );
    }
    data(&text)
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
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

fn digits() -> TabularDataset {
    let table = embedded::tables("digits-table").unwrap();
    let all: Vec<usize> = (0..table.n_rows()).collect();
    TableSchema::fit(&table, &all, &[])
        .unwrap()
        .apply(&table)
        .unwrap()
}

/// At 5 standard errors: mean, variance and range of λ, and no correlation between the two views.
#[test]
fn lambda_is_uniform_and_independent_in_the_two_views() {
    let data = data("a\n1\n2\n4\n-6\n");
    let rows = [&data.row(0), &data.row(1)];
    for (noise, alpha) in [
        (NoiseKind::Linear, 0.5),
        (NoiseKind::Linear, 0.9),
        (NoiseKind::Auto, 0.7),
    ] {
        let views = config(noise).with_alpha_mix(alpha).init(data.schema());
        let (own, other) = (views.plain(rows[0])[0], views.plain(rows[1])[0]);
        let lambda = |side, pair: usize, rng: usize| {
            let view = view(&views, rows, side, pair as u64, rng as u64);
            f64::from((view[0] - other) / (own - other))
        };
        let pairs: Vec<[f64; 2]> = (0..N / 2)
            .map(|at| {
                [
                    lambda(Side::First, at, 2 * at),
                    lambda(Side::Second, at, 2 * at + 1),
                ]
            })
            .collect();
        let all: Vec<f64> = pairs.concat();
        let n = all.len() as f64;
        let width = 1.0 - alpha;
        let mean = all.iter().sum::<f64>() / n;
        close(
            mean,
            (1.0 + alpha) / 2.0,
            5.0 * width / (12.0 * n).sqrt(),
            "mean",
        );
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        close(
            variance,
            width.powi(2) / 12.0,
            5.0 * width.powi(2) / (180.0 * n).sqrt(),
            "variance",
        );
        // Rounding of the views.
        assert!(all.iter().all(|x| (alpha - 1e-6..=1.0 + 1e-6).contains(x)));
        let product = |pair: &[f64; 2]| (pair[0] - mean) * (pair[1] - mean);
        let covariance = pairs.iter().map(product).sum::<f64>() / pairs.len() as f64;
        close(
            covariance / variance,
            0.0,
            5.0 / (pairs.len() as f64).sqrt(),
            "correlation",
        );
    }
}

/// Linear and binary mixing are the same before and after any affine map of the columns.
#[test]
fn linear_and_binary_mixing_commute_with_standardisation() {
    let data = mixed();
    for noise in [NoiseKind::Linear, NoiseKind::Binary] {
        let views = config(noise)
            .with_alpha_mix(0.3)
            .with_keep(0.5)
            .init(data.schema());
        for seed in 0..200 {
            let mut rng = Seed::new(seed).rng();
            let rows = [0, 1].map(|_| data.row(rng.random_range(0..40)));
            let found = view(&views, [&rows[0], &rows[1]], Side::First, seed, seed);
            let standard = rows.each_ref().map(|row| views.plain(row));
            // The same draws on standardised rows, by a schema that changes nothing.
            let mut rng = Seed::new(seed).child("view").rng();
            let mut expected = standard[0].clone();
            if noise == NoiseKind::Linear {
                let lambda = views.lambda.draw(&mut rng);
                for (x, partner) in expected.iter_mut().zip(&standard[1]) {
                    *x = lambda * *x + (1.0 - lambda) * partner;
                }
            } else {
                for column in &views.columns {
                    if !rng.random_bool(0.5) {
                        expected[column.clone()].copy_from_slice(&standard[1][column.clone()]);
                    }
                }
            }
            for (found, expected) in found.iter().zip(&expected) {
                // Cancellation where a mean is subtracted.
                close(f64::from(*found), f64::from(*expected), 2e-5, noise.name());
            }
        }
    }
}

#[test]
fn geometric_mixing_acts_on_the_values_of_the_file() {
    let data = data("a,b\n0,2\n8,32\n1,5\n4,7\n");
    let views = config(NoiseKind::Geometric)
        .with_alpha_mix(0.5)
        .init(data.schema());
    // ε is half the smallest value above 0.
    assert_eq!(views.epsilon, [0.5, 1.0]);
    for seed in 0..50 {
        let found = view(
            &views,
            [&data.row(0), &data.row(1)],
            Side::First,
            seed,
            seed,
        );
        let lambda = f64::from(views.lambda.draw(&mut Seed::new(seed).child("view").rng()));
        let power = |x: f64, partner: f64| x.powf(lambda) * partner.powf(1.0 - lambda);
        let expected = [power(0.5, 8.5) - 0.5, power(3.0, 33.0) - 1.0];
        for (at, statistics) in data.schema().statistics().iter().enumerate() {
            let expected = (expected[at] - statistics.mean) / statistics.sd;
            close(f64::from(found[at]), expected, 1e-6, "geometric");
        }
    }
    // Printed: a value whose partner is 0 becomes 0 at every λ below 1.
    let exact = config(NoiseKind::Geometric)
        .with_exact(true)
        .init(data.schema());
    let found = view(&exact, [&data.row(1), &data.row(0)], Side::First, 1, 1);
    assert_eq!(found[0], data.schema().statistics()[0].standardize(0.0));
}

#[test]
fn geometric_mixing_needs_values_of_at_least_0() {
    let negative = data("a,b\n1,2\n3,-4.5\n");
    for noise in [NoiseKind::Geometric, NoiseKind::Plus] {
        assert_eq!(
            config(noise)
                .try_init(negative.schema())
                .unwrap_err()
                .to_string(),
            "\"T\", column \"b\": found the value -4.5, expected values of at least 0 for geometric \
             mixing (or the noise `auto`, which mixes such a column linearly)"
        );
    }
    config(NoiseKind::Auto).init(negative.schema());
    // New data may have what the old data did not have.
    let old = data("a,b\n1,2\n3,4\n");
    let new = old.schema().apply(&table("a,b\n-1,2\n1,8\n")).unwrap();
    let views = config(NoiseKind::Geometric)
        .with_alpha_mix(0.5)
        .init(old.schema());
    let found = view(&views, [&new.row(0), &new.row(1)], Side::First, 1, 1);
    let lambda = views.lambda.draw(&mut Seed::new(1).child("view").rng());
    let linear = old.schema().statistics()[0].standardize(-lambda + (1.0 - lambda));
    close(f64::from(found[0]), f64::from(linear), 1e-6, "linear");
    assert!(found[1].is_finite());
}

/// The share of a digit's non-zero pixels that the printed form erases is that of the specification.
#[test]
fn the_printed_form_erases_a_quarter_of_a_digit() {
    let data = digits();
    let views = config(NoiseKind::Geometric)
        .with_exact(true)
        .init(data.schema());
    let (mut n_erased, mut n_drawn) = (0, 0);
    let mut rng = Seed::new(5).rng();
    for seed in 0..2000 {
        let rows = [0, 1].map(|_| data.row(rng.random_range(0..data.n_rows())));
        let found = view(&views, [&rows[0], &rows[1]], Side::First, seed, seed);
        for (at, statistics) in data.schema().statistics().iter().enumerate() {
            if rows[0][at] > 0.0 {
                n_drawn += 1;
                n_erased += usize::from(found[at] == statistics.standardize(0.0));
            }
        }
    }
    close(n_erased as f64 / f64::from(n_drawn), 0.24, 0.01, "share");
}

/// At 5 standard errors of a binomial count.
#[test]
fn columns_are_exchanged_whole_and_as_often_as_told() {
    let data = mixed();
    let rows = [&data.row(1), &data.row(20)];
    for keep in [0.9, 0.1] {
        let views = config(NoiseKind::Binary)
            .with_keep(keep)
            .init(data.schema());
        let plain = [views.plain(rows[0]), views.plain(rows[1])];
        let mut n_kept = vec![0; views.columns.len()];
        let n = 10_000;
        for seed in 0..n {
            let found = view(&views, rows, Side::First, seed, seed);
            for (column, n_kept) in views.columns.iter().zip(&mut n_kept) {
                let part = &found[column.clone()];
                let is_own = part == &plain[0][column.clone()];
                assert!(is_own || part == &plain[1][column.clone()]);
                *n_kept += u64::from(is_own);
            }
        }
        assert_eq!(n_kept.len(), 5);
        for n_kept in n_kept {
            let error = (keep * (1.0 - keep) / n as f64).sqrt();
            close(
                n_kept as f64 / n as f64,
                keep,
                5.0 * error,
                "share of kept columns",
            );
        }
    }
}

#[test]
fn kinds_of_plus_are_uniform_and_those_of_both_views() {
    let data = digits();
    let views = config(NoiseKind::Plus)
        .with_alpha_mix(0.5)
        .with_keep(0.5)
        .init(data.schema());
    let rows = [&data.row(3), &data.row(8)];
    let kind_of = |side, pair, rng| {
        let found = view(&views, rows, side, pair, rng);
        let mut matches = Vec::new();
        for (at, noise) in [NoiseKind::Linear, NoiseKind::Geometric, NoiseKind::Binary]
            .into_iter()
            .enumerate()
        {
            let alone = views.config().clone().with_noise(noise).init(data.schema());
            if view(&alone, rows, side, pair, rng) == found {
                matches.push(at);
            }
        }
        assert_eq!(matches.len(), 1);
        matches[0]
    };
    let n = 3000;
    let mut counts = [0_u64; 3];
    for pair in 0..n {
        let kind = kind_of(Side::First, pair, 2 * pair);
        assert_eq!(kind, kind_of(Side::Second, pair, 2 * pair + 1));
        counts[kind] += 1;
    }
    for count in counts {
        let error = (2.0 / 9.0 / n as f64).sqrt();
        close(
            count as f64 / n as f64,
            1.0 / 3.0,
            5.0 * error,
            "share of a kind",
        );
    }
}

/// Every kind of column has its own noise, and none makes a value that no row has where there are
/// categories.
#[test]
fn auto_mixes_each_column_by_its_kind() {
    let data = mixed();
    let views = config(NoiseKind::Auto)
        .with_alpha_mix(0.4)
        .init(data.schema());
    let rows = [&data.row(7), &data.row(20)];
    let plain = [views.plain(rows[0]), views.plain(rows[1])];
    let [number, amount, flag, colour, gaps] = &views.columns[..] else {
        panic!("five columns");
    };
    let n = 20_000;
    let mut n_exchanged = [0_u64; 3];
    for seed in 0..n {
        let found = view(&views, rows, Side::First, seed, seed);
        let lambda = views.lambda.draw(&mut Seed::new(seed).child("view").rng());
        let mixed = |at: usize| f64::from(lambda * plain[0][at] + (1.0 - lambda) * plain[1][at]);
        close(
            f64::from(found[number.start]),
            mixed(number.start),
            1e-5,
            "linear",
        );
        let statistics = data.schema().statistics()[amount.start];
        let epsilon = f64::from(statistics.epsilon());
        let [own, partner] = rows.map(|row| f64::from(row[amount.start]) + epsilon);
        let lambda = f64::from(lambda);
        let expected = own.powf(lambda) * partner.powf(1.0 - lambda) - epsilon;
        let expected = (expected - statistics.mean) / statistics.sd;
        close(f64::from(found[amount.start]), expected, 1e-5, "geometric");
        for (column, n_exchanged) in [flag, colour, gaps].into_iter().zip(&mut n_exchanged) {
            let part = &found[column.clone()];
            let is_own = part == &plain[0][column.clone()];
            assert!(is_own || part == &plain[1][column.clone()]);
            *n_exchanged += u64::from(!is_own);
        }
    }
    // The mean of 1 − λ is 0.3, and so is the probability of an exchange.
    for n_exchanged in n_exchanged {
        let error = (0.3 * 0.7 / n as f64).sqrt();
        close(
            n_exchanged as f64 / n as f64,
            0.3,
            5.0 * error,
            "share of exchanges",
        );
    }
}

#[test]
fn marginal_noise_takes_each_column_from_its_own_partner() {
    let data = two_rows();
    let views = config(NoiseKind::Marginal).init(data.schema());
    assert_eq!(views.n_partners(), 4);
    let partner = |at: usize| Cow::Owned(TableRow::new(vec![100.0 + at as f32; 4]));
    let partners: Vec<Cow<'_, TableRow>> = (0..4).map(partner).collect();
    let row = data.row(0);
    let n = 10_000;
    let mut n_exchanged = [0_u64; 4];
    for seed in 0..n {
        let made = |side| {
            let pairing = Pairing {
                part: 0,
                side,
                pair: Seed::new(seed),
                partners: &partners,
            };
            views.paired_view(&row, &pairing, &mut Seed::new(seed).rng())
        };
        assert_eq!(made(Side::First), views.plain(&row));
        for (at, found) in made(Side::Second).into_iter().enumerate() {
            if found != -1.0 {
                let statistics = data.schema().statistics()[at];
                assert_eq!(found, statistics.standardize(100.0 + at as f32));
                n_exchanged[at] += 1;
            }
        }
    }
    for count in n_exchanged {
        let error = (0.6 * 0.4 / n as f64).sqrt();
        close(
            count as f64 / n as f64,
            0.6,
            5.0 * error,
            "share of exchanges",
        );
    }
}

#[test]
fn gaussian_noise_has_the_moments_of_both_readings() {
    let data = data("a\n0\n0\n0\n4\n");
    // The mean is 1 and the deviation √3; the range is 4.
    let unit = 4.0 / 3.0_f64.sqrt();
    for (config, mean, deviation) in [
        (config(NoiseKind::Gaussian).with_sigma(0.3), 0.0, 0.3),
        (
            config(NoiseKind::GaussianPrinted).with_printed_mean(0.5),
            0.5 * unit,
            unit,
        ),
    ] {
        let views = config.init(data.schema());
        let row = data.row(3);
        let plain = views.plain(&row)[0];
        let draw = |at: usize| {
            let mut rng = Seed::new(at as u64).rng();
            f64::from(views.view(&row, &mut rng)[0] - plain)
        };
        let draws: Vec<f64> = (0..N).map(draw).collect();
        let found = draws.iter().sum::<f64>() / N as f64;
        close(found, mean, 5.0 * deviation / (N as f64).sqrt(), "mean");
        let variance = draws.iter().map(|x| (x - found).powi(2)).sum::<f64>() / N as f64;
        let error = deviation.powi(2) * (2.0 / N as f64).sqrt();
        close(variance, deviation.powi(2), 5.0 * error, "variance");
    }
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
