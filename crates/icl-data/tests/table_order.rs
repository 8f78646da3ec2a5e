//! Order of the rows of tables by the values of a column.

use std::fs;

use icl_core::{GrowthRatio, Seed};
use icl_data::{RawTable, Split, TableOptions, read_table};

/// A table of one column `x` of these values, and of a column `k` that varies.
fn column<T: ToString>(values: impl IntoIterator<Item = T>) -> RawTable {
    let rows = values.into_iter().enumerate();
    let rows: String = rows
        .map(|(row, it)| format!("\"{}\",{}\n", it.to_string(), row * row % 7))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, format!("x,k\n{rows}")).unwrap();
    read_table(&path, &TableOptions::default()).unwrap()
}

/// Checks that the rows, given in a shuffled order, are split by the column as their order says.
fn check_order<T: ToString>(rising: &[T]) {
    let n = rising.len();
    let turned: Vec<usize> = (0..n).map(|at| at * 7 % n).collect();
    let table = column(turned.iter().map(|&at| rising[at].to_string()));
    assert_eq!(table.ranks("x").unwrap(), turned);
    let alpha = GrowthRatio::try_new(0.3).unwrap();
    let increment = table
        .increment(Split::Column("x".into()), alpha, Seed::new(1))
        .unwrap();
    let least_new = n - increment.new_data().len();
    assert!(
        increment
            .new_data()
            .iter()
            .all(|&row| turned[row] >= least_new)
    );
}

#[test]
fn rows_are_ordered_to_the_last_digit() {
    // Seconds, nanoseconds, decimals of a second, numbers beyond 64 bits.
    check_order(&(0..100).map(|at| 1_700_000_100 + at).collect::<Vec<i64>>());
    check_order(
        &(0..100)
            .map(|at| 1_700_000_000_000_000_000 + at)
            .collect::<Vec<i64>>(),
    );
    check_order(
        &(0..100)
            .map(|at| format!("1700000000.{at:09}"))
            .collect::<Vec<_>>(),
    );
    check_order(
        &(0..100)
            .map(|at| 10_i128.pow(30) + at)
            .collect::<Vec<i128>>(),
    );
    check_order(
        &(0..100)
            .map(|at| format!("-{}.5", 99 - at))
            .collect::<Vec<_>>(),
    );
    assert_eq!(
        column(["01", "1", "1.0", "2"]).ranks("x").unwrap(),
        [0, 0, 0, 1]
    );
}

#[test]
fn moments_are_ordered_as_instants() {
    // At the end of daylight saving, and from one offset to another.
    check_order(&[
        "2025-10-26 02:15:00+02:00",
        "2025-10-26 02:45:00+02:00",
        "2025-10-26 02:00:00+01:00",
        "2025-10-26 02:30:00+01:00",
        "2025-10-26 01:45:00Z",
        "2025-10-26T00:00:00-05:00",
    ]);
    // Different forms of ISO 8601.
    check_order(&[
        "2025-01-31",
        "2025-01-31T09:00",
        "2025-01-31 10:00:00",
        "2025-01-31T10:00:00.5",
        "2025-01-31 10:00:01",
        "2025-02-01",
    ]);
    check_order(&[
        "2025-1-5",
        "2025-1-31",
        "2025-02-01",
        "2025-10-01",
        "2025-11-5",
    ]);
    // Forms whose texts are in order as they are, and texts that are no dates.
    check_order(&[
        "2024/12/31",
        "2025/01/01",
        "2025/01/02",
        "2025/02/01",
        "2025/10/01",
    ]);
    check_order(&["2024-Q1", "2024-Q4", "2025-Q1", "2025-Q2", "2026-Q1"]);
    check_order(&["10 apples", "9 apples", "a", "b 1.2.2025", "c"]);
}

#[test]
fn dates_in_other_forms_do_not_order_rows() {
    for (values, found, iso) in [
        (
            ["31.01.2025", "01.02.2025", "15.12.2024"],
            "31.01.2025",
            "2025-01-31",
        ),
        (
            ["01/31/2025", "02/01/2025", "12/15/2024"],
            "01/31/2025",
            "2025-01-31",
        ),
        (
            ["2025-01-31", "1.2.2025", "2024-12-15"],
            "1.2.2025",
            "2025-02-01",
        ),
        (
            ["unknown", "31-Jan-2025", "Feb 1, 2025"],
            "31-Jan-2025",
            "2025-01-31",
        ),
        (["01/2025", "02/2025", "12/2024"], "01/2025", "2025-01"),
        (["9:30", "10:00", "9:45"], "9:30", "09:30"),
        (
            ["31.01.2025 10:00", "01.02.2025 9:00", "15.12.2024 1:00"],
            "31.01.2025 10:00",
            "2025-01-31T10:00",
        ),
        (
            [
                "2025-01-31T10:00Z",
                "2025-01-31T10:00",
                "2025-01-31T10:00+01:00",
            ],
            "2025-01-31T10:00",
            "2025-01-31T10:00+00:00",
        ),
    ] {
        let table = column(values);
        let expected = format!(
            "\"t\", column \"x\": found \"{found}\", a date whose text is not in the order of time, expected its form \"{iso}\""
        );
        assert_eq!(table.ranks("x").unwrap_err().to_string(), expected);
        let alpha = GrowthRatio::try_new(0.5).unwrap();
        let split = table.increment(Split::Column("x".into()), alpha, Seed::new(1));
        assert!(split.is_err());
        // Other splits do not need the order.
        assert!(
            column([values, values].concat())
                .increment(Split::Random, alpha, Seed::new(1))
                .is_ok()
        );
    }
}
