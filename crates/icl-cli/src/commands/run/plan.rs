//! Runs of a comparison: each method within each budget.

use anyhow::anyhow;
use icl_report::RunRecord;
use icl_train::{Method, REFERENCE, Start};

use crate::options::budget::UpdateBudget;
use crate::process::failure::Failure;

/// Run of a method within a budget.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRun {
    /// Method; its name is that of the run.
    pub method: Method,
    /// Budget.
    pub budget: UpdateBudget,
}

impl PlannedRun {
    /// Returns whether the run keeps θ₀ as it is.
    pub fn keeps_first(&self) -> bool {
        self.method.loss.is_none() && self.method.start == Start::Trained
    }

    /// Returns the budget as it was given, if there is one.
    pub fn budget(&self) -> Option<String> {
        (self.budget != UpdateBudget::None).then(|| self.budget.to_string())
    }
}

/// Plans the runs: each method within each budget, a method without training once, and retraining also without one.
///
/// # Errors
/// If a budget is in minutes, occurs twice, or is none among others.
pub fn plan(methods: Vec<Method>, budgets: &[UpdateBudget]) -> Result<Vec<PlannedRun>, Failure> {
    for (at, budget) in budgets.iter().enumerate() {
        let is_alone = *budget != UpdateBudget::None || budgets.len() == 1;
        if matches!(budget, UpdateBudget::Minutes(_)) || !is_alone {
            return Err(Failure::input(anyhow!(
                "budget: found {budget}, expected shares of retraining such as 10%, passes such as 20000, or none alone"
            )));
        }
        if budgets[..at].contains(budget) {
            return Err(Failure::input(anyhow!(
                "budget: found {budget} twice, expected each budget once"
            )));
        }
    }
    let limited: Vec<UpdateBudget> = budgets
        .iter()
        .copied()
        .filter(|it| *it != UpdateBudget::None)
        .collect();
    let runs = methods.into_iter().flat_map(|method| {
        let is_reference = method.name == REFERENCE;
        let is_unlimited = is_reference || method.loss.is_none() || limited.is_empty();
        let unlimited = is_unlimited.then(|| PlannedRun {
            method: method.clone(),
            budget: UpdateBudget::None,
        });
        let budgets = match method.loss {
            Some(_) => &limited[..],
            None => &[],
        };
        let within = budgets.iter().map(|budget| {
            let name = match is_reference || limited.len() > 1 {
                true => RunRecord::method_within(&method.name, &budget.to_string()),
                false => method.name.clone(),
            };
            PlannedRun {
                method: Method {
                    name,
                    ..method.clone()
                },
                budget: *budget,
            }
        });
        unlimited.into_iter().chain(within).collect::<Vec<_>>()
    });
    Ok(runs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(budgets: &str) -> Result<Vec<(String, String)>, String> {
        let all = icl_train::methods();
        let of = |name: &str| all.iter().find(|it| it.name == name).cloned().unwrap();
        let methods = ["inference", "icl", REFERENCE].map(of).into();
        let budgets: Vec<UpdateBudget> = budgets
            .split(',')
            .filter(|it| !it.is_empty())
            .map(|it| it.parse().unwrap())
            .collect();
        let runs = plan(methods, &budgets).map_err(|error| error.to_string())?;
        let pair = |run: PlannedRun| (run.method.name, run.budget.to_string());
        Ok(runs.into_iter().map(pair).collect())
    }

    #[test]
    fn every_trained_method_runs_within_every_budget() {
        let of = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
            pairs.iter().map(owned).collect()
        };
        let plain = [("inference", "none"), ("icl", "none"), (REFERENCE, "none")];
        assert_eq!(planned("").unwrap(), of(&plain));
        assert_eq!(planned("none").unwrap(), of(&plain));
        let one = [
            ("inference", "none"),
            ("icl", "10%"),
            (REFERENCE, "none"),
            ("retraining@10%", "10%"),
        ];
        assert_eq!(planned("10%").unwrap(), of(&one));
        let two = [
            ("inference", "none"),
            ("icl@5%", "5%"),
            ("icl@20000", "20000"),
            (REFERENCE, "none"),
            ("retraining@5%", "5%"),
            ("retraining@20000", "20000"),
        ];
        assert_eq!(planned("5%,20000").unwrap(), of(&two));
    }

    #[test]
    fn budgets_that_cannot_be_compared_are_errors() {
        for (budgets, found) in [
            ("10m", "found 10m,"),
            ("5%,none", "found none,"),
            ("5%,10%,5%", "found 5% twice"),
        ] {
            let error = planned(budgets).unwrap_err();
            assert!(error.contains(found), "{error}");
        }
    }
}
