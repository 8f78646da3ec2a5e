//! Claims of DACL, each with the result that would refute it, and what the records say.

use std::fmt;

use icl_report::text::number::{plural, rounded, with_sign};

use crate::pages::dacl::data_set::DaclDataSet;
use crate::pages::dacl::row::DaclRow;
use crate::pages::dacl::runs::{DaclRuns, OfSeed, paired, values};
use crate::pages::dacl::seed_spread::SeedSpread;
use crate::pages::dacl::target::DaclTarget;

/// Number of seeds from which on a standard deviation decides.
pub(crate) const MIN_SEEDS: usize = 3;
/// Number of epochs from which on trainings on images decide.
pub(crate) const MIN_EPOCHS: usize = 100;
/// Claim of Table 2, which the page of Table 1 names, too.
const COMPLEMENTS: &str = "DACL complements SimCLR (Table 2)";
/// Rows of DACL; the paper does not say which α it chose.
const DACL: [DaclRow; 2] = [DaclRow::LinearAlpha50, DaclRow::LinearAlpha90];
/// Rows of DACL+; the paper does not say which ρ it chose.
const PLUS: [DaclRow; 3] = [
    DaclRow::PlusKeep90,
    DaclRow::PlusKeep50,
    DaclRow::PlusKeep10,
];

/// Verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimVerdict {
    /// Not refuted.
    Holds,
    /// Refuted by the stated rule.
    Refuted,
    /// The records say nothing on it.
    NotTested,
}

impl fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Refuted => "refuted",
            Self::NotTested => "not tested",
        })
    }
}

/// Claim with its rule and its verdict.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// The claim, with the place in the paper.
    pub(crate) claim: &'static str,
    /// Result that refutes it.
    pub(crate) rule: &'static str,
    /// Findings, by data set.
    pub(crate) finding: String,
    /// Verdict.
    pub(crate) verdict: ClaimVerdict,
    /// Number of data sets in which the claim is refuted, and of those in which it was tested.
    pub(crate) counts: (usize, usize),
}

/// Result on one data set.
struct Finding {
    text: String,
    is_refuted: bool,
}

/// Returns the claims that a page lists.
pub(crate) fn claims(runs: DaclRuns<'_>) -> Vec<Claim> {
    match runs.target {
        DaclTarget::Table1 => vec![
            verdict(
                runs,
                "Mixup noise is far better than Gaussian noise (Table 1)",
                "Gaussian noise with the best σ is within 2 sd of DACL, or above it, in more than half of the data \
                 sets",
                |data| {
                    let gaussian = compared(runs, data, DaclRow::Gaussian);
                    beyond_two_sd(&runs.chosen(data, &DACL), &gaussian)
                },
            ),
            verdict(
                runs,
                "DACL+ is better than DACL (Table 1)",
                "the 95 % interval of the paired difference is not above 0 in more than half of the data sets",
                |data| above_zero(&runs.chosen(data, &PLUS), &runs.chosen(data, &DACL)),
            ),
            verdict(
                runs,
                "A linear classifier on DACL's features beats supervised training (section 5.1)",
                "supervised training of the same encoder, or a linear classifier of the raw columns, is above DACL \
                 in more than half of the data sets",
                |data| not_below_any(runs, data),
            ),
            untested(
                COMPLEMENTS,
                "the sum of both losses is not above SimCLR at equal sample passes",
                "icl-lab reproduce dacl2 tests it, with images and a GPU.",
            ),
            untested(
                "Mixup noise regularises along the covariance of the data (Theorem 2)",
                "the fitted slope of the loss on ‖w‖²_Σ is not the theorem's",
                "The expansion is a numerical test of the library, not of this page.",
            ),
        ],
        DaclTarget::Table2 => vec![complement(runs)],
        DaclTarget::Table4 => vec![
            verdict(
                runs,
                "Mixup noise pays on graphs (Table 4)",
                "an untrained encoder with re-estimated statistics is within 2 sd of DACL, or above it, under the \
                 converged classifier in more than half of the data sets",
                |data| {
                    let of = |row| compared(runs, data, row);
                    beyond_two_sd(&of(DaclRow::HiddenMixup), &of(DaclRow::Untrained))
                },
            ),
            verdict(
                runs,
                "The gap between DACL and No-Pretraining is due to training (Table 4)",
                "the untrained encoder is within 2 sd of DACL, or above it, under the printed classifier once its \
                 statistics are re-estimated, in more than half of the data sets",
                |data| {
                    let of = |row| runs.accuracies(data, row, |by| by.printed_best);
                    beyond_two_sd(&of(DaclRow::HiddenMixup), &of(DaclRow::Untrained))
                },
            ),
        ],
    }
}

