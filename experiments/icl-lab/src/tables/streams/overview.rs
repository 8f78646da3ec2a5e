//! The tables of several data sets.

use std::path::Path;

use icl_cli::parts::Failure;

use super::runs::{Course, EQUAL, MOMENTS, Runs, above};
use crate::tables::markdown::table;
use crate::tables::seeds::{MISSING, REFERENCE, interval, lacks, mean};

/// Returns the tables of the overview, a row for each folder and name.
///
/// # Errors
/// If a record cannot be read or lacks a control, or a name is missing.
pub fn overview(streams: &[String]) -> Result<String, Failure> {
    let (pairs, rest) = streams.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(lacks(&rest[0], "a name after the folder"));
    }
    let (mut above_retraining, mut above_icl, mut by_moment) = (Vec::new(), Vec::new(), Vec::new());
    for [folder, name] in pairs {
        let runs = Runs::read(Path::new(folder), name)?;
        above_retraining.push(gaps(&runs)?);
        above_icl.push(differences(&runs)?);
        by_moment.push(costs_and_losses(&runs)?);
    }
    let mut head = vec!["data", "cost of icl / retraining", "icl, own stop"];
    head.extend(EQUAL);
    head.push("never");
    let mut text = table(&head, "--:", &above_retraining);
    head = vec!["data"];
    head.extend(&EQUAL[1..]);
    text += &table(&head, "--:", &above_icl);
    head = vec!["data"];
    head.extend(MOMENTS);
    text += &table(&head, "--:", &by_moment);
    Ok(text)
}

/// Returns the row of the risks above retraining: of `icl` by its own stop, and of all methods at its cost.
fn gaps(runs: &Runs) -> Result<Vec<String>, Failure> {
    let (icl, retraining) = (runs.icl(), runs.control(REFERENCE)?);
    let shares = icl.iter().zip(&retraining);
    let shares: Vec<f64> = shares
        .map(|((_, a), (_, b))| a.charged / b.charged)
        .collect();
    let mut row = vec![
        format!("[{0}]({0}.md)", runs.name),
        format!("{:.2}", mean(&shares)),
        above(&icl, &retraining, |it| it.last),
    ];
    for method in EQUAL {
        row.push(above(&runs.equal(method)?, &retraining, |it| it.last));
    }
    row.push(above(&runs.control("never")?, &retraining, |it| it.last));
    Ok(row)
}

/// Returns the row of the risks of the other methods above that of `icl` at the same cost.
fn differences(runs: &Runs) -> Result<Vec<String>, Failure> {
    let icl = runs.equal("icl")?;
    let mut row = vec![runs.name.clone()];
    for method in &EQUAL[1..] {
        row.push(above(&runs.equal(method)?, &icl, |it| it.last));
    }
    Ok(row)
}

/// Returns the row of the costs of the rules for the moment of an update, as shares of `always`, and of the service
/// that they lose, as shares of what `never` loses.
fn costs_and_losses(runs: &Runs) -> Result<Vec<String>, Failure> {
    let (always, never) = (runs.icl(), runs.control("never")?);
    let mut row = vec![runs.name.clone()];
    for when in MOMENTS {
        let (mut cost, mut lost) = (Vec::new(), Vec::new());
        for (seed, course) in runs.moment(when)? {
            let ends = always.iter().zip(&never).find(|((of, _), _)| *of == seed);
            if let Some(((_, always), (_, never))) = ends {
                cost.push(course.charged / always.charged);
                let above = |it: &Course| Some(it.served? - always.served?);
                lost.extend(above(&course).zip(above(never)).map(|(own, all)| own / all));
            }
        }
        row.push(match cost.is_empty() {
            true => MISSING.to_owned(),
            false => format!("{}; {}", interval(&cost, 2), interval(&lost, 2)),
        });
    }
    Ok(row)
}
