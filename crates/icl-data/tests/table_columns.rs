//! Columns of tables: their kinds and features, and what is said about them.

use std::fs;

use icl_data::{
    ColumnKind, DataError, FeatureStatistics, Header, Missing, RawTable, TableOptions, TableSchema,
    TextPairOptions, read_table, read_text_pairs,
};

fn try_read(text: &str, options: &TableOptions) -> Result<RawTable, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, text).unwrap();
    read_table(&path, options)
}

fn read(text: &str) -> RawTable {
    try_read(text, &TableOptions::default()).unwrap()
}

fn with(text: &str, target: Option<&str>, missing: Missing) -> Result<RawTable, DataError> {
    let options = TableOptions {
        target: target.map(str::to_owned),
        missing,
        ..TableOptions::default()
    };
    try_read(text, &options)
}

/// A table of one column `x` of these values, and of a column `k` that varies.
fn column<T: ToString>(values: impl IntoIterator<Item = T>) -> RawTable {
    let rows = values.into_iter().enumerate();
    let rows: String = rows
        .map(|(row, it)| format!("\"{}\",{}\n", it.to_string(), row * row % 7))
        .collect();
    read(&format!("x,k\n{rows}"))
}

fn fitted(table: &RawTable) -> TableSchema {
    let all: Vec<usize> = (0..table.n_rows()).collect();
    TableSchema::fit(table, &all, &[]).unwrap()
}

fn notes(table: &RawTable) -> Vec<String> {
    table.notes().iter().map(ToString::to_string).collect()
}

/// The deviation is 2, where the values are of 30 bits and single precision has 24.
#[test]
fn a_column_that_varies_little_keeps_its_variation() {
    for base in [
        1_000_000_000_i64,
        -1_000_000_000,
        1_700_000_000,
        1 << 53,
        1_700_000_000_000_000_000,
    ] {
        let steps = [0_i64, 3, 6, 1, 5, 2, 4, 3];
        let table = column(steps.map(|step| base + step));
        let schema = fitted(&table);
        assert_eq!(schema.columns()[0].kind, ColumnKind::Continuous, "{base}");
        let statistics = schema.statistics()[0];
        let plain = fitted(&column(steps)).statistics()[0];
        assert_eq!(
            statistics,
            FeatureStatistics {
                offset: Some(base as f64),
                ..plain
            }
        );
        let features = |table: &RawTable, schema: &TableSchema| {
            let data = schema.apply(table).unwrap();
            (0..data.n_rows())
                .map(|row| data.row(row)[0])
                .collect::<Vec<f32>>()
        };
        assert_eq!(features(&table, &schema), steps.map(|step| step as f32));
        // New rows by the same offset, which a file keeps.
        let text = serde_json::to_string(&schema).unwrap();
        let stored: TableSchema = serde_json::from_str(&text).unwrap();
        assert_eq!(stored, schema);
        let new = column([base - 100, base + 7, base, base]);
        assert_eq!(features(&new, &stored), [-100.0, 7.0, 0.0, 0.0]);
    }
    let metres = column([5_820_000.25, 5_820_000.5, 5_820_001.0, 5_820_003.75]);
    let data = fitted(&metres).apply(&metres).unwrap();
    assert_eq!(
        (0..4).map(|row| data.row(row)[0]).collect::<Vec<_>>(),
        [0.0, 0.25, 0.75, 3.5]
    );
    // Two values stay binary, equal ones constant.
    let kind = |values: &[i64]| fitted(&column(values.to_vec())).columns()[0].kind;
    assert_eq!(
        kind(&[1_000_000_000, 1_000_000_001, 1_000_000_000]),
        ColumnKind::Binary
    );
    assert_eq!(kind(&[1_000_000_001; 4]), ColumnKind::Constant);
}

#[test]
fn features_that_single_precision_holds_well_have_no_offset() {
    for values in [
        vec!["0.1", "0.2", "0.3", "0.7"],
        vec!["16777216", "16777218", "16777220"],
        vec!["1000000000", "1000000064", "1000000128"],
        vec!["295.37", "296.11", "297.93"],
        vec!["52.5200", "52.5312", "52.4871"],
        vec!["1700000000", "1702592000", "1705184000"],
    ] {
        let table = column(&values);
        let schema = fitted(&table);
        let statistics = schema.statistics()[0];
        assert_eq!(statistics.offset, None, "{values:?}");
        let numbers: Vec<f32> = values
            .iter()
            .map(|value| value.parse::<f64>().unwrap() as f32)
            .collect();
        let data = schema.apply(&table).unwrap();
        assert_eq!(
            (0..values.len())
                .map(|row| data.row(row)[0])
                .collect::<Vec<_>>(),
            numbers
        );
        let mean =
            numbers.iter().map(|number| f64::from(*number)).sum::<f64>() / values.len() as f64;
        assert_eq!(statistics.mean, mean);
        // Files of encoders hold what they held before.
        assert!(!serde_json::to_string(&schema).unwrap().contains("offset"));
    }
}

