//! Rules for the moment of an update by their total cost: the losses of the samples that come, and a price for each
//! update.
//!
//! All encoders of a run with an update after every experience are measured on all later experiences, so that the cost
//! of any schedule follows from a matrix. This is exact where an encoder does not depend on earlier updates, as in
//! retraining; an update that merges experiences makes another encoder than that of the run. The cost matrix, the rules
//! with a threshold, a cumulative threshold and a period, and the best schedule in hindsight are after CARA (Mahadevan
//! and Mathioudakis, 2023, arXiv:2310.04216). CARA also knows which queries the model answers; here, every sample that
//! comes is one.

use std::ops::Range;
use std::path::Path;

use icl_cli::parts::Failure;
use icl_report::StreamRecord;

use super::runs::Runs;
use crate::tables::markdown::table;
use crate::tables::seeds::{average, interval, lacks, mean};

/// Prices of an update, in nats for each sample of a mean experience, as scripts/streams.sh has them.
const PRICES: [f64; 3] = [0.03, 0.1, 0.3];
/// Fewest experiences of which the first half holds a decision.
const FEWEST: usize = 5;
/// Difference in nats below which two risks of one encoder are the same.
const SAME: f64 = 1e-6;
/// Rows of the tables.
const ROWS: [&str; 10] = [
    "best schedule",
    "never",
    "always",
    "every:2",
    "every:3",
    "threshold, after CARA",
    "cumulative threshold, after CARA",
    "period, after CARA",
    "regret",
    "regret, as it ran",
];
/// Row of the schedule of `regret`.
const REGRET: usize = 8;

/// Rule for the moment of an update.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    Never,
    /// When so many experiences wait.
    Every(usize),
    /// When the loss of the experience that has come is at least so many nats.
    Threshold(f64),
    /// When the losses of all that wait are at least so many nats together.
    Cumulative(f64),
}

/// Cost in nats and number of updates of a part of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Outcome {
    cost: f64,
    n_updates: usize,
}

impl Outcome {
    /// Adds an experience that is served with a loss, after an update that costs `update` if there is one.
    fn with(self, loss: f64, update: Option<f64>) -> Self {
        Self {
            cost: self.cost + loss + update.unwrap_or(0.0),
            n_updates: self.n_updates + usize::from(update.is_some()),
        }
    }
}

/// Losses of a stream of T experiences.
struct Losses {
    /// Losses `[T − 1, T]` of the encoder after experience i on experience j, in nats summed over its samples.
    of: Vec<Vec<f64>>,
    /// Numbers of samples `[T]`, 0 for the first experience, which nobody was served.
    n_samples: Vec<f64>,
}

impl Losses {
    /// Reads those of a seed; `None` where a run is missing.
    fn read(runs: &Runs, seed: u64) -> Result<Option<Self>, Failure> {
        let Some(record) = runs.record("icl-equal", seed)? else {
            return Ok(None);
        };
        let t = record.names.len();
        if t < FEWEST || record.decisions.len() + 1 < t {
            let expected = format!("{FEWEST} experiences or more, with a decision on each");
            return Err(lacks(&runs.name, &expected));
        }
        let n_samples: Vec<f64> = std::iter::once(0.0)
            .chain(record.decisions.iter().map(|of| of.n_samples as f64))
            .collect();
        let mut of = Vec::new();
        for at in 0..t - 1 {
            let key = format!("icl-kept{at:03}");
            let Some(kept) = runs.record(&key, seed)? else {
                return Ok(None);
            };
            let risks = risks_of(&kept, &record.risk[at])
                .ok_or_else(|| lacks(&format!("{key}-{seed}"), "the risks of icl-equal"))?;
            of.push(risks.iter().zip(&n_samples).map(|(a, b)| a * b).collect());
        }
        Ok(Some(Self { of, n_samples }))
    }

    /// Returns the experiences on whose service thresholds are chosen, and those on which costs are counted.
    fn halves(&self) -> [Range<usize>; 2] {
        let half = self.n_samples.len().div_ceil(2);
        [1..half, half..self.n_samples.len()]
    }

    /// Returns after which experiences a rule updates.
    fn schedule(&self, rule: Rule) -> Vec<bool> {
        let (mut live, mut waiting) = (0, 0.0);
        let mut updates = vec![false; self.n_samples.len()];
        for at in 1..updates.len() {
            let loss = self.of[live][at];
            waiting += loss;
            let is_due = match rule {
                Rule::Never => false,
                Rule::Every(n) => at - live >= n,
                Rule::Threshold(nats) => loss >= nats,
                Rule::Cumulative(nats) => waiting >= nats,
            };
            // An encoder after the last experience serves nobody.
            if is_due && at + 1 < updates.len() {
                updates[at] = true;
                (live, waiting) = (at, 0.0);
            }
        }
        updates
    }