/// Decides on the claim on images, if no training was short.
fn complement(runs: DaclRuns<'_>) -> Claim {
    let claim = verdict(
        runs,
        COMPLEMENTS,
        "SimCLR + DACL is not above SimCLR with four views, which takes as many passes: the 95 % interval of the \
         paired difference is not above 0. Fewer than 3 seeds or 100 epochs test nothing",
        |data| above_zero(&of_sum(runs, data), &of_control(runs, data)),
    );
    let epochs = runs.own().map(|record| record.settings.epochs).min();
    match epochs.filter(|epochs| *epochs < MIN_EPOCHS) {
        None => claim,
        Some(epochs) => {
            let found = runs.data_sets().into_iter().filter_map(|data| {
                let differences = paired(&of_sum(runs, data), &of_control(runs, data));
                let of = SeedSpread::of(&differences)?;
                let difference = points(of.mean);
                let seeds = plural(of.n, "seed");
                Some(format!(" {}: {difference} over {seeds}.", data.name()))
            });
            let found: String = found.collect();
            Claim {
                finding: format!(
                    "No verdict from trainings of {}.{found}",
                    plural(epochs, "epoch")
                ),
                verdict: ClaimVerdict::NotTested,
                counts: (0, 0),
                ..claim
            }
        }
    }
}

fn of_sum(runs: DaclRuns<'_>, data: DaclDataSet) -> Vec<OfSeed> {
    compared(runs, data, DaclRow::SimclrDacl)
}

/// Returns the accuracies at equal sample passes without mixup.
fn of_control(runs: DaclRuns<'_>, data: DaclDataSet) -> Vec<OfSeed> {
    compared(runs, data, DaclRow::SimclrFourViews)
}

fn compared(runs: DaclRuns<'_>, data: DaclDataSet, row: DaclRow) -> Vec<OfSeed> {
    runs.accuracies(data, row, |by| by.compared())
}

/// Decides on a claim by the data sets that have enough seeds.
fn verdict(
    runs: DaclRuns<'_>,
    claim: &'static str,
    rule: &'static str,
    find: impl Fn(DaclDataSet) -> Option<Finding>,
) -> Claim {
    let found: Vec<(DaclDataSet, Finding)> = runs
        .data_sets()
        .into_iter()
        .filter_map(|data| Some((data, find(data)?)))
        .collect();
    let n = found.len();
    let n_refuted = found.iter().filter(|(_, of)| of.is_refuted).count();
    let texts: Vec<String> = found
        .iter()
        .map(|(data, of)| format!("{}: {}", data.name(), of.text))
        .collect();
    let (verdict, finding) = match n {
        0 => (
            ClaimVerdict::NotTested,
            format!("No data set has {MIN_SEEDS} seeds of the rows that it needs."),
        ),
        _ if 2 * n_refuted > n => (ClaimVerdict::Refuted, texts.join("; ")),
        _ => (ClaimVerdict::Holds, texts.join("; ")),
    };
    Claim {
        claim,
        rule,
        finding,
        verdict,
        counts: (n_refuted, n),
    }
}

fn untested(claim: &'static str, rule: &'static str, why: &str) -> Claim {
    Claim {
        claim,
        rule,
        finding: why.to_owned(),
        verdict: ClaimVerdict::NotTested,
        counts: (0, 0),
    }
}

