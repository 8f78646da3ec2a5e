//! AUCs that were measured during a training, from a list or from a record.

use std::path::Path;

use anyhow::anyhow;
use icl_core::InputFile;
use icl_core::negatives::separation;
use serde_json::Value;

use crate::process::failure::Failure;

/// Size of the largest file that is read, in bytes: 64 MiB.
const MAX_BYTES: u64 = 64 << 20;
/// Largest number of AUCs: each costs as much as a curve of one.
const MAX_AUCS: usize = 10_000;
/// Longest piece of a line that an error shows, in characters.
const LONGEST: usize = 40;

/// Reads the AUCs of a file: one a line, with or without a line `auc` before them, or the evaluations of a record of
/// `icl run` or `icl update`, a line of JSON for each seed.
///
/// # Errors
/// If the file cannot be read, a line is neither an AUC above 0 and below 1 nor a record whose evaluations have one, or
/// records are of several methods.
pub fn read(path: &Path) -> Result<Vec<f64>, Failure> {
    let text = InputFile::open(path, MAX_BYTES).and_then(InputFile::text);
    let text = text.map_err(|error| {
        Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected AUCs, one a line, or a record with evaluations",
            path.display()
        ))
    })?;
    parse(&text).map_err(|Rejected { line, message }| {
        let line = line.map_or_else(String::new, |line| format!(", line {line}"));
        Failure::input(anyhow!("{}{line}: {message}", path.display()))
    })
}

/// A rejected line, counted from 1, or none if it is the whole file.
#[derive(Debug)]
struct Rejected {
    line: Option<usize>,
    message: String,
}

impl Rejected {
    fn of_line(line: usize, message: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            message: message.into(),
        }
    }
}

fn parse(text: &str) -> Result<Vec<f64>, Rejected> {
    // Tables of other programs may begin with a mark of the order of bytes.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    let lines: Vec<(usize, &str)> = lines.map(|(at, line)| (at + 1, line)).collect();
    let found = match lines.first() {
        Some((_, first)) if first.starts_with('{') => of_records(&lines)?,
        Some((_, first)) if first.eq_ignore_ascii_case("auc") => of_list(&lines[1..])?,
        _ => of_list(&lines)?,
    };
    if found.is_empty() || found.len() > MAX_AUCS {
        return Err(Rejected {
            line: None,
            message: format!("found {} AUCs, expected 1 to {MAX_AUCS}", found.len()),
        });
    }
    let checked = found.iter().map(|&(line, auc)| {
        let message = format!("found {auc}, expected an AUC above 0 and below 1");
        match separation(auc) {
            Ok(_) => Ok(auc),
            Err(_) => Err(Rejected::of_line(line, message)),
        }
    });
    checked.collect()
}

/// Reads one number a line.
fn of_list(lines: &[(usize, &str)]) -> Result<Vec<(usize, f64)>, Rejected> {
    let number = |&(line, text): &(usize, &str)| {
        let expected = "expected one number, an AUC, or a record of `icl run` or `icl update`";
        let message = || format!("found {}, {expected}", shown(text));
        text.parse()
            .map(|auc| (line, auc))
            .map_err(|_| Rejected::of_line(line, message()))
    };
    lines.iter().map(number).collect()
}

