//! Several classes by voting: one machine for each pair of them, as in libsvm.

use super::RbfKernel;
use super::pair::{PairProblem, PairSolution};
use crate::EvalError;

/// A training set with everything that the penalty C does not change.
#[derive(Debug)]
pub(crate) struct TrainingSet {
    classes: Vec<usize>,
    pairs: Vec<Pair>,
}

/// Two classes, as positions in `classes`, and the samples of both, as positions in the training
/// set: those of the first class, then those of the second.
#[derive(Debug)]
struct Pair {
    first: usize,
    second: usize,
    members: Vec<usize>,
    problem: PairProblem,
}

impl TrainingSet {
    /// The training set of these samples, which `kernel` knows by these indices.
    pub(crate) fn new(kernel: RbfKernel<'_>, samples: &[usize], labels: &[usize]) -> Self {
        let n = samples.len();
        // k of all samples, once for all pairs; it is symmetric, so that half of it is enough.
        let mut values = vec![1.0; n * n];
        let mut row = Vec::with_capacity(n);
        for i in 0..n {
            kernel.fill(samples[i], &samples[..i], &mut row);
            for (j, &value) in row.iter().enumerate() {
                values[i * n + j] = value as f32;
                values[j * n + i] = value as f32;
            }
        }
        let mut classes = labels.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let members = |class: usize| (0..n).filter(move |&i| labels[i] == class);
        let mut pairs = Vec::new();
        for first in 0..classes.len() {
            for second in first + 1..classes.len() {
                let mut both: Vec<usize> = members(classes[first]).collect();
                let n_first = both.len();
                both.extend(members(classes[second]));
                let signs = (0..both.len())
                    .map(|i| if i < n_first { 1 } else { -1 })
                    .collect();
                let problem = PairProblem::new(signs, |i, j| values[both[i] * n + both[j]]);
                pairs.push(Pair {
                    first,
                    second,
                    members: both,
                    problem,
                });
            }
        }
        Self { classes, pairs }
    }

    /// The machine with penalty `c`.
    ///
    /// # Errors
    /// [`EvalError::NotConverged`] if one of its pairs did not converge.
    pub(crate) fn solve(&self, c: f64) -> Result<Machine, EvalError> {
        let voters = self.pairs.iter().map(|pair| {
            let PairSolution { coefficients, rho } = pair.problem.solve(c)?;
            let support = pair.members.iter().copied().zip(coefficients);
            Ok(Voter {
                first: pair.first,
                second: pair.second,
                support: support
                    .filter(|(_, coefficient)| *coefficient != 0.0)
                    .collect(),
                rho,
            })
        });
        Ok(Machine {
            classes: self.classes.clone(),
            voters: voters.collect::<Result<_, _>>()?,
        })
    }
}

/// A fitted machine. It knows its samples by their place in the training set only: callers bring
/// the kernel's values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Machine {
    classes: Vec<usize>,
    voters: Vec<Voter>,
}

/// The decision function of one pair of classes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Voter {
    first: usize,
    second: usize,
    /// Samples with αᵢ > 0 and their yᵢαᵢ.
    pub(crate) support: Vec<(usize, f64)>,
    rho: f64,
}

impl Machine {
    /// The classes, ascending.
    pub(crate) fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// One decision function a pair of classes, in the order (0, 1), (0, 2), …, (1, 2), ….
    pub(crate) fn voters(&self) -> &[Voter] {
        &self.voters
    }

    /// The class of a sample, given k of it with every sample of the training set: the class with
    /// most votes, of several the lowest.
    pub(crate) fn predict(&self, kernel: &[f64]) -> usize {
        let mut votes = vec![0_usize; self.classes.len()];
        for voter in &self.voters {
            let winner = if voter.decide(kernel) > 0.0 {
                voter.first
            } else {
                voter.second
            };
            votes[winner] += 1;
        }
        let mut elected = 0;
        for class in 1..votes.len() {
            if votes[class] > votes[elected] {
                elected = class;
            }
        }
        self.classes[elected]
    }
}

impl Voter {
    /// f(x), positive for the lower class.
    pub(crate) fn decide(&self, kernel: &[f64]) -> f64 {
        let sum: f64 = self
            .support
            .iter()
            .map(|&(i, weight)| weight * kernel[i])
            .sum();
        sum - self.rho
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voter(first: usize, second: usize, rho: f64) -> Voter {
        Voter {
            first,
            second,
            support: Vec::new(),
            rho,
        }
    }

    #[test]
    fn a_tie_goes_to_the_lowest_class() {
        // 3 beats 5, 5 beats 8, 8 beats 3.
        let machine = Machine {
            classes: vec![3, 5, 8],
            voters: vec![voter(0, 1, -1.0), voter(0, 2, 1.0), voter(1, 2, -1.0)],
        };
        assert_eq!(machine.predict(&[]), 3);
    }

    #[test]
    fn a_decision_of_zero_is_for_the_second_class() {
        let machine = Machine {
            classes: vec![0, 1],
            voters: vec![voter(0, 1, 0.0)],
        };
        assert_eq!(machine.predict(&[]), 1);
    }

    #[test]
    fn a_single_class_is_always_elected() {
        let machine = Machine {
            classes: vec![4],
            voters: Vec::new(),
        };
        assert_eq!(machine.predict(&[]), 4);
    }
}