    /// Returns the cost of a schedule on the service of some experiences: each, with the decision before it.
    fn outcome(&self, updates: &[bool], update: f64, part: &Range<usize>) -> Outcome {
        let mut live = 0;
        let mut all = Outcome::default();
        for at in 1..part.end {
            if updates[at - 1] {
                live = at - 1;
            }
            if part.contains(&at) {
                all = all.with(self.of[live][at], updates[at - 1].then_some(update));
            }
        }
        all
    }

    /// Returns the least cost of the second half over all schedules, whatever encoder is live before it.
    fn best(&self, update: f64) -> Outcome {
        let [_, part] = self.halves();
        // By the encoder that is live when an experience has come: what all later ones cost at least.
        let mut later = vec![Outcome::default(); part.end];
        for at in part.clone().rev() {
            let new = later[at - 1].with(self.of[at - 1][at], Some(update));
            let least = (0..at).map(|live| {
                let kept = later[live].with(self.of[live][at], None);
                if new.cost < kept.cost { new } else { kept }
            });
            later = least.collect();
        }
        // The decision before the second half is a part of it: its encoder is not free.
        let free = later[..part.start - 1].iter();
        let least = free.min_by(|a, b| a.cost.total_cmp(&b.cost));
        *least.expect("the first half holds an encoder")
    }

    /// Returns the rules whose threshold or period costs least on the first half.
    fn chosen(&self, update: f64) -> [Rule; 3] {
        let [part, _] = self.halves();
        let pairs = || (0..part.end).flat_map(|i| (i + 1..part.end).map(move |j| (i, j)));
        let mut last: Vec<f64> = pairs().map(|(i, j)| self.of[i][j]).collect();
        let waiting = pairs().map(|(i, j)| self.of[i][i + 1..=j].iter().sum());
        let mut waiting: Vec<f64> = waiting.collect();
        // Of rules of the same cost, the first is chosen: that with more updates.
        last.sort_by(f64::total_cmp);
        waiting.sort_by(f64::total_cmp);
        let candidates: [Vec<Rule>; 3] = [
            last.into_iter().map(Rule::Threshold).collect(),
            waiting.into_iter().map(Rule::Cumulative).collect(),
            part.clone().map(Rule::Every).collect(),
        ];
        candidates.map(|rules| {
            let cost = |rule: &Rule| self.outcome(&self.schedule(*rule), update, &part).cost;
            let all = rules.into_iter().chain([Rule::Never]);
            all.min_by(|a, b| cost(a).total_cmp(&cost(b)))
                .expect("never is a rule")
        })
    }

    /// Returns the outcomes on the second half in the order of [`ROWS`], costs in nats a sample. `regret` is a run
    /// under that rule: its schedule, and itself.
    fn outcomes(&self, price: f64, regret: Option<&StreamRecord>) -> Vec<Option<Outcome>> {
        let update = price * mean(&self.n_samples[1..]);
        let [_, part] = self.halves();
        let of = |rule: Rule| Some(self.outcome(&self.schedule(rule), update, &part));
        let mut all = vec![Some(self.best(update))];
        all.extend([1, 2, 3].map(|n| of(Rule::Every(n))));
        all.insert(1, of(Rule::Never));
        all.extend(self.chosen(update).map(of));
        let updates: Option<Vec<bool>> = regret.map(|record| {
            let of_decisions = record.decisions.iter().map(|decision| decision.update);
            std::iter::once(false).chain(of_decisions).collect()
        });
        let by_schedule = updates.as_ref().map(|it| self.outcome(it, update, &part));
        let as_it_ran = regret.zip(updates).and_then(|(record, updates)| {
            let mut outcome = Outcome::default();
            for at in part.clone() {
                let loss = record.experiences[at].served_risk? * self.n_samples[at];
                outcome = outcome.with(loss, updates[at - 1].then_some(update));
            }
            Some(outcome)
        });
        all.extend([by_schedule, as_it_ran]);
        let n_samples: f64 = self.n_samples[part].iter().sum();
        let a_sample = |of: Outcome| Outcome {
            cost: of.cost / n_samples,
            ..of
        };
        all.into_iter().map(|of| of.map(a_sample)).collect()
    }
}

