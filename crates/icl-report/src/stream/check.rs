//! Checks that the parts of a stream's record fit each other.

use crate::error::{ReportError, check_schema, empty};
use crate::record::{Cells, STREAM_SCHEMA, StreamRecord};

/// Checks the schema, that there is an experience, that matrices are `[T, T]`, that lists are `[T]` and decisions
/// `[T − 1]`, and that no control is there twice.
pub(crate) fn check_stream(record: &StreamRecord) -> Result<(), ReportError> {
    check_schema(1, record.schema, STREAM_SCHEMA)?;
    let n = record.names.len();
    if n == 0 {
        return Err(empty());
    }
    let n_decisions = n - 1;
    check("experiences", record.experiences.len(), n)?;
    check("decisions", record.decisions.len(), n_decisions)?;
    check_cells("risks", &record.risk, n)?;
    check(
        "risks of an untrained encoder",
        record.untrained_risk.len(),
        n,
    )?;
    if let Some(accuracy) = &record.accuracy {
        check_cells("accuracies", accuracy, n)?;
    }
    if let Some(accuracy) = &record.untrained_accuracy {
        check("accuracies of an untrained encoder", accuracy.len(), n)?;
    }
    for (i, control) in record.controls.iter().enumerate() {
        let of = |part: &str| format!("{part} of the control `{}`", control.method);
        if record.controls[..i]
            .iter()
            .any(|other| other.method == control.method)
        {
            return Err(ReportError::message(format!(
                "the stream has two controls `{}`, expected one of each method",
                control.method
            )));
        }
        check_cells(&of("risks"), &control.risk, n)?;
        if let Some(accuracy) = &control.accuracy {
            check_cells(&of("accuracies"), accuracy, n)?;
        }
        check(&of("charged costs"), control.charged_passes.len(), n)?;
        check(&of("gaps"), control.gap.len(), n)?;
    }
    Ok(())
}

fn check_cells(part: &str, cells: &Cells, n: usize) -> Result<(), ReportError> {
    check(&format!("rows of {part}"), cells.len(), n)?;
    let row = |(i, row): (usize, &Vec<_>)| match row.len() <= n {
        true => Ok(()),
        false => check(&format!("cells in row {} of {part}", i + 1), row.len(), n),
    };
    cells.iter().enumerate().try_for_each(row)
}

fn check(part: &str, found: usize, expected: usize) -> Result<(), ReportError> {
    match found == expected {
        true => Ok(()),
        false => Err(ReportError::message(format!(
            "the stream has {found} {part}, expected {expected}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::stream;

    #[test]
    fn each_fault_has_its_error() {
        type Fault = fn(&mut StreamRecord);
        let faults: [(Fault, &str); 14] = [
            (|it| it.schema = 7, "record 1 has schema 7, expected 1"),
            (|it| it.names.clear(), "there are no records to report"),
            (
                |it| it.experiences.truncate(2),
                "the stream has 2 experiences, expected 5",
            ),
            (
                |it| it.decisions.truncate(3),
                "the stream has 3 decisions, expected 4",
            ),
            (
                |it| it.risk.truncate(4),
                "the stream has 4 rows of risks, expected 5",
            ),
            (
                |it| it.risk[1].extend([None; 2]),
                "the stream has 7 cells in row 2 of risks, expected 5",
            ),
            (
                |it| it.untrained_risk.clear(),
                "the stream has 0 risks of an untrained encoder, expected 5",
            ),
            (
                |it| it.accuracy.as_mut().unwrap()[4].push(None),
                "the stream has 6 cells in row 5 of accuracies, expected 5",
            ),
            (
                |it| it.untrained_accuracy.as_mut().unwrap().truncate(1),
                "the stream has 1 accuracies of an untrained encoder, expected 5",
            ),
            (
                |it| it.controls[1].method = "retraining".to_owned(),
                "the stream has two controls `retraining`, expected one of each method",
            ),
            (
                |it| it.controls[1].risk.truncate(0),
                "the stream has 0 rows of risks of the control `never`, expected 5",
            ),
            (
                |it| it.controls[0].accuracy.as_mut().unwrap().truncate(0),
                "the stream has 0 rows of accuracies of the control `retraining`, expected 5",
            ),
            (
                |it| it.controls[0].charged_passes.push(1.0),
                "the stream has 6 charged costs of the control `retraining`, expected 5",
            ),
            (
                |it| it.controls[0].gap.truncate(4),
                "the stream has 4 gaps of the control `retraining`, expected 5",
            ),
        ];
        assert!(check_stream(&stream(5)).is_ok());
        for (fault, words) in faults {
            let mut record = stream(5);
            fault(&mut record);
            assert_eq!(check_stream(&record).unwrap_err().to_string(), words);
        }
    }
}
