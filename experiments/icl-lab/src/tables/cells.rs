//! Cost of each method at its own stop, and how good it then is: tables for each cell, one folder of `icl run`.

use std::fmt::Write;
use std::path::PathBuf;

use icl_cli::parts::Failure;
use icl_core::{ByOrigin, ExactRisk, Origin};
use icl_report::RunRecord;
use icl_train::Evaluation;

use super::markdown::table;
use super::seeds::{
    MISSING, REFERENCE, deviation, lacks, mean, median, methods, of_method, of_seed, records,
    with_range,
};

/// Shares of retraining's cost whose risks are levels to reach.
const LEVELS: [f64; 4] = [0.1, 0.25, 0.5, 1.0];
/// Shares of retraining's cost at which risks are compared.
const SHARES: [f64; 3] = [0.1, 0.25, 0.5];
/// Multiple of the noise from which θ₀ is far from the target.
const FAR: f64 = 3.0;
/// Excess over retraining's held-out risk that still counts as its quality.
const NEAR: f64 = 0.01;
/// Old and new data, with their names.
const PARTS: [(Origin, &str); 2] = [(Origin::Old, "old"), (Origin::New, "new")];

/// Outcome of a run in a cell whose θ₀ is far from the target.
struct Reached {
    method: String,
    /// Charged cost as a share of retraining's.
    ratio: f64,
    /// Whether both parts are within [`NEAR`] of retraining.
    is_near: bool,
}

/// Returns the tables of all cells, of `icl` against `warm`, and of all far cells together.
///
/// # Errors
/// If a record cannot be read or has no held-out risk, or a cell lacks retraining, inference, `icl` or `warm`.
pub fn tables(folders: &[PathBuf]) -> Result<String, Failure> {
    let mut text = String::new();
    let mut far: Vec<(String, Vec<Reached>)> = Vec::new();
    let mut against = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        let name = name.to_string_lossy().into_owned();
        let runs = records(folder)?;
        let (rows, reached) = summary(&runs)?;
        let is_far = write_distance(&mut text, &runs)?;
        let head = [
            "method",
            "charged passes",
            "of retraining's",
            "held-out old",
            "held-out new",
            "old",
            "new",
            "within 1 %",
            "ended by",
        ];
        text += &table(&head, "---", &rows);
        if is_far {
            write_levels(&mut text, &runs)?;
            far.push((name.clone(), reached));
        }
        against.push(against_warm(name, &runs)?);
    }
    text += "## `icl` against `warm`, seed by seed\n\nMedian of the ratio of their charged costs, and mean \
             difference of their held-out risks with its standard error.\n\n";
    text += &table(
        &["cell", "cost", "held-out old", "held-out new"],
        "---",
        &against,
    );
    write_far(&mut text, &far, folders.len());
    Ok(text)
}

/// Writes what a cell is and how far θ₀ is from the target. Returns whether that is far.
fn write_distance(text: &mut String, runs: &[RunRecord]) -> Result<bool, Failure> {
    let first = &runs[0];
    let seeds = of_method(runs, REFERENCE).len();
    let plural = if seeds > 1 { "s" } else { "" };
    let _ = write!(
        text,
        "## {}, split {}, α = {:.2}\n\n{} old and {} new samples, {seeds} seed{plural}. Distance of θ₀ from the target: ",
        first.data, first.split, first.update.alpha, first.update.n_old, first.update.n_new
    );
    let mut is_far = false;
    let mut parts = Vec::new();
    for (part, name) in PARTS {
        let [start, target, noise] = distance(runs, part)?;
        is_far |= start - target > FAR * noise;
        let mut words = format!("on {name} data {:+.1} %", 100.0 * (start / target - 1.0));
        if seeds > 1 {
            let _ = write!(words, " ({:+.1} times the noise)", (start - target) / noise);
        }
        parts.push(words);
    }
    let verdict = match (is_far, seeds) {
        (true, _) => "",
        (false, 1) => " One seed does not tell the noise.",
        (false, _) => " **Nothing to speed up.**",
    };
    let _ = write!(text, "{}.{verdict}\n\n", parts.join("; "));
    Ok(is_far)
}

/// Returns θ₀'s mean risk, the mean target (retraining's plateau + 1 %), and the deviation of their difference.
fn distance(runs: &[RunRecord], part: Origin) -> Result<[f64; 3], Failure> {
    let (mut starts, mut targets) = (Vec::new(), Vec::new());
    for run in of_method(runs, REFERENCE) {
        let first = of_seed(runs, "inference", run.seed)?;
        let first = first.course.evaluations.first();
        let first = first.ok_or_else(|| lacks(&run.data, "an evaluation of θ₀"))?;
        starts.push(at(&first.risk, part));
        let last = run.course.evaluations.iter().rev().take(5);
        let last: Vec<f64> = last.map(|of| at(&of.risk, part)).collect();
        targets.push(1.01 * median(&last));
    }
    let differences: Vec<f64> = starts.iter().zip(&targets).map(|(a, b)| a - b).collect();
    Ok([mean(&starts), mean(&targets), deviation(&differences)])
}

