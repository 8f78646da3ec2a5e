//! Maps and retrieval across versions against SciPy, scikit-learn and plain loops (`scripts/reference/alignment.py`).

use icl_core::Seed;
use icl_eval::{
    AlignmentForm, AlignmentMap, AlignmentSettings, EvalError, Matrix, cross_version_recall,
    moved_most_first, remaining_distances,
};
use rand::RngExt;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    d: usize,
    d_wide: usize,
    old: Vec<f64>,
    new: Vec<f64>,
    wide: Vec<f64>,
    rotation: Vec<f64>,
    affine: Vec<Affine>,
    recall: Vec<RecallAt>,
    distances: Vec<f64>,
}

#[derive(Deserialize)]
struct Affine {
    rank: usize,
    ridge: f64,
    weights: Vec<f64>,
    offset: Vec<f64>,
}

#[derive(Deserialize)]
struct RecallAt {
    k: usize,
    unmapped: Retrieval,
    mapped: Retrieval,
}

#[derive(Deserialize)]
struct Retrieval {
    own: f64,
    neighbours: f64,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/alignment.json")).unwrap()
}

fn matrix(values: &[f64], d: usize) -> Matrix {
    Matrix::try_new(values.to_vec(), d).unwrap()
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= within * expected.abs().max(1.0),
            "found {found}, expected {expected}"
        );
    }
}

fn procrustes(old: &Matrix, new: &Matrix) -> Result<AlignmentMap, EvalError> {
    AlignmentSettings::new(AlignmentForm::Procrustes).fit(old, new)
}

#[test]
fn the_orthogonal_map_is_that_of_scipy() {
    let case = reference();
    let (old, new) = (matrix(&case.old, case.d), matrix(&case.new, case.d));
    let map = procrustes(&old, &new).unwrap();
    assert_close(map.weights(), &case.rotation, 1e-10);
    assert_eq!((map.offset(), map.ridge()), (&[0.0; 5][..], None));
    let mapped = map.apply(&old).unwrap();
    let distances = remaining_distances(&mapped, &new);
    assert_close(&distances, &case.distances, 1e-10);
    let order = moved_most_first(&distances);
    assert!(order.is_sorted_by(|a, b| distances[*a] >= distances[*b]));
    for RecallAt {
        k,
        unmapped,
        mapped: of_mapped,
    } in case.recall
    {
        for (gallery, expected) in [(&old, unmapped), (&mapped, of_mapped)] {
            let found = cross_version_recall(&new, gallery, k).unwrap();
            // Shares of the same counts.
            assert_close(
                &[found.own, found.neighbours],
                &[expected.own, expected.neighbours],
                1e-12,
            );
        }
        let alone = cross_version_recall(&new, &new, k).unwrap();
        assert_eq!((alone.own, alone.neighbours), (1.0, 1.0));
    }
}

#[test]
fn affine_maps_are_those_of_scikit_learn() {
    let case = reference();
    let (old, wide) = (matrix(&case.old, case.d), matrix(&case.wide, case.d_wide));
    for Affine {
        rank,
        ridge,
        weights,
        offset,
    } in case.affine
    {
        let map = AlignmentSettings::new(AlignmentForm::Affine)
            .with_rank(Some(rank))
            .with_ridge(Some(ridge))
            .fit(&old, &wide)
            .unwrap();
        assert_close(map.weights(), &weights, 1e-9);
        assert_close(map.offset(), &offset, 1e-9);
        let again = AlignmentMap::from_parts(weights, offset);
        assert_eq!((again.d_old(), again.d_new()), (5, 7));
    }
}

/// Rows of a generator, and a turn by a product of reflections.
pub fn turned(n: usize, d: usize) -> (Matrix, Matrix) {
    let mut rng = Seed::new(8).rng();
    let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.random_range(-1.0..1.0)).collect() };
    let old = draw(n * d);
    let mut new = old.clone();
    for _ in 0..d {
        let axis = draw(d);
        let square: f64 = axis.iter().map(|x| x * x).sum();
        for row in new.chunks_exact_mut(d) {
            let along: f64 = row.iter().zip(&axis).map(|(x, y)| x * y).sum();
            let along = 2.0 * along / square;
            row.iter_mut().zip(&axis).for_each(|(x, y)| *x -= along * y);
        }
    }
    (matrix(&old, d), matrix(&new, d))
}