/// Refutes that `a` is more than 2 sd above `b`, with the larger of the sds over the seeds.
fn beyond_two_sd(a: &[OfSeed], b: &[OfSeed]) -> Option<Finding> {
    let difference = SeedSpread::of(&paired(a, b)).filter(|of| of.n >= MIN_SEEDS)?;
    let sd = |of: &[OfSeed]| SeedSpread::of(&values(of)).and_then(|of| of.sd);
    let limit = 2.0 * sd(a)?.max(sd(b)?);
    Some(Finding {
        text: format!("{}, 2 sd {}", points(difference.mean), digits(limit)),
        is_refuted: difference.mean <= limit,
    })
}

/// Refutes that the mean paired difference of `a` to `b` is above 0.
fn above_zero(a: &[OfSeed], b: &[OfSeed]) -> Option<Finding> {
    let difference = SeedSpread::of(&paired(a, b)).filter(|of| of.n >= MIN_SEEDS)?;
    let half = difference.half_interval()?;
    Some(Finding {
        text: format!("{} ± {}", points(difference.mean), digits(half)),
        is_refuted: difference.mean - half <= 0.0,
    })
}

/// Refutes that DACL is not below supervised training and raw features.
fn not_below_any(runs: DaclRuns<'_>, data: DaclDataSet) -> Option<Finding> {
    let dacl = runs.chosen(data, &DACL);
    let to = |row| {
        let differences = paired(&dacl, &compared(runs, data, row));
        SeedSpread::of(&differences).filter(|of| of.n >= MIN_SEEDS)
    };
    let (supervised, raw) = (to(DaclRow::Supervised)?, to(DaclRow::Raw)?);
    Some(Finding {
        text: format!(
            "{} to supervised, {} to raw features",
            points(supervised.mean),
            points(raw.mean)
        ),
        is_refuted: supervised.mean.min(raw.mean) < 0.0,
    })
}

/// Writes a difference of accuracies in points, with its sign.
fn points(difference: f64) -> String {
    with_sign(difference, digits)
}