/// Returns the rows of a cell, and what each run has reached.
fn summary(runs: &[RunRecord]) -> Result<(Vec<Vec<String>>, Vec<Reached>), Failure> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for method in methods(runs) {
        let own = of_method(runs, method);
        let mut excess = [Vec::new(), Vec::new()];
        let (mut ratios, mut n_near) = (Vec::new(), 0);
        for run in &own {
            let reference = of_seed(runs, REFERENCE, run.seed)?;
            let of_run = [Origin::Old, Origin::New].map(|part| excess_of(run, reference, part));
            let [old, new] = of_run;
            let of_run = [old?, new?];
            for (all, of_run) in excess.iter_mut().zip(of_run) {
                all.push(100.0 * of_run);
            }
            let is_near = of_run.iter().all(|excess| *excess <= NEAR);
            let ratio = run.training.charged_passes / reference.training.charged_passes;
            n_near += usize::from(is_near);
            ratios.push(ratio);
            all.push(Reached {
                method: method.to_owned(),
                ratio,
                is_near,
            });
        }
        let charged: Vec<f64> = own.iter().map(|run| run.training.charged_passes).collect();
        let mut row = vec![
            method.to_owned(),
            with_range(&charged, ["(", ")"], thousands),
        ];
        row.push(format!("{:.3}", median(&ratios)));
        for (part, _) in PARTS {
            let risks: Result<Vec<f64>, Failure> =
                own.iter().map(|run| held_out(run, part)).collect();
            row.push(with_range(&risks?, ["(", ")"], |risk| format!("{risk:.3}")));
        }
        row.extend(excess.iter().map(|of| format!("{:+.1} %", median(of))));
        row.push(format!("{n_near} of {}", own.len()));
        row.push(ended_by(&own));
        rows.push(row);
    }
    Ok((rows, all))
}

/// Says what ended the runs of a method: one rule, or each with the number of its runs.
fn ended_by(runs: &[&RunRecord]) -> String {
    let name = |run: &&RunRecord| match run.training.stopped_by.map(serde_json::to_value) {
        Some(Ok(serde_json::Value::String(name))) => name,
        _ => MISSING.to_owned(),
    };
    let all: Vec<String> = runs.iter().map(name).collect();
    let mut names = all.clone();
    names.sort_unstable();
    names.dedup();
    if let [name] = &names[..] {
        return name.clone();
    }
    let count = |name: &String| all.iter().filter(|of| *of == name).count();
    let counted = names.iter().map(|name| format!("{name} {}", count(name)));
    counted.collect::<Vec<_>>().join(", ")
}

/// Writes what a cell whose θ₀ is far from the target costs to levels of retraining, and reaches at shares of its cost.
fn write_levels(text: &mut String, runs: &[RunRecord]) -> Result<(), Failure> {
    let (mut levels, mut shares) = (Vec::new(), Vec::new());
    for method in methods(runs) {
        if method == "inference" {
            continue;
        }
        let mut row = vec![method.to_owned()];
        for share in LEVELS {
            row.push(cost_to_level(runs, method, share)?);
        }
        levels.push(row);
        let mut row = vec![method.to_owned()];
        for share in SHARES {
            row.push(risk_at_share(runs, method, share)?);
        }
        shares.push(row);
    }
    let head = |shares: &[f64]| {
        let shares = shares
            .iter()
            .map(|share| format!("at {:.0} %", 100.0 * share));
        std::iter::once("method".to_owned())
            .chain(shares)
            .collect::<Vec<_>>()
    };
    *text += "Cost to the lowest risk, on old and on new data, that retraining has at a share of its cost, as a \
              share of\nthe cost that retraining itself took to it:\n\n";
    *text += &table(&head(&LEVELS), "---", &levels);
    *text += "Lowest risk until a share of retraining's cost, above retraining's lowest, old / new (training \
              panel):\n\n";
    *text += &table(&head(&SHARES), "---", &shares);
    Ok(())
}

/// Returns a method's cost to the lowest risk that retraining has at a share of its cost, over retraining's own.
fn cost_to_level(runs: &[RunRecord], method: &str, share: f64) -> Result<String, Failure> {
    let own = of_method(runs, method);
    let mut reached = Vec::new();
    for run in &own {
        let reference = of_seed(runs, REFERENCE, run.seed)?;
        let level = lowest(reference, share * reference.training.charged_passes)?;
        let cost = |run: &RunRecord| {
            let arrived = |of: &&Evaluation| of.risk.old <= level.old && of.risk.new <= level.new;
            Some(run.course.evaluations.iter().find(arrived)?.charged_passes)
        };
        if let (Some(cost), Some(reference)) = (cost(run), cost(reference)) {
            reached.push(cost / reference);
        }
    }
    Ok(if reached.len() < own.len() {
        format!("{} of {} seeds", reached.len(), own.len())
    } else if reached.iter().all(|ratio| *ratio == 0.0) {
        "at the start".to_owned()
    } else {
        with_range(&reached, ["(", ")"], |ratio| format!("{ratio:.2}"))
    })
}

