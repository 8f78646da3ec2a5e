//! Tables as they are read, and the features that they become.

use std::fs;

use icl_data::{
    ColumnKind, Header, Missing, RawTable, TableOptions, TableSchema, looks_like_table, read_table,
    read_text_table,
};

use crate::data_dir::shared;

fn read_named(name: &str, text: &str, options: &TableOptions) -> RawTable {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read_table(&path, options).unwrap()
}

fn read(text: &str) -> RawTable {
    read_named("t.csv", text, &TableOptions::default())
}

fn with_target(text: &str, target: &str) -> RawTable {
    let options = TableOptions {
        target: Some(target.into()),
        ..TableOptions::default()
    };
    read_named("t.csv", text, &options)
}

fn fitted(table: &RawTable) -> TableSchema {
    let all: Vec<usize> = (0..table.n_rows()).collect();
    TableSchema::fit(table, &all, &[]).unwrap()
}

fn values(table: &RawTable) -> Vec<f32> {
    fitted(table).apply(table).unwrap().values().to_vec()
}

#[test]
fn the_same_table_in_all_forms() {
    let plain = with_target("a,b,c\n1,2.5,x\n3,-4,y\n", "c");
    assert_eq!(plain.column_names(), ["a", "b"]);
    assert_eq!(values(&plain), [1.0, 2.5, 3.0, -4.0]);
    assert_eq!(plain.class_names(), ["x", "y"]);
    assert_eq!((plain.target(), plain.name()), (Some("c"), "t"));
    for text in [
        "a,b,c\r\n1,2.5,x\r\n3,-4,y\r\n",
        "\u{feff}a,b,c\n1,2.5,x\n3,-4,y",
        "a;b;c\n1;2.5;x\n3;-4;y\n",
        "a\tb\tc\n1\t2.5\tx\n3\t-4\ty\n",
        " a , b , c \n 1 ,+2.5, x\n\n3.0,-4e0,y\n\n",
        "\"a\",\"b\",\"c\"\n\"1\",\"2.5\",\"x\"\n3,-4,\"y\"\n",
        "a,b,c\r1,2.5,x\r3,-4,y\r",
    ] {
        assert_eq!(with_target(text, "c"), plain, "{text:?}");
        assert_eq!(with_target(text, "3"), plain, "{text:?}");
    }
    let options = TableOptions {
        target: Some("c".into()),
        ..TableOptions::default()
    };
    let tabs = "a\tb\tc\n1\t2.5\tx\n3\t-4\ty\n";
    assert_eq!(read_named("t.tsv", tabs, &options), plain);
    let quoted = with_target("a,c\n1,\"x, \"\"y\"\"\nz\"\n2,w\n", "c");
    assert_eq!(quoted.class_names(), ["w", "x, \"y\"\nz"]);
}

#[test]
fn a_header_is_detected_or_told() {
    let columns = |text| {
        let table = read(text);
        (table.column_names().join("|"), table.n_rows())
    };
    assert_eq!(columns("a,b\n1,2\n"), ("a|b".into(), 1));
    assert_eq!(columns("1,2\n3,4\n"), ("1|2".into(), 2));
    // A number in the first line is no name, and neither is a missing value.
    assert_eq!(columns("5,red\n3,blue\n"), ("1|2".into(), 2));
    // An index column without a name.
    assert_eq!(columns(",b\n0,2\n1,3\n"), ("1|b".into(), 2));
    // Texts only: the first line is one of names unless its values occur again.
    assert_eq!(
        columns("colour,size\nred,big\nblue,big\n"),
        ("colour|size".into(), 2)
    );
    assert_eq!(columns("red,big\nblue,big\nred,small\n"), ("1|2".into(), 3));
    let told = |header| {
        let options = TableOptions {
            header,
            ..TableOptions::default()
        };
        let table = read_named("t.csv", "1,2\n3,4\n5,6\n", &options);
        (table.column_names().join("|"), table.n_rows())
    };
    assert_eq!(told(Header::Yes), ("1|2".into(), 2));
    assert_eq!(told(Header::No), ("1|2".into(), 3));
}

#[test]
fn classes_are_numbered_in_order() {
    let table = with_target("a,c\n1,10\n2,9\n3,-1\n4,9.0\n", "c");
    assert_eq!(table.class_names(), ["-1", "9", "10"]);
    assert_eq!(table.labels(), [2, 1, 0, 1]);
    assert_eq!(table.n_class(), [1, 2, 1]);
    let without = read("a,c\n1,10\n2,9\n");
    assert!(!without.has_labels() && table.has_labels());
    assert_eq!(without.labels(), [0, 0]);
    assert_eq!(without.class_names(), ["unlabelled"]);
}

