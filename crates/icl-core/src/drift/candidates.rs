//! The statistic under relabellings of the noise.

use rayon::prelude::*;

use super::data::DriftData;
use super::directions::dot;
use super::relabelling::Relabellings;
use super::self_pairs::{OldInClasses, SelfPairs};
use super::terms::{AnchorTerms, Formula};

/// Number of candidates whose similarities are in memory at once, on each thread.
const TILE: usize = 8;
/// Similarities count as at most so many nats below the closest noise of an anchor: e^−700 ≈ 10^−304 is close to the
/// smallest normal double, 2·10^−308.
const DEPTH: f64 = 700.0;
/// Share of the sum of all noise below which a part is summed by itself, not as the difference to the other part, which
/// has lost six of the sixteen digits of a double there.
const LITTLE: f64 = 1e-6;

/// A row that may be an anchor.
struct Candidate<'a> {
    direction: &'a [f64],
    self_pairs: SelfPairs,
    role: Role,
}

/// Relabellings in which a candidate is an anchor.
#[derive(Clone, Copy)]
enum Role {
    /// All relabellings: it is no row of the noise. `anchor` is its group, and log f of its positive.
    Always { anchor: (usize, f64) },
    /// Relabellings that put this row of the noise at the position of an anchor's own row. `positive` is log f of the
    /// row's own positive, if it has one.
    AtPosition { row: usize, positive: Option<f64> },
}

impl Role {
    /// Returns log f of the positive that a row of the noise brings along.
    fn own_positive(self) -> Option<f64> {
        match self {
            Self::Always { .. } => None,
            Self::AtPosition { positive, .. } => positive,
        }
    }
}

/// Anchors, and the rows of the noise that become anchors in relabellings.
pub(super) struct Candidates<'a> {
    data: &'a DriftData,
    all: Vec<Candidate<'a>>,
    /// Group and log f of the positive of the anchors whose own row is at each position.
    anchors_at: Vec<Vec<(usize, f64)>>,
    temperature: f64,
    formula: Formula,
}

impl<'a> Candidates<'a> {
    /// Collects the candidates. `terms` holds the terms of the anchors of each group.
    pub(super) fn of(
        data: &'a DriftData,
        terms: &[Vec<AnchorTerms>],
        temperature: f64,
        formula: Formula,
    ) -> Self {
        let mut all = Vec::new();
        let mut anchors_at = vec![Vec::new(); data.noise.n()];
        let mut owner: Vec<Option<(usize, usize)>> = vec![None; data.noise.n()];
        for (at, group) in data.groups.iter().enumerate() {
            for (anchor, own) in group.own_row.iter().enumerate() {
                let positive = terms[at][anchor].positive;
                match *own {
                    Some(row) => {
                        anchors_at[row].push((at, positive));
                        owner[row].get_or_insert((at, anchor));
                    }
                    None => all.push(Candidate {
                        direction: group.anchors.row(anchor),
                        self_pairs: group.self_pairs[anchor],
                        role: Role::Always {
                            anchor: (at, positive),
                        },
                    }),
                }
            }
        }
        if owner.iter().any(Option::is_some) {
            all.extend(owner.iter().enumerate().map(|(row, owner)| {
                let own = owner.map(|(at, anchor)| (&data.groups[at], terms[at][anchor], anchor));
                Candidate {
                    direction: own.map_or(data.noise.row(row), |(group, _, anchor)| {
                        group.anchors.row(anchor)
                    }),
                    self_pairs: own.map_or_else(
                        || SelfPairs::of(Some(data.equal.class_of(row)), None),
                        |(group, _, anchor)| group.self_pairs[anchor],
                    ),
                    role: Role::AtPosition {
                        row,
                        positive: own.map(|(_, terms, _)| terms.positive),
                    },
                }
            }));
        }
        Self {
            data,
            all,
            anchors_at,
            temperature,
            formula,
        }
    }

    /// Returns the mean bias of inference over the anchors of each group, in each relabelling.
    pub(super) fn statistics(&self, relabellings: &Relabellings) -> Vec<Vec<f64>> {
        let n_groups = self.data.groups.len();
        let n_old = OldInClasses::new(&self.data.equal, relabellings);
        let tiles: Vec<Vec<f64>> = self
            .all
            .par_chunks(TILE)
            .map(|tile| self.sums(tile, relabellings, &n_old))
            .collect();
        // In the order of the tiles, so that the number of threads changes no bit.
        let mut sums = vec![0.0; n_groups * relabellings.n()];
        for tile in tiles {
            sums.iter_mut().zip(tile).for_each(|(sum, of)| *sum += of);
        }
        let groups = sums.chunks_exact(relabellings.n()).zip(&self.data.groups);
        groups
            .map(|(sums, group)| {
                sums.iter()
                    .map(|sum| sum / group.anchors.n() as f64)
                    .collect()
            })
            .collect()
    }

