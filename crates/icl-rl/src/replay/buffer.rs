//! The replay buffer: a ring of transitions from which minibatches are drawn uniformly.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// One step of an agent in its environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Transition {
    /// States up to the action `[history · d_state]`, oldest first.
    pub(crate) window: Vec<f64>,
    /// Action a_t.
    pub(crate) action: f64,
    /// Reward r_t.
    pub(crate) reward: f64,
    /// Next state s_{t+1} `[d_state]`.
    pub(crate) next_state: Vec<f64>,
    /// Whether no reward can follow: the value of s_{t+1} is 0.
    pub(crate) terminated: bool,
    /// Whether the episode was cut off from outside: s_{t+1} keeps its value.
    pub(crate) truncated: bool,
}

/// The last transitions, up to a capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReplayBuffer {
    capacity: usize,
    transitions: Vec<Transition>,
    /// Position of the next transition.
    head: usize,
}

impl ReplayBuffer {
    /// Creates an empty buffer for `capacity` transitions, at least one.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            transitions: Vec::new(),
            head: 0,
        }
    }

    /// Adds a transition. If the buffer is full, it replaces the oldest.
    pub(crate) fn push(&mut self, transition: Transition) {
        if self.transitions.len() < self.capacity {
            self.transitions.push(transition);
        } else {
            self.transitions[self.head] = transition;
        }
        self.head = (self.head + 1) % self.capacity;
    }

    /// Returns the number of transitions in the buffer.
    pub(crate) fn len(&self) -> usize {
        self.transitions.len()
    }

    /// Draws `n` transitions uniformly, with replacement.
    ///
    /// # Panics
    /// If the buffer is empty.
    pub(crate) fn sample(&self, n: usize, rng: &mut impl Rng) -> Vec<&Transition> {
        (0..n)
            .map(|_| &self.transitions[rng.random_range(0..self.transitions.len())])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn numbered(number: usize) -> Transition {
        Transition {
            window: vec![number as f64],
            action: 0.0,
            reward: number as f64,
            next_state: vec![0.0],
            terminated: false,
            truncated: false,
        }
    }

    fn filled(capacity: usize, n: usize) -> ReplayBuffer {
        let mut buffer = ReplayBuffer::new(capacity);
        (0..n).for_each(|number| buffer.push(numbered(number)));
        buffer
    }

    fn draw(buffer: &ReplayBuffer, n: usize, seed: u64) -> Vec<usize> {
        let mut rng = Pcg64::seed_from_u64(seed);
        let drawn = buffer.sample(n, &mut rng);
        drawn.iter().map(|t| t.reward as usize).collect()
    }

    #[test]
    fn the_ring_forgets_the_oldest() {
        for (n, kept) in [(3, 0..3), (5, 0..5), (6, 1..6), (17, 12..17)] {
            let buffer = filled(5, n);
            assert_eq!(buffer.len(), kept.len());
            let mut held: Vec<usize> = buffer
                .transitions
                .iter()
                .map(|t| t.reward as usize)
                .collect();
            held.sort_unstable();
            assert_eq!(held, kept.collect::<Vec<_>>());
        }
    }

    #[test]
    fn draws_are_uniform() {
        // 37 of 50 are newer than the 13 that were overwritten, in ring order: all count alike.
        let (n_cells, n_draws) = (37, 370_000);
        let buffer = filled(n_cells, 50);
        let mut counts = vec![0.0; 50];
        for number in draw(&buffer, n_draws, 3) {
            counts[number] += 1.0;
        }
        assert!(counts[..13].iter().all(|&count| count == 0.0));
        let expected = n_draws as f64 / n_cells as f64;
        let chi_square: f64 = counts[13..]
            .iter()
            .map(|count: &f64| (count - expected).powi(2) / expected)
            .sum();
        // The 0.1 % and 99.9 % points of χ² with 36 degrees of freedom are 14.4 and 67.99.
        assert!((14.4..67.99).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn draws_are_fixed_by_the_seed() {
        let buffer = filled(20, 33);
        assert_eq!(draw(&buffer, 40, 8), draw(&buffer, 40, 8));
        assert_ne!(draw(&buffer, 40, 8), draw(&buffer, 40, 9));
    }
}
