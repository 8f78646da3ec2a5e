//! Seeds: one root seed for each run, split into named child streams.
//!
//! Generators are never shared and never stored. Code that needs randomness derives a generator from
//! the root seed and from the names and numbers of its purpose (`views`, epoch 3, sample 17). Draws
//! are therefore independent of thread timing and of the order of other draws, and a resumed run needs
//! no generator state.

use rand::SeedableRng;

/// Random number generator of this project: PCG64 (O'Neill, 2014), portable and cheap to seed.
pub type Rng = rand_pcg::Pcg64;

/// A seed in the tree of seeds of a run.
///
/// ```
/// use icl_core::Seed;
/// use rand::RngExt;
///
/// let views = Seed::new(7).child("views");
/// let mut first = views.at(0).rng();
/// let mut again = Seed::new(7).child("views").at(0).rng();
/// assert_eq!(first.random::<u64>(), again.random::<u64>());
/// assert_ne!(views.at(0), views.at(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// Creates the root seed of a run.
    pub fn new(root: u64) -> Self {
        Self(root)
    }

    /// Returns the child stream with this name (FNV-1a of the name, mixed into the seed).
    pub fn child(self, name: &str) -> Self {
        Self(mix(self.0 ^ mix(fnv_1a(name.as_bytes()))))
    }

    /// Returns the child stream with this number, for epochs, steps and samples.
    pub fn at(self, index: u64) -> Self {
        Self(mix(self.0.wrapping_add(mix(index.wrapping_add(1)))))
    }

    /// Creates a generator at the beginning of this stream.
    pub fn rng(self) -> Rng {
        Rng::seed_from_u64(self.0)
    }

    /// Returns the seed as a number, for libraries that have generators of their own.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// Returns the FNV-1a hash.
pub(crate) fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Applies the finaliser of SplitMix64 (Steele, Lea and Flood, 2014), a bijection that scatters seeds
/// that are close to each other.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use std::collections::HashSet;

    #[test]
    fn streams_do_not_meet() {
        let mut seen = HashSet::new();
        for root in 0..20 {
            for name in ["data", "views", "init", "noise", "eval"] {
                for index in 0..50 {
                    assert!(seen.insert(Seed::new(root).child(name).at(index)));
                }
            }
        }
    }

    #[test]
    fn draws_are_fixed_for_all_time() {
        // A change of generator or derivation changes every recorded result: it must be noticed.
        let draw = Seed::new(1).child("data").at(2).rng().random::<u64>();
        assert_eq!(draw, DRAW);
    }
    const DRAW: u64 = 13_544_585_292_562_578_622;
}
