//! Claims of the paper next to what its own equations give.

use std::sync::LazyLock;

use icl_report::document::{Column, Row, Table, TableCell};
use serde::Deserialize;

use crate::pages::printed;

/// A claim of the paper of numbers.
#[derive(Debug, Deserialize)]
struct Claim {
    key: String,
    /// The claim, with its place in the paper.
    claim: String,
    /// Result that refutes it.
    refuted_if: String,
    /// Printed figure or words.
    printed: String,
}

static CLAIMS: LazyLock<Vec<Claim>> =
    LazyLock::new(|| printed::rows(include_str!("../../../../data/ans-claims.csv")));

/// A claim with our figures.
#[derive(Debug)]
pub(super) struct PrintedClaim {
    claim: &'static Claim,
    ours: String,
    is_refuted: bool,
}

impl PrintedClaim {
    /// Compares the claim of this key with our figures.
    ///
    /// # Panics
    /// If there is no such claim.
    pub(super) fn new(key: &str, ours: String, is_refuted: bool) -> Self {
        let claim = CLAIMS.iter().find(|claim| claim.key == key);
        Self {
            claim: claim.expect("the paper makes the claim"),
            ours,
            is_refuted,
        }
    }
}

/// Returns the claims with their rules, figures and verdicts.
pub(super) fn claims_table(claims: &[PrintedClaim]) -> Table {
    let row = |of: &PrintedClaim| {
        let verdict = match of.is_refuted {
            true => "refuted",
            false => "holds",
        };
        let Claim {
            claim,
            refuted_if,
            printed,
            ..
        } = of.claim;
        let words = [verdict, printed, &of.ours, refuted_if];
        let cells = words.map(|word| TableCell::Word(word.to_owned()));
        Row::new(claim.as_str(), cells.into())
    };
    Table {
        corner: "claim".into(),
        columns: ["verdict", "printed", "ours", "refuted if"]
            .map(Column::new)
            .into(),
        rows: claims.iter().map(row).collect(),
    }
}

/// Says how many of the claims hold.
pub(super) fn tally(claims: &[PrintedClaim]) -> String {
    let n_held = claims.iter().filter(|claim| !claim.is_refuted).count();
    format!("{n_held} of {} claims hold", claims.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_claims_are_of_figure_4_and_three_of_figure_5() {
        assert_eq!(CLAIMS.len(), 11);
        let (last, place) = (&CLAIMS[10], &CLAIMS[0]);
        assert_eq!((last.key.as_str(), last.printed.as_str()), ("end", "1"));
        assert!(place.claim.ends_with("(section 4.2)") && !place.refuted_if.is_empty());
    }
}