/// Twelve rows, of which `number` numbers each by some text.
fn numbered(heading: &str, number: impl Fn(usize) -> String) -> String {
    let rows = (0..12).map(|row| format!("{},{},{}\n", number(row), row * 5 % 7, row * row % 5));
    format!("{heading},a,b\n{}", rows.collect::<String>())
}

#[test]
fn columns_that_number_the_rows_are_no_features() {
    for (heading, name, number) in [
        ("", "1", (|row| row.to_string()) as fn(usize) -> String),
        ("", "1", |row| (row + 1).to_string()),
        // After rows were drawn.
        ("", "1", |row| (row * 5 % 12 * 3).to_string()),
        ("Unnamed: 0", "Unnamed: 0", |row| (2 * row).to_string()),
        ("__index_level_0__", "__index_level_0__", |row| {
            (row / 3).to_string()
        }),
        ("__index_level_0__", "__index_level_0__", |row| {
            format!("name {row}")
        }),
        ("id", "id", |row| (row + 1).to_string()),
        ("id", "id", |row| format!("{:05}", row + 17)),
        ("key", "key", |row| ((1_i64 << 60) + row as i64).to_string()),
    ] {
        let table = read(&numbered(heading, number));
        assert_eq!(table.index_columns(), [name]);
        let schema = fitted(&table);
        assert_eq!(schema.columns()[0].kind, ColumnKind::Index);
        assert_eq!(
            schema.columns()[0].to_string(),
            format!("{name}: index, dropped")
        );
        assert_eq!(schema.d_features(), 2);
        // They may be missing in new tables, and others have them; parts keep what was found in the whole.
        let without = table.without(&[name]);
        assert_eq!(without.column_names(), ["a", "b"]);
        assert_eq!(schema.apply(&without).unwrap().d_features(), 2);
        assert_eq!(fitted(&without).apply(&table).unwrap().d_features(), 2);
        assert_eq!(table.rows(&[7, 2]).index_columns(), [name]);
        for (old, new) in [(&table, &without), (&without, &table)] {
            assert_eq!(
                RawTable::join(old, new).unwrap().0.column_names(),
                ["a", "b"]
            );
        }
        assert_eq!(
            RawTable::join(&table, &table).unwrap().0.column_names(),
            [name, "a", "b"]
        );
    }
    for (heading, number) in [
        ("id", (|row| (2 * row).to_string()) as fn(usize) -> String),
        ("id", |row| format!("{row}.5")),
        ("id", |row| (11 - row).to_string()),
        ("", |row| (row / 2).to_string()),
        ("", |row| format!("{row}.5")),
    ] {
        let table = read(&numbered(heading, number));
        assert!(table.index_columns().is_empty());
        assert_eq!(fitted(&table).d_features(), 3);
    }
}

/// An encoder of before has the column among its features.
#[test]
fn a_schema_of_before_keeps_a_column_that_numbers_the_rows() {
    let table = read(&numbered("id", |row| (row + 1).to_string()));
    let stored = serde_json::json!({
        "name": "before",
        "columns": [
            {"name": "id", "kind": "continuous", "categories": [], "has_indicator": false, "features": {"start": 0, "end": 1}},
            {"name": "a", "kind": "continuous", "categories": [], "has_indicator": false, "features": {"start": 1, "end": 2}},
            {"name": "b", "kind": "constant", "categories": [], "has_indicator": false, "features": {"start": 2, "end": 2}},
        ],
        "statistics": [
            {"mean": 6.5, "sd": 3.5, "min": 1.0, "max": 12.0, "min_positive": 1.0, "skewness": 0.0},
            {"mean": 3.0, "sd": 2.0, "min": 0.0, "max": 6.0, "min_positive": 1.0, "skewness": 0.0},
        ],
    });
    let schema: TableSchema = serde_json::from_value(stored).unwrap();
    let data = schema.apply(&table).unwrap();
    assert_eq!(*data.row(3), [4.0, 1.0]);
    let error = schema.apply(&table.without(&["id"])).unwrap_err();
    assert!(error.to_string().contains("missing: id"), "{error}");
}