    /// Returns the sums of the biases over the candidates of a tile, of each group and relabelling.
    fn sums(
        &self,
        tile: &[Candidate<'_>],
        relabellings: &Relabellings,
        n_old: &OldInClasses<'_>,
    ) -> Vec<f64> {
        let n = relabellings.n();
        let mut sums = vec![0.0; self.data.groups.len() * n];
        let similarities = TileSimilarities::of(self.data, tile, self.temperature);
        for at in 0..n {
            let of_tile = tile.iter().map(|it| match &it.role {
                Role::Always { anchor } => std::slice::from_ref(anchor),
                Role::AtPosition { row, .. } => &self.anchors_at[relabellings.position(at, *row)],
            });
            // The sums are most of the cost, and with few anchors in much noise most tiles hold no anchor.
            if of_tile.clone().all(<[_]>::is_empty) {
                continue;
            }
            let parts = relabellings.parts(at);
            let of_parts = similarities.sums(parts);
            for ((place, candidate), anchors) in tile.iter().enumerate().zip(of_tile) {
                if anchors.is_empty() {
                    continue;
                }
                let n_self = n_old.counts(candidate.self_pairs, at);
                let n_others = [0, 1].map(|part: usize| parts[part].len() - n_self[part]);
                // Where self-pairs are all the noise of a part, the bias is undefined and counts as 0.
                if n_others.contains(&0) {
                    continue;
                }
                let [old, new] = [0, 1].map(|part: usize| {
                    let mean = of_parts[part][place] / n_others[part] as f64;
                    similarities.largest[place] + mean.ln()
                });
                for (group, positive) in anchors {
                    let positive = candidate.role.own_positive().unwrap_or(*positive);
                    sums[group * n + at] += self.formula.bias(positive, old, new);
                }
            }
        }
        sums
    }
}

/// Similarities of a tile of candidates to all noise.
struct TileSimilarities {
    /// Largest log f of each candidate.
    largest: [f64; TILE],
    /// f/exp(largest), the candidates of a row of the noise next to each other; 0 for self-pairs.
    values: Vec<[f64; TILE]>,
    /// Sums over all noise.
    totals: [f64; TILE],
}

impl TileSimilarities {
    fn of(data: &DriftData, tile: &[Candidate], temperature: f64) -> Self {
        let mut values = vec![[0.0; TILE]; data.noise.n()];
        let mut largest = [0.0; TILE];
        let mut totals = [0.0; TILE];
        for (place, candidate) in tile.iter().enumerate() {
            let mut logs: Vec<f64> = (0..data.noise.n())
                .map(|row| dot(candidate.direction, data.noise.row(row)) / temperature)
                .collect();
            for class in candidate.self_pairs.classes() {
                for row in data.equal.rows(class) {
                    logs[*row] = f64::NEG_INFINITY;
                }
            }
            // Relative to the closest noise, since exp(cosine/τ) itself overflows at temperatures near 0.
            let most = logs.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            largest[place] = most;
            for (values, log) in values.iter_mut().zip(logs) {
                if log > f64::NEG_INFINITY {
                    values[place] = (log - most).max(-DEPTH).exp();
                    totals[place] += values[place];
                }
            }
        }
        Self {
            largest,
            values,
            totals,
        }
    }

    /// Returns the sums over the rows of both parts.
    fn sums(&self, parts: [&[u32]; 2]) -> [[f64; TILE]; 2] {
        // The smaller part is added up, and the larger one is the rest of the total.
        let small = usize::from(parts[1].len() < parts[0].len());
        let of_small = self.sum(parts[small]);
        let mut of_large = self.totals;
        for (large, small) in of_large.iter_mut().zip(of_small) {
            *large -= small;
        }
        let mut pairs = of_large.iter().zip(self.totals);
        if pairs.any(|(part, total)| *part < LITTLE * total) {
            of_large = self.sum(parts[1 - small]);
        }
        match small {
            0 => [of_small, of_large],
            _ => [of_large, of_small],
        }
    }

