//! Mixtures of two rows: linear, binary, geometric, as printed.

use icl_core::{Seed, Side, Views};
use rand::RngExt;

use super::super::NoiseKind;

use super::{N, close, config, data, digits, mixed, table, view};

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