#[test]
fn a_known_rotation_is_recovered() {
    let (old, new) = turned(60, 16);
    let fitted: Vec<usize> = (0..40).collect();
    let held_out: Vec<usize> = (40..60).collect();
    for settings in [
        AlignmentSettings::new(AlignmentForm::Procrustes),
        AlignmentSettings::new(AlignmentForm::Affine).with_ridge(Some(1e-12)),
        AlignmentSettings::new(AlignmentForm::Affine),
    ] {
        let map = settings
            .fit(&old.select(&fitted), &new.select(&fitted))
            .unwrap();
        let mapped = map.apply(&old.select(&held_out)).unwrap();
        let expected = new.select(&held_out);
        for (found, expected) in mapped.rows().zip(expected.rows()) {
            assert_close(found, expected, 1e-6);
        }
        let unmapped = cross_version_recall(&expected, &old.select(&held_out), 1).unwrap();
        let recall = cross_version_recall(&expected, &mapped, 1).unwrap();
        assert!(recall.own == 1.0 && recall.neighbours == 1.0 && unmapped.own < 0.5);
    }
}

/// With noise on few rows of many columns the least penalty overfits; the chosen one is nearer to rows that no fit has seen.
#[test]
fn the_chosen_penalty_serves_rows_that_were_not_fitted() {
    let mut rng = Seed::new(3).rng();
    let (old, new) = turned(300, 24);
    let noisy: Vec<f64> = new
        .rows()
        .flatten()
        .map(|x| x + rng.random_range(-1.0..1.0))
        .collect();
    let noisy = matrix(&noisy, 24);
    let (fitted, others): (Vec<usize>, Vec<usize>) = (0..300).partition(|row| *row < 36);
    let error = |ridge: Option<f64>| {
        let settings = AlignmentSettings::new(AlignmentForm::Affine).with_ridge(ridge);
        let map = settings
            .fit(&old.select(&fitted), &noisy.select(&fitted))
            .unwrap();
        let mapped = map.apply(&old.select(&others)).unwrap();
        let expected = new.select(&others);
        let pairs = mapped.rows().flatten().zip(expected.rows().flatten());
        pairs.map(|(x, y)| (x - y).powi(2)).sum::<f64>()
    };
    assert!(error(None) < error(Some(1e-8)));
}