/// Reads the AUCs of the evaluations of records of one method.
fn of_records(lines: &[(usize, &str)]) -> Result<Vec<(usize, f64)>, Rejected> {
    let mut aucs = Vec::new();
    let mut method: Option<String> = None;
    for &(line, text) in lines {
        let record: Value = serde_json::from_str(text).map_err(|error| {
            let message = format!("expected a record of `icl run` or `icl update`: {error}");
            Rejected::of_line(line, message)
        })?;
        if let Some(found) = record["method"].as_str() {
            let expected = method.get_or_insert_with(|| found.to_owned());
            if found != expected {
                let message = format!(
                    "found a record of {}, expected records of one method, {} as before",
                    shown(found),
                    shown(expected)
                );
                return Err(Rejected::of_line(line, message));
            }
        }
        let evaluations = record["evaluations"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        if evaluations.is_empty() {
            return Err(Rejected::of_line(
                line,
                "found no evaluations, expected at least one",
            ));
        }
        for evaluation in evaluations {
            let auc = evaluation["risk"]["auc_all"].as_f64().ok_or_else(|| {
                let message = "found an evaluation without auc_all, expected those of `icl run` or `icl update` of this version";
                Rejected::of_line(line, message)
            })?;
            aucs.push((line, auc));
        }
    }
    Ok(aucs)
}

/// Returns the beginning of a text in one line, quoted.
fn shown(text: &str) -> String {
    match text.chars().count() > LONGEST {
        true => format!("{:?}…", text.chars().take(LONGEST).collect::<String>()),
        false => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aucs(text: &str) -> Vec<f64> {
        parse(text).unwrap()
    }

    #[track_caller]
    fn assert_rejected(text: &str, line: Option<usize>, message: &str) {
        let found = parse(text).unwrap_err();
        assert_eq!(found.line, line);
        assert!(found.message.starts_with(message), "{}", found.message);
    }

    #[test]
    fn a_list_has_one_number_a_line() {
        assert_eq!(aucs("0.5\n0.75\n"), [0.5, 0.75]);
        assert_eq!(aucs("\u{feff}AUC\r\n0.5\r\n\r\n 9e-1 \r\n"), [0.5, 0.9]);
    }

    #[test]
    fn records_give_the_aucs_of_their_evaluations() {
        let record = |method: &str, aucs: &[f64]| {
            let of =
                |auc: &f64| serde_json::json!({"epoch": 1, "risk": {"all": 1.0, "auc_all": auc}});
            let evaluations: Vec<Value> = aucs.iter().map(of).collect();
            serde_json::json!({"method": method, "evaluations": evaluations}).to_string()
        };
        let two = [record("icl", &[0.6, 0.7]), record("icl", &[0.65])].join("\n");
        assert_eq!(aucs(&two), [0.6, 0.7, 0.65]);
        let mixed = [record("icl", &[0.6]), record("warm", &[0.7])].join("\n");
        let message =
            "found a record of \"warm\", expected records of one method, \"icl\" as before";
        assert_rejected(&mixed, Some(2), message);
        assert_rejected(
            &record("icl", &[0.6, 1.0]),
            Some(1),
            "found 1, expected an AUC above 0",
        );
        assert_rejected(&record("icl", &[]), Some(1), "found no evaluations");
        let older = "{\"evaluations\":[{\"risk\":{\"all\":1}}]}";
        assert_rejected(older, Some(1), "found an evaluation without auc_all");
        let of_training = "{\"evaluations\":[{\"risk\":1.5}]}";
        assert_rejected(of_training, Some(1), "found an evaluation without auc_all");
        assert_rejected(
            "{\"evaluations\":[",
            Some(1),
            "expected a record of `icl run`",
        );
    }

    #[test]
    fn lines_that_are_rejected() {
        assert_rejected("", None, "found 0 AUCs, expected 1 to 10000");
        assert_rejected("auc\n", None, "found 0 AUCs");
        assert_rejected(
            "0.5\n0.6,0.7\n",
            Some(2),
            "found \"0.6,0.7\", expected one number",
        );
        assert_rejected("epoch,auc\n", Some(1), "found \"epoch,auc\"");
        for (text, shown) in [
            ("nan", "NaN"),
            ("1", "1"),
            ("0", "0"),
            ("1e999", "inf"),
            ("-0.1", "-0.1"),
        ] {
            assert_rejected(
                &format!("0.5\n\n{text}"),
                Some(3),
                &format!("found {shown}, expected"),
            );
        }
        let long = format!("0.{}x", "1".repeat(5000));
        assert!(parse(&long).unwrap_err().message.chars().count() < 200);
        let many = "0.5\n".repeat(MAX_AUCS + 1);
        assert_rejected(&many, None, "found 10001 AUCs");
    }
}
