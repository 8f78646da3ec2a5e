//! Generated data: points around the centres of classes. The new data have classes of their own.

use anyhow::Result;
use icl::prelude::*;
use rand::RngExt;

/// Number of coordinates.
pub const WIDTH: usize = 12;
/// Number of points, of which the last quarter is new.
const N_POINTS: usize = 1600;
/// Number of classes; the new data have the last three, the old data the others.
const N_CLASSES: usize = 12;

/// A sample.
pub type Point = [f32; WIDTH];

/// Draws a view: the point with a little noise, and without some of its coordinates.
pub fn noisy(point: &Point, rng: &mut Rng) -> Point {
    point.map(|x| match rng.random::<f32>() < 0.2 {
        true => 0.0,
        false => x + 0.4 * (rng.random::<f32>() - 0.5),
    })
}

/// Draws old and new points.
pub fn points(seed: Seed) -> Result<(Vec<Point>, Increment)> {
    let mut rng = seed.rng();
    let mut around =
        |centre: Point, width: f32| centre.map(|x| x + width * (2.0 * rng.random::<f32>() - 1.0));
    let centres: Vec<Point> = (0..N_CLASSES).map(|_| around([0.0; WIDTH], 1.0)).collect();
    let n_old = N_POINTS / 4 * 3;
    let points = (0..N_POINTS).map(|at| {
        let class = match at < n_old {
            true => at % (N_CLASSES - 3),
            false => N_CLASSES - 1 - at % 3,
        };
        around(centres[class], 0.5)
    });
    let points = points.collect();
    let increment = Increment::try_new((0..n_old).collect(), (n_old..N_POINTS).collect())?;
    Ok((points, increment))
}
