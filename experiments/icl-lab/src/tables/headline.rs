//! Cost at parity and quality at a budget, from the folders of scripts/headline.sh.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_cli::parts::Failure;
use icl_core::ByOrigin;
use icl_report::{Comparison, RunRecord};
use icl_train::DEFAULT;

use super::markdown::table;
use super::seeds::{MISSING, REFERENCE, lacks, records, with_range};

/// Run with the default optimizer, within all budgets.
const OWN: &str = "muon";
/// Run of the default method within budgets between these, for the cost at parity.
const BETWEEN: &str = "between";
/// Retraining by other recipes, each with its words: the method whose end is the reference, and the folder.
const REFERENCES: [(&str, &str, &str); 3] = [
    ("retraining", OWN, REFERENCE),
    ("retraining by Adam", "adam", REFERENCE),
    ("retraining four times as long", "long", "retraining@400%"),
];
/// Budget whose quality is in the first table.
const BUDGET: &str = "10%";

/// Returns the tables of all cells, which are folders of `FOLDER/CELL` with a folder for each seed. Where no seed has
/// the folder of a reference, its tables are left out.
///
/// # Errors
/// If a seed lacks a run that another one has, or a record cannot be read.
pub fn tables(cells: &[PathBuf]) -> Result<String, Failure> {
    let mut rows = Vec::new();
    let mut details = String::new();
    for cell in cells {
        let name = cell.file_name().unwrap_or(cell.as_os_str());
        let name = name.to_string_lossy().into_owned();
        let mut own = of_seeds(cell, OWN)?;
        own.extend(of_seeds(cell, BETWEEN)?);
        let compared: Vec<Option<Comparison>> = REFERENCES
            .iter()
            .map(|(_, folder, method)| against(&own, cell, (folder, method)))
            .collect::<Result<_, _>>()?;
        rows.push(summary(&name, &own, &compared));
        details += &risks(&name, cell)?;
        for ((words, ..), comparison) in REFERENCES.iter().zip(&compared) {
            let Some(comparison) = comparison else {
                continue;
            };
            details += &format!(
                "### {name}: excess over {words}, old / new, %\n\n{}",
                quality(comparison)
            );
        }
    }
    let at = format!("`{DEFAULT}` at a tenth, old / new, %");
    let mut head = vec![
        "cell".to_owned(),
        "α".to_owned(),
        "N, ΔN".to_owned(),
        "keep θ₀, old / new, %".to_owned(),
    ];
    for (words, ..) in REFERENCES {
        head.push(format!("{at}: against {words}"));
        head.push("cost at parity".to_owned());
    }
    Ok(format!("{}{details}", table(&head, "---", &rows)))
}