/// Returns the risks of an encoder that was kept; `None` where one is missing, or differs from a known one.
fn risks_of(kept: &StreamRecord, known: &[Option<f64>]) -> Option<Vec<f64>> {
    let risks: Option<Vec<f64>> = kept.risk.last()?.iter().copied().collect();
    let is_same =
        |(risk, known): (&f64, &Option<f64>)| known.is_none_or(|it| (risk - it).abs() <= SAME);
    risks.filter(|risks| risks.iter().zip(known).all(is_same))
}

/// Returns the tables of the rules at each price of an update.
///
/// # Errors
/// If a record cannot be read, has too few experiences, or holds other risks of an encoder that was kept, or no seed
/// is complete.
pub fn schedules(folder: &Path, name: &str) -> Result<String, Failure> {
    let runs = Runs::read(folder, name)?;
    // Outcomes by price, seed and row.
    let mut all: [Vec<Vec<Option<Outcome>>>; PRICES.len()] = [const { Vec::new() }; PRICES.len()];
    for (seed, _) in &runs.of_icl {
        let Some(losses) = Losses::read(&runs, *seed)? else {
            continue;
        };
        for (seeds, price) in all.iter_mut().zip(PRICES) {
            let regret = runs.record(&format!("icl-regret{price}"), *seed)?;
            seeds.push(losses.outcomes(price, regret.as_ref()));
        }
    }
    if all[0].is_empty() {
        let expected = "icl-equal of a seed, and icl-kept of each of its encoders";
        return Err(lacks(&folder.display().to_string(), expected));
    }
    Ok(written(&all))
}