fn digits(accuracy: f64) -> String {
    rounded(100.0 * accuracy, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::dacl::fixture::{record, records};
    use crate::pages::dacl::record::DaclRecord;

    fn of(target: DaclTarget, records: &[DaclRecord]) -> Vec<Claim> {
        claims(DaclRuns { target, records })
    }

    fn table_1(dacl: f64, plus: f64, gaussian: f64, supervised: f64, raw: f64) -> Vec<Claim> {
        let data = DaclDataSet::Letter;
        let rows = [
            (DaclRow::LinearAlpha50, dacl - 0.1),
            (DaclRow::LinearAlpha90, dacl),
            (DaclRow::PlusKeep90, plus),
            (DaclRow::Gaussian, gaussian),
            (DaclRow::Supervised, supervised),
            (DaclRow::Raw, raw),
        ];
        let records: Vec<DaclRecord> = rows
            .into_iter()
            .flat_map(|(row, accuracy)| records(data, row, accuracy, 0.01))
            .collect();
        of(DaclTarget::Table1, &records)
    }

    #[test]
    fn claims_hold_or_are_refuted_by_their_rules() {
        use ClaimVerdict::{Holds, NotTested, Refuted};
        let verdicts = |claims: &[Claim]| -> Vec<ClaimVerdict> {
            claims.iter().map(|claim| claim.verdict).collect()
        };
        let all = table_1(0.8, 0.82, 0.77, 0.79, 0.7);
        assert_eq!(verdicts(&all), [Holds, Holds, Holds, NotTested, NotTested]);
        assert_eq!(all[0].finding, "Letter: +3.0, 2 sd 2.0");
        assert_eq!(all[1].finding, "Letter: +2.0 ± 0.0");
        let none = table_1(0.8, 0.79, 0.79, 0.79, 0.81);
        assert_eq!(
            verdicts(&none),
            [Refuted, Refuted, Refuted, NotTested, NotTested]
        );
        assert_eq!(
            none[2].finding,
            "Letter: +1.0 to supervised, −1.0 to raw features"
        );
        assert_eq!(none[2].counts, (1, 1));
    }

    /// Returns records of both rows that the claim on images compares.
    fn on_images(sum: f64, control: f64, epochs: usize) -> Vec<DaclRecord> {
        let data = DaclDataSet::Cifar10;
        let of_sum = records(data, DaclRow::SimclrDacl, sum, 0.01);
        let of_control = records(data, DaclRow::SimclrFourViews, control, 0.01);
        let mut all: Vec<DaclRecord> = of_sum.chain(of_control).collect();
        for record in &mut all {
            record.target = DaclTarget::Table2;
            record.settings.epochs = epochs;
        }
        all
    }

    #[test]
    fn images_have_a_verdict_from_three_seeds_and_100_epochs_on() {
        let verdict_of = |records: &[DaclRecord]| {
            let [claim] = &of(DaclTarget::Table2, records)[..] else {
                panic!("expected one claim")
            };
            (claim.verdict, claim.finding.clone(), claim.counts)
        };
        use ClaimVerdict::{Holds, NotTested, Refuted};
        assert_eq!(
            verdict_of(&on_images(0.82, 0.8, 100)),
            (Holds, "CIFAR-10-4000: +2.0 ± 0.0".to_owned(), (0, 1))
        );
        assert_eq!(verdict_of(&on_images(0.8, 0.8, 100)).0, Refuted);
        assert_eq!(verdict_of(&on_images(0.79, 0.8, 200)).0, Refuted);
        let short = "No verdict from trainings of 99 epochs. CIFAR-10-4000: +2.0 over 3 seeds.";
        assert_eq!(
            verdict_of(&on_images(0.82, 0.8, 99)),
            (NotTested, short.to_owned(), (0, 0))
        );
        let mut two = on_images(0.82, 0.8, 100);
        two.retain(|record| record.seed < 2);
        let few = "No data set has 3 seeds of the rows that it needs.";
        assert_eq!(verdict_of(&two), (NotTested, few.to_owned(), (0, 0)));
        // Plain SimCLR, at half the passes, says nothing.
        let mut plain = on_images(0.82, 0.8, 100);
        for record in &mut plain {
            if record.row == DaclRow::SimclrFourViews {
                record.row = DaclRow::Simclr;
            }
        }
        assert_eq!(verdict_of(&plain).0, NotTested);
        assert_eq!(verdict_of(&[]).0, NotTested);
    }

    #[test]
    fn two_seeds_test_nothing() {
        let rows = [DaclRow::HiddenMixup, DaclRow::Untrained];
        let two: Vec<DaclRecord> = [0, 1]
            .into_iter()
            .flat_map(|seed| rows.map(|row| record(DaclDataSet::Mutag, row, seed, 0.8)))
            .collect();
        for claim in of(DaclTarget::Table4, &two) {
            assert_eq!(claim.verdict, ClaimVerdict::NotTested);
            assert_eq!(
                claim.finding,
                "No data set has 3 seeds of the rows that it needs."
            );
        }
    }

    #[test]
    fn half_of_the_data_sets_do_not_refute() {
        let rows = |data, dacl| {
            records(data, DaclRow::HiddenMixup, dacl, 0.01).chain(records(
                data,
                DaclRow::Untrained,
                0.8,
                0.01,
            ))
        };
        let mut all: Vec<DaclRecord> = rows(DaclDataSet::Mutag, 0.9).collect();
        all.extend(rows(DaclDataSet::PtcMr, 0.81));
        let claims = of(DaclTarget::Table4, &all);
        assert_eq!(claims[0].verdict, ClaimVerdict::Holds);
        assert_eq!(claims[0].counts, (1, 2));
        assert_eq!(
            claims[0].finding,
            "MUTAG: +10.0, 2 sd 2.0; PTC_MR: +1.0, 2 sd 2.0"
        );
        all.extend(rows(DaclDataSet::ImdbBinary, 0.8));
        assert_eq!(
            of(DaclTarget::Table4, &all)[0].verdict,
            ClaimVerdict::Refuted
        );
    }
}