/// Reads the records of a run of all seeds of a cell.
fn of_seeds(cell: &Path, run: &str) -> Result<Vec<RunRecord>, Failure> {
    let all = seeds(cell)?;
    let all = all.iter().map(|seed| records(&seed.join(run)));
    Ok(all.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns the folders of the seeds of a cell, in the order of their names.
fn seeds(cell: &Path) -> Result<Vec<PathBuf>, Failure> {
    let of_cell = |error: std::io::Error| Failure::input(anyhow!("{}: {error}", cell.display()));
    let entries = std::fs::read_dir(cell).map_err(of_cell)?;
    let entries = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut folders: Vec<PathBuf> = entries.collect::<Result<_, _>>().map_err(of_cell)?;
    folders.retain(|it| it.is_dir());
    folders.sort();
    match folders.is_empty() {
        true => Err(lacks(&cell.display().to_string(), "a folder of a seed")),
        false => Ok(folders),
    }
}

/// Compares runs with the retraining of another folder, or returns `None` if no seed has it.
fn against(
    own: &[RunRecord],
    cell: &Path,
    (folder, method): (&str, &str),
) -> Result<Option<Comparison>, Failure> {
    if !any_seed_has(cell, folder)? {
        return Ok(None);
    }
    let of_folder = of_seeds(cell, folder)?;
    let reference = of_folder.into_iter().filter(|run| run.method == method);
    let reference = reference.map(|run| RunRecord {
        method: REFERENCE.to_owned(),
        budget: None,
        ..run
    });
    let others = own.iter().filter(|run| run.method != REFERENCE).cloned();
    let all: Vec<RunRecord> = reference.chain(others).collect();
    if all.iter().all(|run| run.method != REFERENCE) {
        return Err(Failure::input(anyhow!(
            "{}: found no record of {method} in {folder}, expected one of each seed",
            cell.display()
        )));
    }
    Comparison::of(&all).map(Some).map_err(Failure::input)
}

/// Returns the table of held-out risks, as medians over the seeds with their range: a median is what a row of
/// docs/results/expected.csv compares.
fn risks(name: &str, cell: &Path) -> Result<String, Failure> {
    let within_budget = RunRecord::method_within(DEFAULT, BUDGET);
    let updates = [
        ("keep θ₀", OWN, "inference"),
        ("`icl` at a tenth", OWN, within_budget.as_str()),
    ];
    let mut rows = Vec::new();
    for (words, folder, method) in updates.into_iter().chain(REFERENCES) {
        if !any_seed_has(cell, folder)? {
            continue;
        }
        let mut runs = of_seeds(cell, folder)?;
        runs.retain(|run| run.method == method);
        let of_run = |run: &RunRecord| Some(run.update.held_out_risk?.mean);
        let held_out: Option<Vec<ByOrigin<f64>>> = runs.iter().map(of_run).collect();
        let held_out = held_out.ok_or_else(|| lacks(name, "held-out risks"))?;
        let write = |value: fn(&ByOrigin<f64>) -> f64| {
            let values: Vec<f64> = held_out.iter().map(value).collect();
            with_range(&values, |risk| format!("{risk:.4}"))
        };
        let passes: Vec<f64> = runs.iter().map(|run| run.training.charged_passes).collect();
        let passes = with_range(&passes, |n| format!("{:.1} k", n / 1e3));
        rows.push(vec![
            words.to_owned(),
            write(|of| of.old),
            write(|of| of.new),
            passes,
        ]);
    }
    let head = ["", "old data", "new data", "charged passes"];
    Ok(format!(
        "### {name}: held-out risk in nats, median [range over the seeds]\n\n{}",
        table(&head, "---", &rows)
    ))
}

/// Returns whether a seed of a cell has the folder of a run.
fn any_seed_has(cell: &Path, folder: &str) -> Result<bool, Failure> {
    Ok(seeds(cell)?.iter().any(|seed| seed.join(folder).exists()))
}

fn summary(name: &str, own: &[RunRecord], compared: &[Option<Comparison>]) -> Vec<String> {
    let update = &own[0].update;
    let mut row = vec![
        name.to_owned(),
        format!("{:.2}", update.alpha),
        format!("{}, {}", update.n_old, update.n_new),
        compared[0]
            .as_ref()
            .map_or(MISSING.to_owned(), |of| excess(of, "inference", None)),
    ];
    for of in compared {
        let Some(of) = of else {
            row.extend([MISSING, MISSING].map(str::to_owned));
            continue;
        };
        row.push(excess(of, DEFAULT, Some(BUDGET)));
        let parity = of.parities.iter().find(|it| it.method == DEFAULT);
        row.push(match parity.map(|it| it.share_of_cost) {
            None => MISSING.to_owned(),
            Some(None) => "not reached".to_owned(),
            Some(Some(share)) => format!("{share:.2}"),
        });
    }
    row
}

/// Returns the table of methods at each budget.
fn quality(of: &Comparison) -> String {
    let (mut budgets, mut methods): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for run in &of.within_budgets {
        let budget = run.budget.as_deref();
        // Retraining runs within the budgets of all methods.
        budgets.extend(budget.filter(|it| run.method == REFERENCE && !budgets.contains(it)));
        if !methods.contains(&run.method.as_str()) {
            methods.push(&run.method);
        }
    }
    let row = |method: &&str| {
        // What trains nothing has no budget, and is the same in each column.
        let mut runs = of.within_budgets.iter();
        let is_free = runs.any(|run| run.method == **method && run.budget.is_none());
        let cells = budgets
            .iter()
            .map(|budget| excess(of, method, (!is_free).then_some(budget)));
        std::iter::once(format!("`{method}`"))
            .chain(cells)
            .collect()
    };
    let rows: Vec<Vec<String>> = methods.iter().map(row).collect();
    let head: Vec<&str> = std::iter::once("method")
        .chain(budgets.iter().copied())
        .collect();
    table(&head, "---", &rows)
}

/// Writes the excess of a method on old and on new data with half of its interval.
fn excess(of: &Comparison, method: &str, budget: Option<&str>) -> String {
    let mut all = of.within_budgets.iter();
    let found = all.find(|it| it.method == method && it.budget.as_deref() == budget);
    found.map_or(MISSING.to_owned(), |it| {
        let part = |of: icl_report::Excess| {
            let half = of
                .interval
                // Half of the interval, in per cent.
                .map(|[low, high]| format!(" ± {:.1}", 50.0 * (high - low)));
            format!("{:+.1}{}", 100.0 * of.mean, half.unwrap_or_default())
        };
        format!("{} / {}", part(it.old), part(it.new)).replace('-', "−")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::HeldOutRisk;
    use icl_report::testing::record;
    use tempfile::tempdir;

    /// Two seeds of a method, which differ by more than methods.
    fn runs(method: &str, budget: Option<&str>, risks: [f64; 2], passes: f64) -> Vec<RunRecord> {
        let of = |seed: u64| {
            let name = budget.map_or(method.to_owned(), |it| RunRecord::method_within(method, it));
            let [old, new] = risks.map(|it| it * (1.0 + 0.5 * seed as f64));
            let all = (old + new) / 2.0;
            let mean = ByOrigin { all, old, new };
            let mut run = record(&name, seed);
            run.update.held_out_risk = Some(HeldOutRisk {
                mean,
                standard_error: mean.map(|_| 0.01),
            });
            run.budget = budget.map(str::to_owned);
            run.training.charged_passes = passes;
            run
        };
        (0..2).map(of).collect()
    }

    fn write(folder: &Path, runs: &[RunRecord]) {
        std::fs::create_dir_all(folder).unwrap();
        let lines = runs
            .iter()
            .map(|run| serde_json::to_string(run).unwrap() + "\n");
        std::fs::write(folder.join("record.jsonl"), lines.collect::<String>()).unwrap();
    }

    #[test]
    fn methods_are_compared_with_each_retraining() {
        let at = tempdir().unwrap();
        let cell = at.path().join("toy-0.1");
        let write = |run: &str, runs: &[RunRecord]| {
            for seed in 0..2 {
                let of_seed: Vec<_> = runs.iter().filter(|it| it.seed == seed).cloned().collect();
                write(&cell.join(seed.to_string()).join(run), &of_seed);
            }
        };
        let own = [
            runs("inference", None, [1.0, 1.5], 0.0),
            runs(REFERENCE, None, [1.0, 1.0], 1000.0),
            runs("icl", Some("10%"), [1.1, 1.2], 100.0),
            runs("icl", Some("50%"), [1.0, 1.0], 500.0),
            runs(REFERENCE, Some("10%"), [1.4, 1.4], 100.0),
            runs(REFERENCE, Some("50%"), [1.2, 1.2], 500.0),
        ];
        let between = runs("icl", Some("20%"), [1.0, 1.005], 200.0);
        write(BETWEEN, &between);
        write(OWN, &own.concat());
        write("adam", &runs(REFERENCE, None, [1.25, 1.2], 1000.0));
        let without_long = tables(std::slice::from_ref(&cell)).unwrap();
        assert_eq!(without_long.matches("### toy-0.1: excess over").count(), 2);
        assert!(without_long.lines().nth(2).unwrap().ends_with("| – | – |"));
        std::fs::create_dir(cell.join("0/long")).unwrap();
        let missing = tables(std::slice::from_ref(&cell)).unwrap_err().to_string();
        assert!(missing.contains("long"), "{missing}");
        write("long", &runs(REFERENCE, Some("400%"), [0.8, 0.8], 4000.0));
        let text = tables(std::slice::from_ref(&cell)).unwrap();
        let first = text.lines().nth(2).unwrap();
        let cells: Vec<&str> = first.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells[0], "toy-0.1");
        assert_eq!(
            cells[3..],
            [
                "+0.0 ± 0.0 / +50.0 ± 0.0",
                "+10.0 ± 0.0 / +20.0 ± 0.0",
                "0.20",
                "−12.0 ± 0.0 / +0.0 ± 0.0",
                "0.10",
                "+37.5 ± 0.0 / +50.0 ± 0.0",
                "not reached",
            ]
        );
        assert_eq!(
            text.matches("### toy-0.1: excess over retraining").count(),
            3
        );
        let risks =
            "| `icl` at a tenth | 1.3750 [1.1000–1.6500] | 1.5000 [1.2000–1.8000] | 0.1 k |";
        assert!(text.contains(risks), "{text}");
        assert!(text.contains("| retraining four times as long | 1.0000 [0.8000–1.2000] |"));
        let row = "| `icl` | +10.0 ± 0.0 / +20.0 ± 0.0 | +0.0 ± 0.0 / +0.0 ± 0.0 |";
        assert!(text.contains(row), "{text}");
    }
}
