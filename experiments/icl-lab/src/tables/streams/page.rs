//! The tables of one data set.

use std::fmt::Write;
use std::path::Path;

use icl_cli::parts::Failure;
use icl_report::StreamRecord;

use super::runs::{Courses, EQUAL, MOMENTS, Runs, above, mean_of_all, values};
use crate::tables::markdown::table;
use crate::tables::seeds::{MISSING, REFERENCE, average, interval};

/// Returns the tables of a page.
///
/// # Errors
/// If a record cannot be read, or lacks a control.
pub fn page(folder: &Path, name: &str) -> Result<String, Failure> {
    let runs = Runs::read(folder, name)?;
    let seeds: Vec<String> = runs
        .of_icl
        .iter()
        .map(|(seed, _)| seed.to_string())
        .collect();
    let mut text = format!(
        "Seeds {}. ± is half of the 95 % interval of a mean over the seeds by Student's t; differences are paired by \
         seed.\n\n",
        seeds.join(", ")
    );
    text += &methods(&runs)?;
    write_untrained(&mut text, &runs);
    text += &moments(&runs)?;
    text += "Risk over held-out samples of each experience at the end, first seed:\n\n";
    text += &last_rows(&runs.of_icl[0].1);
    Ok(text)
}

/// Returns the table of the methods, at their own stop and at the cost of `icl`.
fn methods(runs: &Runs) -> Result<String, Failure> {
    let (retraining, icl) = (runs.control(REFERENCE)?, runs.equal("icl")?);
    let mut all = vec![
        ("never", MISSING, runs.control("never")?),
        ("icl", "own", runs.icl()),
        ("warm", "own", runs.control("warm")?),
        (REFERENCE, "own", runs.control(REFERENCE)?),
    ];
    for method in EQUAL {
        all.push((method, "cost of icl", runs.equal(method)?));
    }
    let row = |(method, stop, of): &(&str, &str, Courses)| {
        vec![
            (*method).to_owned(),
            (*stop).to_owned(),
            average(&values(of, |it| it.last), 3),
            above(of, &retraining, |it| it.last),
            above(of, &icl, |it| it.last),
            interval(&values(of, |it| it.forgotten), 3),
            average(&values(of, |it| it.served), 3),
            average(&values(of, |it| it.accuracy), 3),
            average(&values(of, |it| Some(it.charged)), 0),
        ]
    };
    let rows: Vec<Vec<String>> = all
        .iter()
        .filter(|(.., courses)| !courses.is_empty())
        .map(row)
        .collect();
    let head = [
        "method",
        "stop",
        "risk at the end",
        "above retraining",
        "above icl of the same cost",
        "forgotten",
        "served",
        "accuracy (kNN)",
        "charged passes",
    ];
    Ok(table(&head, "--:", &rows))
}

fn write_untrained(text: &mut String, runs: &Runs) {
    let over_seeds = |of: &dyn Fn(&StreamRecord) -> Option<f64>| {
        let values = runs.of_icl.iter().filter_map(|(_, record)| of(record));
        average(&values.collect::<Vec<f64>>(), 3)
    };
    let risk = over_seeds(&|record| mean_of_all(record.untrained_risk.iter().copied()));
    let accuracy =
        over_seeds(&|record| mean_of_all(record.untrained_accuracy.as_ref()?.iter().copied()));
    let _ = write!(
        text,
        "Untrained encoder: risk {risk}, accuracy {accuracy}.\n\n"
    );
}

/// Returns the table of the rules for the moment of an update, each update with its own stop.
fn moments(runs: &Runs) -> Result<String, Failure> {
    let always = runs.icl();
    let mut all = vec![("always", runs.icl()), ("never", runs.control("never")?)];
    for when in MOMENTS {
        all.push((when, runs.moment(when)?));
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .filter(|(_, courses)| !courses.is_empty())
        .map(|(when, of)| {
            vec![
                (*when).to_owned(),
                average(&values(of, |it| Some(it.n_updates as f64)), 1),
                average(&values(of, |it| Some(it.charged)), 0),
                average(&values(of, |it| it.served), 3),
                above(of, &always, |it| it.served),
                average(&values(of, |it| it.last), 3),
                above(of, &always, |it| it.last),
            ]
        })
        .collect();
    let head = [
        "moment of an update",
        "updates",
        "charged passes",
        "served",
        "above always",
        "risk at the end",
        "above always",
    ];
    Ok(table(&head, "--:", &rows))
}

/// Returns the table of the risks of each encoder at the end.
fn last_rows(record: &StreamRecord) -> String {
    let controls = record
        .controls
        .iter()
        .map(|of| (of.method.as_str(), &of.risk));
    let rows: Vec<Vec<String>> = std::iter::once(("icl", &record.risk))
        .chain(controls)
        .map(|(method, risk)| {
            let shown = |cell: &Option<f64>| cell.map_or(MISSING.to_owned(), |x| format!("{x:.3}"));
            let cells = risk.last().into_iter().flatten().map(shown);
            std::iter::once(method.to_owned()).chain(cells).collect()
        })
        .collect();
    let head: Vec<&str> = std::iter::once("encoder")
        .chain(record.names.iter().map(String::as_str))
        .collect();
    table(&head, "--:", &rows)
}
