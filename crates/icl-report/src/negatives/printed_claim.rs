//! Claims of the paper beside what its own equations give.

use crate::document::{Column, Row, Table, TableCell};

/// A claim of the paper of numbers, and what refutes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PrintedClaim {
    /// The claim, with its place in the paper.
    pub(super) claim: &'static str,
    /// Result that refutes it.
    pub(super) rule: &'static str,
    /// Printed figure or words.
    pub(super) printed: &'static str,
    /// Our figures.
    pub(super) ours: String,
    /// Whether the rule applies.
    pub(super) is_refuted: bool,
}

/// Returns the claims with their rules, figures and verdicts.
pub(super) fn claims_table(claims: &[PrintedClaim]) -> Table {
    let row = |claim: &PrintedClaim| {
        let verdict = match claim.is_refuted {
            true => "refuted",
            false => "holds",
        };
        let words = [verdict, claim.printed, &claim.ours, claim.rule];
        let cells = words.map(|word| TableCell::Word(word.to_owned()));
        Row::new(claim.claim, cells.into())
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