#[test]
fn kinds_of_columns_are_found_in_the_old_data() {
    let mut text = String::from("number,amount,flag,colour,same\n");
    for row in 0..40 {
        let amount = if row == 7 { 20 } else { row % 3 };
        let colour = ["red", "blue", "10", "9"][row % 4];
        text += &format!(
            "{}.5,{amount},{},{colour},4\n",
            row as i64 - 20,
            1 + row % 2
        );
    }
    let table = read(&text);
    let schema = fitted(&table);
    let kinds: Vec<ColumnKind> = schema.columns().iter().map(|column| column.kind).collect();
    assert_eq!(
        kinds,
        [
            ColumnKind::Continuous,
            ColumnKind::Skewed,
            ColumnKind::Binary,
            ColumnKind::Categorical,
            ColumnKind::Constant
        ]
    );
    assert_eq!(schema.constant(), ["same"]);
    assert_eq!(schema.columns()[3].categories, ["10", "9", "blue", "red"]);
    assert_eq!(
        schema.columns()[3].to_string(),
        "colour: categorical, 4 features"
    );
    assert_eq!(schema.columns()[4].to_string(), "same: constant, dropped");
    assert_eq!(schema.d_features(), 7);
    let data = schema.apply(&table).unwrap();
    assert_eq!(*data.row(1), [-19.5, 1.0, 2.0, 0.0, 0.0, 1.0, 0.0]);
    // All of the frozen state survives a file, to the bit.
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<TableSchema>(&text).unwrap(), schema);
}

#[test]
fn statistics_are_frozen_from_the_old_rows() {
    let table = read("a,b,k\n1,x,0\n3,y,0\n100,z,1\n-50,x,0\n");
    let schema = TableSchema::fit(&table, &[0, 1], &[]).unwrap();
    assert_eq!(schema.statistics()[0].mean, 2.0);
    assert_eq!(schema.statistics()[0].sd, 1.0);
    assert_eq!(schema.columns()[1].categories, ["x", "y"]);
    assert_eq!(schema.constant(), ["k"]);
    let data = schema.apply(&table).unwrap();
    assert_eq!(*data.row(2), [100.0, 0.0, 0.0]);
    assert_eq!(data.counts().unseen, [("b".to_owned(), 1)]);
    assert_ne!(
        data.checksum(),
        fitted(&table).apply(&table).unwrap().checksum()
    );
    // Columns are found by their names.
    let turned = read("k,b,a\n0,x,1\n0,y,3\n");
    assert_eq!(
        schema.apply(&turned).unwrap().values(),
        [1.0, 1.0, 0.0, 3.0, 0.0, 1.0]
    );
    // Constant columns are not needed, and others are left out.
    let other = schema.apply(&read("c,a,b\n7,1,x\n8,3,y\n")).unwrap();
    assert_eq!(other.values(), [1.0, 1.0, 0.0, 3.0, 0.0, 1.0]);
    assert_eq!(other.counts().surplus, ["c"]);
    let message = |text| schema.apply(&read(text)).unwrap_err().to_string();
    assert_eq!(
        message("a,c,d\n1,2,3\n"),
        "\"t\": found other columns (missing: b; surplus: c, d), expected those of \"t\""
    );
    assert_eq!(
        message("k,b,a\n0,x,one\n0,y,two\n"),
        "\"t\", column \"a\": found text, expected numbers"
    );
}