    fn sum(&self, rows: &[u32]) -> [f64; TILE] {
        let mut sums = [0.0; TILE];
        for row in rows {
            let values = &self.values[*row as usize];
            sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += x);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::drift::terms::AnchorMeasured;
    use crate::testing::assert_close;
    use crate::{HostRows, Seed};
    use rand::RngExt;

    /// The definition, row by row: sums of exp(sim/τ) over the parts of each relabelling, without logarithms.
    #[test]
    fn statistics_are_those_of_plain_loops() {
        let mut rng = Seed::new(3).rng();
        let mut rows = |n: usize| -> HostRows {
            ((0..n * 3).map(|_| rng.random_range(-1.0..1.0)).collect(), 3)
        };
        let (old, new, others) = (rows(7), rows(12), rows(2));
        // Four anchors are rows of the old noise, one of them twice; two are not.
        let anchors = ([&old.0[..12], &old.0[..3], &others.0].concat(), 3);
        let positives = rows(7);
        let data =
            DriftData::try_new([anchors.clone(), positives], [old.clone(), new.clone()]).unwrap();
        let (temperature, k, alpha) = (0.4_f64, 9.0_f64, 0.3);
        let group = &data.groups[0];
        assert_eq!(
            group.own_row,
            [Some(0), Some(1), Some(2), Some(3), Some(0), None, None]
        );
        let terms: Vec<AnchorTerms> = (0..7)
            .map(|it| AnchorMeasured::of(&data, group, it, temperature).unwrap())
            .map(|it| it.terms)
            .collect();
        let formula = Formula {
            log_negatives: k.ln(),
            alpha,
        };
        let terms = [terms];
        let candidates = Candidates::of(&data, &terms, temperature, formula);
        let relabellings = Relabellings::draw(25, 19, 7, Seed::new(1));
        let found = candidates.statistics(&relabellings);
        let noise: Vec<Vec<f64>> = [old.0, new.0]
            .concat()
            .chunks(3)
            .map(<[f64]>::to_vec)
            .collect();
        let anchors: Vec<&[f64]> = anchors.0.chunks(3).collect();
        let f = |a: &[f64], b: &[f64]| {
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            (product(a, b) / (product(a, a) * product(b, b)).sqrt() / temperature).exp()
        };
        for (at, found) in found[0].iter().enumerate() {
            let [old, new] = relabellings.parts(at);
            let mut sum = 0.0;
            for anchor in 0..7 {
                let own_positive = terms[0][anchor].positive.exp();
                let home = [0, 1, 2, 3, 0].get(anchor);
                let (row, positive) = match home.map(|home| [old, new].concat()[*home] as usize) {
                    None => (anchors[anchor], own_positive),
                    // The first four rows are anchors with positives of their own.
                    Some(row @ 0..4) => (&noise[row][..], terms[0][row].positive.exp()),
                    Some(row) => (&noise[row][..], own_positive),
                };
                let mean = |part: &[u32]| {
                    let others = part.iter().map(|row| &noise[*row as usize]);
                    let values: Vec<f64> = others
                        .filter(|it| *it != row)
                        .map(|it| f(row, it))
                        .collect();
                    values.iter().sum::<f64>() / values.len() as f64
                };
                let (e_old, e_new) = (mean(old), mean(new));
                let e_all = (1.0 - alpha) * e_old + alpha * e_new;
                sum += ((positive + k * e_old) / (positive + k * e_all)).ln();
            }
            assert_close(&[*found], &[sum / 7.0], 1e-12);
        }
    }

    /// A part whose noise is far from an anchor is not lost when the other part's is near.
    #[test]
    fn small_sums_keep_their_digits() {
        let noise = [([1.0, 0.0].repeat(3), 2), ([-1.0, 0.0].repeat(4), 2)];
        let anchor = (vec![1.0, 1e-9], 2);
        let data = DriftData::try_new([anchor.clone(), anchor], noise).unwrap();
        let group = &data.groups[0];
        let candidate = Candidate {
            direction: group.anchors.row(0),
            self_pairs: SelfPairs::of(None, None),
            role: Role::Always { anchor: (0, 0.0) },
        };
        let similarities = TileSimilarities::of(&data, &[candidate], 0.04);
        let [old, new] = similarities.sums([&[0, 1, 2], &[3, 4, 5, 6]]);
        assert_close(&[old[0], new[0]], &[3.0, 4.0 * (-50.0_f64).exp()], 1e-13);
    }
}
