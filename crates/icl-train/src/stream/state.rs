//! The state of a stream between two experiences.

use serde::{Deserialize, Serialize};

use crate::progress::Cost;
use crate::stream::buffer::Buffer;

/// Number of experiences up to which all held-out panels are measured after each.
const ALL: usize = 32;
/// Number of the last experiences that are always measured.
const LAST: usize = 8;

/// Experience that a stream has gone through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experience {
    /// Name, on which its random draws depend.
    pub name: String,
    /// Number of its samples, held-out ones included.
    pub n_samples: usize,
    /// Held-out samples, which no training sees.
    pub panel: Vec<usize>,
    /// Risk of the encoder before this experience on its panel: the encoder that was live when its data came. `None` for
    /// the first.
    pub served: Option<f64>,
    /// Risk of the encoder after this experience on the panel of each experience up to it; `None` where it was not measured.
    pub risks: Vec<Option<f64>>,
    /// Cost of its update, the measurement of the panels included as [`Cost::measuring`].
    pub cost: Cost,
}

/// All that a stream remembers between two experiences, beside the encoder. A stored state goes on as the stream would have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamState {
    pub(super) experiences: Vec<Experience>,
    pub(super) buffer: Buffer,
}

impl StreamState {
    /// Returns the experiences so far.
    pub fn experiences(&self) -> &[Experience] {
        &self.experiences
    }

    /// Returns the old samples that the next update may use.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns the matrix of risks `[T, T]`: row i is the encoder after experience i, column j the panel of experience j. The
    /// cells next to the diagonal on its right are the risks of the encoder that was live when experience j came; those
    /// beyond were not measured, since their data had not come.
    pub fn matrix(&self) -> Vec<Vec<Option<f64>>> {
        let n = self.experiences.len();
        let row = |(at, experience): (usize, &Experience)| {
            let mut row = experience.risks.clone();
            row.extend(self.experiences.get(at + 1).map(|next| next.served));
            row.resize(n, None);
            row
        };
        self.experiences.iter().enumerate().map(row).collect()
    }

    /// Returns the charged cost of all updates, in full passes ([`Cost::charged`]).
    pub fn charged(&self) -> f64 {
        self.experiences.iter().map(|it| it.cost.charged()).sum()
    }

    /// Returns the experiences whose panels are measured when there are n: all up to 32, then the first, the last 8 and between them
    /// those at powers of 2, so that an evaluation's cost grows with the logarithm of the stream's length.
    pub(super) fn measured(n: usize) -> Vec<usize> {
        if n <= ALL {
            return (0..n).collect();
        }
        let powers = (0..usize::BITS).map(|bit| 1_usize << bit);
        let mut measured = vec![0];
        measured.extend(powers.take_while(|at| *at < n - LAST));
        measured.extend(n - LAST..n);
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_measured_panels_is_bounded() {
        assert_eq!(StreamState::measured(3), [0, 1, 2]);
        assert_eq!(StreamState::measured(32).len(), 32);
        let expected = [0, 1, 2, 4, 8, 16, 32, 64, 92, 93, 94, 95, 96, 97, 98, 99];
        assert_eq!(StreamState::measured(100), expected);
        assert!(StreamState::measured(1_000_000).len() < 30);
    }
}