/// Returns a method's lowest risk until a share of retraining's cost above retraining's lowest, old / new.
fn risk_at_share(runs: &[RunRecord], method: &str, share: f64) -> Result<String, Failure> {
    let mut excess = [Vec::new(), Vec::new()];
    for run in of_method(runs, method) {
        let reference = of_seed(runs, REFERENCE, run.seed)?;
        let end = lowest(reference, f64::INFINITY)?;
        let best = lowest(run, share * reference.training.charged_passes)?;
        for (all, (part, _)) in excess.iter_mut().zip(PARTS) {
            all.push(100.0 * (at(best, part) / at(end, part) - 1.0));
        }
    }
    Ok(excess
        .map(|of| format!("{:+.1} %", median(&of)))
        .join(" / "))
}

/// Returns the lowest risk, the sum of old and new, of the evaluations up to a charged cost.
fn lowest(run: &RunRecord, until: f64) -> Result<&ExactRisk, Failure> {
    let of = run
        .course
        .evaluations
        .iter()
        .filter(|of| of.charged_passes <= until);
    // The first of several, as Python's `min` has it.
    let lowest = of.min_by(|a, b| (a.risk.old + a.risk.new).total_cmp(&(b.risk.old + b.risk.new)));
    Ok(&lowest
        .ok_or_else(|| lacks(&run.data, "an evaluation before training"))?
        .risk)
}

/// Returns `icl` against `warm` in the same seeds.
fn against_warm(name: String, runs: &[RunRecord]) -> Result<Vec<String>, Failure> {
    let mut ratios = Vec::new();
    let mut excess = [Vec::new(), Vec::new()];
    for run in of_method(runs, "icl") {
        let warm = of_seed(runs, "warm", run.seed)?;
        ratios.push(run.training.charged_passes / warm.training.charged_passes);
        for (all, (part, _)) in excess.iter_mut().zip(PARTS) {
            all.push(100.0 * excess_of(run, warm, part)?);
        }
    }
    let mut row = vec![name, format!("{:.2}", median(&ratios))];
    row.extend(excess.map(|of| match of.len() {
        0 => MISSING.to_owned(),
        1 => format!("{:+.1} %", of[0]),
        n => format!(
            "{:+.1} % ± {:.1}",
            mean(&of),
            deviation(&of) / (n as f64).sqrt()
        ),
    }));
    Ok(row)
}

/// Writes what the methods reach over all far cells together.
fn write_far(text: &mut String, far: &[(String, Vec<Reached>)], n_cells: usize) {
    let names: Vec<&str> = far.iter().map(|(name, _)| name.as_str()).collect();
    let _ = write!(
        text,
        "## All cells in which θ₀ is far from the target\n\n{} of {n_cells} cells: {}.\n\n",
        far.len(),
        names.join(", ")
    );
    let all: Vec<&Reached> = far.iter().flat_map(|(_, reached)| reached).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for method in all.iter().map(|of| &of.method) {
        if rows.iter().any(|row| row[0] == *method) {
            continue;
        }
        let own: Vec<&&Reached> = all.iter().filter(|of| of.method == *method).collect();
        let ratios: Vec<f64> = own.iter().map(|of| of.ratio).collect();
        let n_near = own.iter().filter(|of| of.is_near).count();
        let share = 100.0 * n_near as f64 / own.len() as f64;
        let near = format!("{n_near} of {} ({share:.0} %)", own.len());
        rows.push(vec![
            method.clone(),
            format!("{:.3}", median(&ratios)),
            near,
        ]);
    }
    let head = [
        "method",
        "cost of retraining's, median",
        "seeds within 1 % on old and on new",
    ];
    *text += &table(&head, "---", &rows);
}

/// Returns the share by which a run's held-out risk is above that of another.
fn excess_of(run: &RunRecord, other: &RunRecord, part: Origin) -> Result<f64, Failure> {
    Ok(held_out(run, part)? / held_out(other, part)? - 1.0)
}

fn held_out(run: &RunRecord, part: Origin) -> Result<f64, Failure> {
    let risk: Option<ByOrigin<f64>> = run.update.held_out_risk.map(|risk| risk.mean);
    Ok(risk.ok_or_else(|| lacks(&run.data, "held-out risks"))?[part])
}

fn at(risk: &ExactRisk, part: Origin) -> f64 {
    match part {
        Origin::Old => risk.old,
        Origin::New => risk.new,
    }
}

fn thousands(passes: f64) -> String {
    if passes < 100_000.0 {
        format!("{:.1} k", passes / 1000.0)
    } else {
        format!("{:.0} k", passes / 1000.0)
    }
}