/// A rotation is open in directions that the rows do not have: a decomposition would complete it by arbitrary ones.
#[test]
fn rows_that_leave_a_rotation_open_are_named() {
    let (old, new) = turned(40, 4);
    let map_rows = |of: &Matrix, map: &dyn Fn(&mut [f64])| {
        let mut values: Vec<f64> = of.rows().flatten().copied().collect();
        values.chunks_exact_mut(4).for_each(map);
        matrix(&values, 4)
    };
    let dead = map_rows(&old, &|row| row[2] = 0.0);
    // In single precision a combination of columns is one up to rounding.
    let combined = map_rows(&old, &|row| {
        row[3] = f64::from((0.3 * row[0] - 0.7 * row[1]) as f32);
    });
    let same = map_rows(&old, &|row| row.copy_from_slice(&[0.1, 0.2, -0.3, 0.7]));
    let nearly_same = map_rows(&old, &|row| {
        row.iter_mut().for_each(|x| *x = 1.0 + 1e-9 * *x)
    });
    let zeros = map_rows(&old, &|row| row.fill(0.0));
    for (rows, rank) in [
        (dead, 3),
        (combined, 3),
        (same, 1),
        (nearly_same, 1),
        (zeros, 0),
    ] {
        for (name, found) in [
            ("old rows", procrustes(&rows, &new)),
            ("new rows", procrustes(&old, &rows)),
        ] {
            let width = 4;
            let expected = format!(
                "procrustes: found {name} of rank {rank}, expected {width}, as many directions as columns (an affine map \
                 takes fewer)"
            );
            assert_eq!(found.unwrap_err().to_string(), expected);
        }
    }
    // Both have two directions, but in the second one they are not correlated.
    let [a, b] = [[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]];
    let c = [1.0, -1.0, -1.0, 1.0];
    let columns = |first: [f64; 4], second: [f64; 4]| {
        let pairs = first.into_iter().zip(second);
        matrix(&pairs.flat_map(|(x, y)| [x, y]).collect::<Vec<f64>>(), 2)
    };
    let error = procrustes(&columns(a, b), &columns(a, c)).unwrap_err();
    let start = "procrustes: found AᵀB of old rows A and new rows B of rank 1, expected 2";
    assert!(error.to_string().starts_with(start), "{error}");
    // A few rows of zeros, small differences and any size of the rows leave nothing open.
    let some_zeros = old.rows().flatten().enumerate();
    let some_zeros: Vec<f64> = some_zeros
        .map(|(at, x)| if at < 12 { 0.0 } else { *x })
        .collect();
    assert!(procrustes(&matrix(&some_zeros, 4), &new).is_ok());
    let expected = procrustes(&old, &new).unwrap();
    for scale in [1e-60, 1e-4, 1e60] {
        let map = procrustes(
            &map_rows(&old, &|row| row.iter_mut().for_each(|x| *x *= scale)),
            &new,
        );
        assert_close(map.unwrap().weights(), expected.weights(), 1e-10);
    }
    let thin = |of: &Matrix| map_rows(of, &|row| row[1] *= 1e-4);
    let map = procrustes(&thin(&old), &thin(&old)).unwrap();
    let identity: Vec<f64> = (0..16).map(|at| f64::from(u8::from(at % 5 == 0))).collect();
    assert_close(map.weights(), &identity, 1e-9);
}

#[test]
fn wrong_rows_and_settings_are_named() {
    let (old, new) = turned(12, 4);
    let fit = |settings: AlignmentSettings, old: &Matrix, new: &Matrix| {
        settings.fit(old, new).unwrap_err().to_string()
    };
    let form = AlignmentSettings::new;
    let (rotation, affine) = (form(AlignmentForm::Procrustes), form(AlignmentForm::Affine));
    let few = |n: usize| old.select(&(0..n).collect::<Vec<usize>>());
    let equal = old.select(&[0; 12]);
    let narrow = matrix(&[1.0, 2.0, 3.0, 4.0], 1);
    for (found, expected) in [
        (
            fit(rotation.clone(), &old, &few(3)),
            "rows: found 12 old and 3 new ones",
        ),
        (
            fit(rotation.clone(), &few(4), &narrow),
            "procrustes: found widths 4 and 1",
        ),
        (
            fit(rotation, &few(3), &few(3)),
            "procrustes: found 3 rows, expected at least 4",
        ),
        (
            fit(affine.clone(), &few(2), &few(2)),
            "affine: found 2 rows, expected at least 3",
        ),
        (
            fit(affine.clone(), &equal, &new),
            "rows: found old ones that are all equal",
        ),
        (
            fit(affine.clone().with_rank(Some(5)), &old, &new),
            "rank: found 5, expected a number from 1 to 4",
        ),
        (
            fit(affine.clone().with_rank(Some(0)), &old, &new),
            "rank: found 0",
        ),
        (
            fit(affine.with_ridge(Some(f64::NAN)), &old, &new),
            "ridge: found NaN",
        ),
    ] {
        assert!(found.starts_with(expected), "{found}");
    }
    let map = procrustes(&old, &new).unwrap();
    let error = map.apply(&narrow).unwrap_err().to_string();
    assert_eq!(error, "map: found rows of width 1, expected 4");
    let error = cross_version_recall(&old, &new, 0).unwrap_err();
    let expected = "neighbours (k): found 0, expected at least 1";
    assert_eq!(error.to_string(), expected);
    assert!(cross_version_recall(&old, &new, 12).is_err());
}
