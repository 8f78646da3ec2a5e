//! Several classes by one-vs-one voting: one machine for each pair of classes, as in libsvm.

use super::kernel::{Gram, RbfKernel};
use super::pair::{PairSolution, PairSolver};
use crate::EvalError;
use crate::watch::Work;

/// The problems of all pairs of classes of a training set, without the penalty C.
#[derive(Debug)]
pub(super) struct OneVsOne {
    classes: Vec<usize>,
    pairs: Vec<Pair>,
}

/// Two classes with their problem.
#[derive(Debug)]
struct Pair {
    /// Position of the first class in `classes`.
    first: usize,
    /// Position of the second class in `classes`.
    second: usize,
    /// Positions in the training set of the samples of the first class, then of the second.
    members: Vec<usize>,
    /// Number of samples of the first class.
    n_first: usize,
    /// Kernel of the members.
    gram: Gram,
}

impl OneVsOne {
    /// Creates the problems of these samples, which are rows and columns of `kernel`.
    pub(super) fn new(kernel: RbfKernel<'_>, samples: &[usize], labels: &[usize]) -> Self {
        let mut classes = labels.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let members = |class: usize| (0..samples.len()).filter(move |&i| labels[i] == class);
        let mut pairs = Vec::new();
        for first in 0..classes.len() {
            for second in first + 1..classes.len() {
                let mut both: Vec<usize> = members(classes[first]).collect();
                let n_first = both.len();
                both.extend(members(classes[second]));
                let rows: Vec<usize> = both.iter().map(|&member| samples[member]).collect();
                pairs.push(Pair {
                    first,
                    second,
                    members: both,
                    n_first,
                    gram: Gram::of(rows.len(), |i, j| kernel.between(rows[i], rows[j])),
                });
            }
        }
        Self { classes, pairs }
    }

    /// Fits a machine with each penalty of `grid`, ascending, and counts a unit of the work for each.
    ///
    /// # Errors
    /// - [`EvalError::NotConverged`] if a pair did not converge;
    /// - [`EvalError::Interrupted`] if the watch says so.
    pub(super) fn solve(&self, grid: &[f64], work: &Work<'_>) -> Result<Vec<Machine>, EvalError> {
        let mut solutions: Vec<Option<PairSolution>> = vec![None; self.pairs.len()];
        let machines = grid.iter().map(|&c| {
            for (pair, solution) in self.pairs.iter().zip(&mut solutions) {
                // Without an α at its bound, a greater one changes nothing.
                if solution.as_ref().is_none_or(|last| last.is_bounded) {
                    let solver = PairSolver::new(&pair.gram, pair.n_first, c);
                    *solution = Some(solver.solve(work.watch)?);
                }
            }
            work.advance();
            let voters = self.pairs.iter().zip(solutions.iter().flatten());
            Ok(Machine {
                classes: self.classes.clone(),
                voters: voters
                    .map(|(pair, solution)| pair.voter(solution))
                    .collect(),
            })
        });
        machines.collect()
    }
}

impl Pair {
    /// Returns the decision function of a solution.
    fn voter(&self, solution: &PairSolution) -> Voter {
        let support = self.members.iter().zip(&solution.coefficients);
        Voter {
            first: self.first,
            second: self.second,
            support: support
                .filter(|(_, coefficient)| **coefficient != 0.0)
                .map(|(&member, &coefficient)| (member, coefficient))
                .collect(),
            rho: solution.rho,
        }
    }
}

/// A fitted machine. It holds positions in the training set instead of samples, so callers pass the
/// values of the kernel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Machine {
    classes: Vec<usize>,
    voters: Vec<Voter>,
}

/// Decision function of one pair of classes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Voter {
    first: usize,
    second: usize,
    /// Samples with αᵢ > 0 and their yᵢαᵢ.
    pub(super) support: Vec<(usize, f64)>,
    rho: f64,
}

impl Machine {
    /// Returns the classes, ascending.
    pub(super) fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// Returns the decision functions of all pairs of classes, in the order (0, 1), (0, 2), …, (1, 2), ….
    pub(super) fn voters(&self) -> &[Voter] {
        &self.voters
    }

    /// Predicts the class of a sample from its kernel values with all training samples: the class with
    /// most votes, the lowest of several.
    pub(super) fn predict(&self, kernel: &[f64]) -> usize {
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
    /// Returns the decision value f(x), positive for the lower class.
    pub(super) fn decide(&self, kernel: &[f64]) -> f64 {
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