#[test]
fn missing_values_become_the_mean_and_are_indicated() {
    let options = TableOptions {
        missing: Missing::Mean,
        ..TableOptions::default()
    };
    let table = read_named("t.csv", "a,b,c\n1,?,x\n,2,\n5,2,y\n7,4,N/A\n", &options);
    let schema = TableSchema::fit(&table, &[0, 2], &[]).unwrap();
    // In the old rows only `b` lacks a value, and is constant otherwise.
    assert_eq!(schema.d_features(), 3);
    let data = schema.apply(&table).unwrap();
    assert_eq!(*data.row(1), [3.0, 0.0, 0.0]);
    assert_eq!(data.counts().n_imputed, 3);
    let data = fitted(&table).apply(&table).unwrap();
    let mean_a = 13.0_f32 / 3.0;
    let mean_b = 8.0_f32 / 3.0;
    assert_eq!(*data.row(0), [1.0, 0.0, mean_b, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(*data.row(1), [mean_a, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0]);
    let column = &data.schema().columns()[2];
    assert_eq!(
        column.to_string(),
        "c: categorical, 3 features with an indicator of missing values"
    );
    assert_eq!(data.schema().statistics()[0].mean, 13.0 / 3.0);
}

#[test]
fn text_with_too_many_values_is_no_category() {
    let text: String = (0..257)
        .map(|row| format!("name{row},{}\n", 2 * row))
        .collect();
    let table = read(&text);
    let all: Vec<usize> = (0..257).collect();
    assert_eq!(
        TableSchema::fit(&table, &all, &[]).unwrap_err().to_string(),
        "\"t\", column \"1\": found 257 different texts, expected at most 256 categories, or numbers \
         (a column can be excluded)"
    );
    assert!(TableSchema::fit(&table, &all, &["1"]).is_ok());
    let options = TableOptions {
        exclude: vec!["1".into()],
        ..TableOptions::default()
    };
    assert_eq!(read_named("t.csv", &text, &options).column_names(), ["2"]);
}

#[test]
fn classes_and_a_number_of_rows_are_selected() {
    let text = "a,c\n0,x\n1,x\n2,y\n3,x\n4,z\n5,y\n6,x\n";
    let select = |classes: &[&str], limit| {
        let options = TableOptions {
            target: Some("c".into()),
            classes: classes.iter().map(|class| (*class).to_owned()).collect(),
            limit,
            ..TableOptions::default()
        };
        let table = read_named("t.csv", text, &options);
        (values(&table), table.class_names().to_vec())
    };
    assert_eq!(select(&[], Some(4)).0, [0.0, 1.0, 2.0, 4.0]);
    let (found, classes) = select(&["z", "y"], None);
    assert_eq!(
        (found, classes),
        (vec![2.0, 4.0, 5.0], vec!["y".to_owned(), "z".to_owned()])
    );
}

#[test]
fn tables_are_known_by_their_names() {
    for name in ["a.csv", "a.CSV", "a.csv.gz", "a.b.tsv", "a.tab.gz"] {
        assert!(looks_like_table(name), "{name}");
    }
    for name in ["a.txt", ".csv", "csv", "a.gz", "a.csv.zip", "._a.csv", "ä"] {
        assert!(!looks_like_table(name), "{name}");
    }
}

/// Counts of the specification for the public tables.
#[test]
fn public_tables_have_their_known_counts() {
    for (file, n_rows, n_columns, classes) in [
        (
            "LetterRecognition",
            20_000,
            16,
            vec![("A", 789), ("Z", 734)],
        ),
        (
            "Satellite",
            6435,
            36,
            vec![("red soil", 1533), ("very damp grey soil", 1508)],
        ),
        ("DNA", 3186, 180, vec![("n", 1654)]),
        (
            "Spambase",
            4601,
            57,
            vec![("nonspam", 2788), ("spam", 1813)],
        ),
    ] {
        let Some(path) = shared(&format!("tabular/{file}.csv.gz")) else {
            continue;
        };
        let options = TableOptions::default();
        let target = read_table(&path, &options)
            .unwrap()
            .column_names()
            .last()
            .unwrap()
            .to_string();
        let options = TableOptions {
            target: Some(target),
            ..options
        };
        let table = read_table(&path, &options).unwrap();
        assert_eq!((table.name(), table.n_rows()), (file, n_rows));
        assert_eq!(table.column_names().len(), n_columns);
        for (class, n) in classes {
            let index = table.class_names().iter().position(|name| name == class);
            let index = index.unwrap_or_else(|| panic!("{class} of {:?}", table.class_names()));
            assert_eq!(table.n_class()[index], n, "{class}");
        }
        let schema = fitted(&table);
        assert_eq!(schema.d_features(), n_columns);
        let is = |kind| {
            schema
                .columns()
                .iter()
                .filter(|column| column.kind == kind)
                .count()
        };
        match file {
            "DNA" => assert_eq!(is(ColumnKind::Binary), 180),
            // `you` has skewness 1.59.
            "Spambase" => assert_eq!(is(ColumnKind::Skewed), 56),
            _ => assert_eq!(
                is(ColumnKind::Continuous) + is(ColumnKind::Skewed),
                n_columns
            ),
        }
    }
}

#[test]
fn a_table_of_texts_is_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.csv");
    let read = |text: &str| {
        fs::write(&path, text).unwrap();
        read_text_table(&path)
    };
    let table = read("\u{feff}id ; label\r\n\r\n\"a;b\"; 01\nNA;1\n").unwrap();
    assert_eq!(table.columns, ["id", "label"]);
    let row = |line: usize, fields: [&str; 2]| (line, fields.map(str::to_owned).to_vec());
    assert_eq!(table.rows, [row(3, ["a;b", "01"]), row(4, ["NA", "1"])]);
    for (text, expected) in [
        ("a,b\n1\n", "line 2: found 1 values, expected 2"),
        ("a,a\n1,2\n", "columns 1 and 2 with the name"),
        ("a,b\n", "expected"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