/// Writes the tables.
fn written(all: &[Vec<Vec<Option<Outcome>>>; PRICES.len()]) -> String {
    let (mut costs, mut differences) = (Vec::new(), Vec::new());
    for (row, name) in ROWS.iter().enumerate() {
        let (mut cost, mut difference) = (vec![(*name).to_owned()], vec![(*name).to_owned()]);
        for seeds in all {
            let above = |of: usize, other: usize| {
                let pair = |seed: &Vec<Option<Outcome>>| Some(seed[of]?.cost - seed[other]?.cost);
                interval(&seeds.iter().filter_map(pair).collect::<Vec<f64>>(), 3)
            };
            let own: Vec<Outcome> = seeds.iter().filter_map(|seed| seed[row]).collect();
            let average = |of: fn(&Outcome) -> f64, digits: usize| {
                average(&own.iter().map(of).collect::<Vec<f64>>(), digits)
            };
            cost.push(match row {
                0 => average(|of| of.cost, 3),
                _ => above(row, 0),
            });
            cost.push(average(|of| of.n_updates as f64, 1));
            difference.push(above(REGRET, row));
        }
        costs.push(cost);
        if row != REGRET {
            differences.push(difference);
        }
    }
    let prices = PRICES.map(|price| format!("price {price}"));
    let with_updates = prices.iter().flat_map(|price| [price.as_str(), "updates"]);
    let head: Vec<&str> = std::iter::once("rule").chain(with_updates).collect();
    let mut text = format!(
        "{} seeds. Cost in nats a sample of the second half: of the best schedule, and above it. ± is half of the 95 % \
         interval by Student's t; differences are paired by seed.\n\n{}",
        all[0].len(),
        table(&head, "--:", &costs)
    );
    let head: Vec<&str> = std::iter::once("rule")
        .chain(prices.iter().map(String::as_str))
        .collect();
    text += "Cost of the schedule of `regret` minus that of each rule:\n\n";
    text += &table(&head, "--:", &differences);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six experiences: the world changes before the third and the fifth.
    fn losses() -> Losses {
        let of = [
            [9.0, 1.0, 5.0, 6.0, 9.0, 9.5],
            [9.0, 9.0, 4.0, 5.0, 8.0, 9.0],
            [9.0, 9.0, 9.0, 1.5, 6.0, 7.0],
            [9.0, 9.0, 9.0, 9.0, 5.0, 5.5],
            [9.0, 9.0, 9.0, 9.0, 9.0, 1.0],
        ];
        Losses {
            of: of.map(Vec::from).to_vec(),
            n_samples: vec![0.0, 1.0, 1.0, 2.0, 1.0, 1.0],
        }
    }

    /// Cost and updates of the experiences from `from` on and before `to`, by a plain loop: `due` says after which
    /// there is an update.
    fn by_hand(due: [bool; 6], update: f64, from: usize, to: usize) -> (f64, usize) {
        let matrix = losses().of;
        let (mut cost, mut n, mut live) = (0.0, 0, 0);
        for at in 1..to {
            if due[at - 1] {
                live = at - 1;
                if at >= from {
                    cost += update;
                    n += 1;
                }
            }
            if at >= from {
                cost += matrix[live][at];
            }
        }
        (cost, n)
    }

    /// All schedules of six experiences: no update after the first and the last.
    fn all_schedules() -> Vec<[bool; 6]> {
        let bit = |of: usize, at: usize| of >> at & 1 == 1;
        let of = |i| [false, bit(i, 0), bit(i, 1), bit(i, 2), bit(i, 3), false];
        (0..16).map(of).collect()
    }

    #[test]
    fn rules_update_when_they_say() {
        let losses = losses();
        let updates = |rule| {
            let due = losses.schedule(rule);
            (0..6).filter(|at| due[*at]).collect::<Vec<usize>>()
        };
        assert_eq!(updates(Rule::Never), [0; 0]);
        assert_eq!(updates(Rule::Every(1)), [1, 2, 3, 4]);
        assert_eq!(updates(Rule::Every(2)), [2, 4]);
        assert_eq!(updates(Rule::Every(3)), [3]);
        // Encoder 0 loses 1, then 5: an update; encoder 2 loses 1.5, then 6: an update.
        assert_eq!(updates(Rule::Threshold(5.0)), [2, 4]);
        // 1 + 5, then 1.5 + 6.
        assert_eq!(updates(Rule::Cumulative(6.0)), [2, 4]);
        // 1 + 5 + 6, then 5 alone, since the last experience is no reason.
        assert_eq!(updates(Rule::Cumulative(12.0)), [3]);
    }

    #[test]
    fn costs_are_those_of_a_plain_loop() {
        let losses = losses();
        let [first, second] = losses.halves();
        assert_eq!((first.clone(), second.clone()), (1..3, 3..6));
        for due in all_schedules() {
            for (part, from, to) in [(&first, 1, 3), (&second, 3, 6)] {
                let found = losses.outcome(&due, 0.7, part);
                let (cost, n_updates) = by_hand(due, 0.7, from, to);
                assert!(
                    (found.cost - cost).abs() < 1e-12,
                    "{due:?}: {found:?}, {cost}"
                );
                assert_eq!(found.n_updates, n_updates);
            }
        }
    }

    #[test]
    fn no_schedule_costs_less_than_the_best() {
        for update in [0.0, 0.6, 1.7, 3.0, 30.0] {
            let found = losses().best(update);
            let least = all_schedules()
                .into_iter()
                .map(|due| by_hand(due, update, 3, 6))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap();
            assert!(
                (found.cost - least.0).abs() < 1e-12,
                "{update}: {found:?}, {least:?}"
            );
            assert_eq!(found.n_updates, least.1, "{update}");
        }
    }

    #[test]
    fn thresholds_are_those_of_the_least_cost_on_the_first_half() {
        let losses = losses();
        // The one decision of the first half, after experience 1, wins 5 − 4 nats.
        let cheap = losses.chosen(0.5);
        assert_eq!(
            cheap,
            [Rule::Threshold(1.0), Rule::Cumulative(1.0), Rule::Every(1)]
        );
        let dear = losses.chosen(1.5);
        assert_eq!(
            dear,
            [Rule::Threshold(4.0), Rule::Cumulative(4.0), Rule::Every(2)]
        );
    }

    #[test]
    fn outcomes_are_in_the_order_of_the_rows() {
        let losses = losses();
        // An update costs 0.5 · 6/5 nats; the second half has four samples.
        let update = 0.6;
        let found = losses.outcomes(0.5, None);
        assert_eq!(found.len(), ROWS.len());
        let due = |updates: &[usize]| std::array::from_fn(|at| updates.contains(&at));
        let expected = [&[][..], &[1, 2, 3, 4], &[2, 4], &[3]];
        for (row, updates) in (1..).zip(expected) {
            let (cost, n_updates) = by_hand(due(updates), update, 3, 6);
            let of = found[row].unwrap();
            assert!(
                (of.cost - cost / 4.0).abs() < 1e-12,
                "{}: {of:?}",
                ROWS[row]
            );
            assert_eq!(of.n_updates, n_updates, "{}", ROWS[row]);
        }
        // Chosen at 0.6 nats: always, by a threshold of 1, a sum of 1 and a period of 1.
        assert_eq!(found[5..8], [found[2]; 3]);
        assert_eq!(found[8..], [None, None]);
    }
}
