//! Directions of rows on the host.

/// Unit vectors of rows; a row of zeros stays one.
#[derive(Debug, Clone)]
pub(super) struct Directions {
    values: Vec<f64>,
    d: usize,
}

impl Directions {
    pub(super) fn of(rows: &[f64], d: usize) -> Self {
        let mut values = rows.to_vec();
        for row in values.chunks_exact_mut(d) {
            // The largest value first: squares of very long and very short rows leave the range of a double.
            let largest = row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            if largest == 0.0 {
                continue;
            }
            row.iter_mut().for_each(|x| *x /= largest);
            let length = dot(row, row).sqrt();
            row.iter_mut().for_each(|x| *x /= length);
        }
        Self { values, d }
    }

    /// Returns some of the rows.
    pub(super) fn subset(&self, rows: &[usize]) -> Self {
        let rows = rows.iter().flat_map(|row| self.row(*row));
        Self {
            values: rows.copied().collect(),
            d: self.d,
        }
    }

    pub(super) fn n(&self) -> usize {
        self.values.len() / self.d
    }

    pub(super) fn row(&self, at: usize) -> &[f64] {
        &self.values[at * self.d..][..self.d]
    }
}

/// Returns the product of two rows, by four sums in a fixed order, which a processor adds at once.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (of_a, of_b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = of_a.remainder().iter().zip(of_b.remainder());
    let rest: f64 = rest.map(|(x, y)| x * y).sum();
    for (x, y) in of_a.zip(of_b) {
        for lane in 0..4 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_length_1_whatever_the_length_of_the_rows() {
        let row = [3.0, -4.0, 0.0, 0.0, 12.0];
        for scale in [1e-300, 1.0, 1e300] {
            let found = Directions::of(&row.map(|x| x * scale), 5);
            for (found, x) in found.row(0).iter().zip(row) {
                assert!((found - x / 13.0).abs() < 1e-15);
            }
        }
        let rows = Directions::of(&[0.0, 0.0, 0.0, 2.0], 2);
        assert_eq!(
            (rows.n(), rows.row(0), rows.row(1)),
            (2, &[0.0; 2][..], &[0.0, 1.0][..])
        );
    }
}
