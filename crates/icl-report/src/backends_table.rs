//! The table of a comparison of backends.

use comfy_table::{CellAlignment, Table, presets};

use crate::BackendRecord;
use crate::document::html::printable;
use crate::number::{MISSING, count, rounded};

/// The columns, as markup and as plain text alike.
pub(crate) const HEADERS: [&str; 11] = [
    "backend",
    "largest difference",
    "step, ms",
    "forward",
    "backward",
    "update",
    "first step",
    "views",
    "transfer",
    "MiB",
    "joules",
];

/// A row of it.
pub(crate) fn cells(record: &BackendRecord) -> [String; HEADERS.len()] {
    let seconds = record.seconds;
    let known = |value: Option<f64>| value.map_or_else(|| MISSING.to_owned(), count_of);
    [
        record.backend.clone(),
        relative(record.max_relative_loss_difference),
        milliseconds(record.step_s),
        milliseconds(seconds.forward),
        milliseconds(seconds.backward),
        milliseconds(seconds.update),
        milliseconds(record.first_step_s),
        milliseconds(seconds.views),
        milliseconds(seconds.transfer),
        known(record.peak_memory_mib),
        known(record.energy_j),
    ]
}

/// The comparison in short, on the terminal.
pub fn backends_table(records: &[BackendRecord]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_header(HEADERS);
    for record in records {
        table.add_row(cells(record).map(|cell| printable(&cell)));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let sentences = crate::backends::sentences(records);
    let sentences = sentences
        .iter()
        .map(|sentence| format!("{}\n", printable(sentence)));
    format!("{}\n{}", table.trim_fmt(), sentences.collect::<String>())
}

/// A relative difference.
pub(crate) fn relative(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value.is_finite() => format!("{value:.1e}"),
        _ => MISSING.to_owned(),
    }
}

/// Seconds, in milliseconds to about three digits.
fn milliseconds(seconds: f64) -> String {
    let digits = match 1e3 * seconds {
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        x if x >= 1.0 => 2,
        _ => 3,
    };
    rounded(1e3 * seconds, digits)
}

fn count_of(value: f64) -> String {
    count(value.round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::backends;

    #[test]
    fn it_says_what_the_records_say() {
        let table = backends_table(&backends());
        let row = |name: &str| -> Vec<String> {
            let line = table.lines().find(|line| line.trim().starts_with(name));
            let cells = line.unwrap().split_whitespace().skip(1);
            cells.map(str::to_owned).collect()
        };
        assert_eq!(
            row("flex"),
            [
                "0", "4.00", "1.00", "2.00", "1.00", "30.0", "0.100", "0.200", "17", "–"
            ]
        );
        assert_eq!(
            row("tch"),
            [
                "1.0e-2", "8.00", "1.00", "2.00", "1.00", "30.0", "0.100", "0.200", "17", "–"
            ]
        );
        assert!(table.ends_with("a step takes 2.0× its time.\n"), "{table}");
    }
}