#[test]
fn words_are_texts_among_texts_and_missing_among_numbers() {
    let table = read("country,x\nDE,1\nNA,2\nInf,3\nnan,5\nnull,7\nDE,1\n");
    let schema = fitted(&table);
    assert_eq!(
        schema.columns()[0].categories,
        ["DE", "Inf", "NA", "nan", "null"]
    );
    assert_eq!(schema.apply(&table).unwrap().counts().n_imputed, 0);
    // A sign is a missing value everywhere.
    for (sign, found) in [("", "nothing"), ("?", "\"?\""), ("N/A", "\"N/A\"")] {
        let text = format!("country,x\nDE,1\n{sign},2\nFR,3\n");
        let error = with(&text, None, Missing::Error).unwrap_err().to_string();
        assert!(error.ends_with(&format!("line 3, column \"country\": found {found}, a missing value, expected a value (or `--missing mean`)")), "{error}");
        let table = with(&text, None, Missing::Mean).unwrap();
        assert!(fitted(&table).columns()[0].has_indicator);
    }
    // Among numbers, words are missing values and infinite numbers errors.
    for (word, message) in [
        ("NA", "a missing value"),
        ("null", "a missing value"),
        ("Inf", "a finite number"),
    ] {
        let error = with(&format!("x,k\n1,1\n{word},2\n3,3\n"), None, Missing::Error).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let mixed = with("x,k\n1,1\nNA,2\nmany,3\nInf,4\n", None, Missing::Mean).unwrap();
    assert_eq!(fitted(&mixed).columns()[0].categories, ["1", "Inf", "many"]);
    // Classes, too.
    let table = with("x,c\n1,EU\n2,NA\n3,AS\n4,Inf\n", Some("c"), Missing::Error).unwrap();
    assert_eq!(table.class_names(), ["AS", "EU", "Inf", "NA"]);
    let error = with("x,c\n1,EU\n2,?\n", Some("c"), Missing::Error).unwrap_err();
    assert!(
        error.to_string().contains("found \"?\", a missing value"),
        "{error}"
    );
    let error = with("x,c\n1,1\n2,NA\n", Some("c"), Missing::Error).unwrap_err();
    assert!(
        error.to_string().contains("found \"NA\", a missing value"),
        "{error}"
    );
}

#[test]
fn categories_and_classes_are_told_apart_as_they_are_written() {
    let table = read("x,k\n01,1\n1,2\n16777217,3\n16777216,4\na,5\nb,6\n");
    assert_eq!(
        fitted(&table).columns()[0].categories,
        ["01", "1", "16777216", "16777217", "a", "b"]
    );
    let classes = |text: &str| {
        with(text, Some("c"), Missing::Error)
            .unwrap()
            .class_names()
            .to_vec()
    };
    assert_eq!(classes("x,c\n1,1\n2,01\n3,2\n"), ["01", "1", "2"]);
    assert_eq!(classes("x,c\n1,9.0\n2,9\n3,+10\n"), ["9", "10"]);
    assert_eq!(
        classes("x,c\n1,12345678901234567891\n2,12345678901234567890\n"),
        ["12345678901234567890", "12345678901234567891"]
    );
    // A schema of before has numbers in their shortest form.
    let old = read("x,k\n1,1\n2,2\na,3\n");
    let data = fitted(&old)
        .apply(&read("x,k\n1.0,1\n2.00,2\nb,3\n"))
        .unwrap();
    assert_eq!(data.counts().unseen, [("x".to_owned(), 1)]);
    assert_eq!((data.row(0)[0], data.row(1)[1]), (1.0, 1.0));
}

#[test]
fn numbers_in_other_notations_are_named() {
    for (value, form) in [
        ("\"3,14\"", "3.14"),
        ("\"$1,234.50\"", "1234.50"),
        ("12.5%", "12.5"),
        ("1'000", "1000"),
        ("12 €", "12"),
    ] {
        let table = read(&format!("price,k\n{value},1\n{value},2\n{value},3\n"));
        let found = value.trim_matches('"');
        assert_eq!(
            notes(&table),
            [format!(
                "column \"price\": found \"{found}\" and others like it, which are read as text; written as \"{form}\" they are \
                 numbers"
            )]
        );
    }
    // A mark here and there is text.
    assert!(notes(&read("x,k\na,1\nb,2\nc,3\n10%,4\n")).is_empty());
    assert!(notes(&read("x,k\n31.01.2025,1\n01.02.2025,2\n")).is_empty());
}

#[test]
fn a_first_line_that_could_be_either_is_named() {
    let names =
        "the first line was read as the names of the columns (`--header no` reads it as values)";
    let values =
        "the first line was read as values (`--header yes` reads it as the names of the columns)";
    for (text, note) in [
        // Names over numbers, and values of which two are equal, are sure.
        ("a,b\n1,2\n3,4\n", None),
        ("0,0,5\n1,2,3\n", None),
        ("2019,2020\n1,2\n3,4\n", Some(values)),
        ("0,1,2\n5,6,7\n", Some(values)),
        ("id,2019\n1,2\n3,4\nx,5\n", Some(values)),
        ("red,big\nblue,big\nred,small\n", Some(values)),
        ("colour,size\nred,big\nblue,big\n", Some(names)),
    ] {
        let table = read(text);
        assert_eq!(
            notes(&table),
            note.into_iter().map(str::to_owned).collect::<Vec<_>>(),
            "{text}"
        );
        for header in note.map_or(vec![], |_| vec![Header::Yes, Header::No]) {
            let options = TableOptions {
                header,
                missing: Missing::Mean,
                ..TableOptions::default()
            };
            assert!(
                try_read(text, &options).is_ok_and(|table| table.notes().is_empty()),
                "{text}"
            );
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    for (text, note) in [
        ("title,body\nRain,It rains\nSun,It shines\n", Some(names)),
        (
            "Rain,It rains\nSun,It shines\nRain,It rains\n",
            Some(values),
        ),
        ("id,title,body\n1,Rain,It rains\n2,Sun,It shines\n", None),
    ] {
        fs::write(&path, text).unwrap();
        let pairs = read_text_pairs(&path, &TextPairOptions::new("1", "2")).unwrap();
        assert_eq!(
            pairs.note().map(ToString::to_string).as_deref(),
            note,
            "{text}"
        );
    }
}
