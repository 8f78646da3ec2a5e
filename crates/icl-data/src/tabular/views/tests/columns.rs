//! Noise that treats each column in its own way.

use std::borrow::Cow;

use icl_core::{Pairing, Seed, Side, Views};

use super::super::NoiseKind;
use crate::tabular::TableRow;

use super::{N, close, config, data, digits, mixed, two_rows, view};

/// At 5 standard errors of a binomial count.
#[test]
fn columns_are_exchanged_whole_and_as_often_as_set() {
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
