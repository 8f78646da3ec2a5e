//! Old and new rows: splits of one table and joins of two, and classes of other data as old data.

use std::fs;

use icl_core::{GrowthRatio, Increment, Seed};
use icl_data::{
    DataError, GraphDataset, ImageDataset, Missing, RawTable, Split, TableOptions, TableSchema,
    TabularDataset, embedded, read_table,
};

fn read(name: &str, text: &str, target: Option<&str>) -> RawTable {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{name}.csv"));
    fs::write(&path, text).unwrap();
    let options = TableOptions {
        target: target.map(str::to_owned),
        missing: Missing::Mean,
        ..TableOptions::default()
    };
    read_table(&path, &options).unwrap()
}

fn split(
    table: &RawTable,
    text: &str,
    alpha: f64,
) -> Result<(TabularDataset, Increment), DataError> {
    let alpha = GrowthRatio::try_new(alpha).unwrap();
    TabularDataset::split(table, text.parse()?, alpha, Seed::new(1))
}

#[track_caller]
fn rejected<T>(result: Result<T, DataError>, message: &str) {
    let error = result.map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn rows_are_split_by_a_column_that_is_no_feature() {
    let text = "day,n,c\n2026-01-09,5,x\n2025-12-31,-3,y\n2026-02-01,5,x\n2024-06-01,100,y\n";
    let table = read("t", text, Some("c"));
    let (data, increment) = split(&table, "column:day", 0.5).unwrap();
    assert_eq!(increment.new_data(), [0, 2]);
    assert_eq!(
        (data.d_features(), data.values()),
        (1, &[5.0, -3.0, 5.0, 100.0][..])
    );
    assert_eq!(data.schema().statistics()[0].mean, 48.5);
    assert_eq!(
        data.schema().columns()[0].to_string(),
        "day: excluded, dropped"
    );
    let (data, increment) = split(&table, "column:n", 0.5).unwrap();
    // Two rows have the value 5: the seed decides between them.
    assert!(increment.new_data().contains(&3) && !increment.new_data().contains(&1));
    assert_eq!(data.schema().columns()[0].categories.len(), 2);
    rejected(
        split(&table, "column:year", 0.5),
        "\"t\": found no column \"year\", expected one of day, n, or a number from 1",
    );
    let gaps = read("t", "a,b\n?,1\n2,2\n-5,3\n?,4\n", None);
    assert_eq!(split(&gaps, "column:a", 0.5).unwrap().1.new_data(), [1, 2]);
}

#[test]
fn named_classes_are_the_old_data_of_every_kind() {
    let table = read("t", "a,c\n1,x\n2,y\n3,x\n4,z\n", Some("c"));
    let (data, increment) = split(&table, "class:x", 0.1).unwrap();
    assert_eq!(
        (increment.old(), increment.new_data()),
        (&[0, 2][..], &[1, 3][..])
    );
    assert_eq!(data.schema().statistics()[0].mean, 2.0);
    assert_eq!(data.class_names(), ["x", "y", "z"]);
    rejected(
        split(&table, "class:z", 0.5),
        "split \"class:z\": found 1 old and 3 new samples, expected at least 2 of each",
    );
    rejected(
        split(&read("t", "a\n1\n2\n3\n4\n", None), "class:x", 0.5),
        "\"t\": found no classes for split \"class:x\", expected a target column",
    );
    let alpha = GrowthRatio::try_new(0.5).unwrap();
    let seed = Seed::new(1);
    let mutag = embedded::graphs("MUTAG").unwrap();
    let increment = |text: &str| mutag.increment(text.parse().unwrap(), alpha, seed);
    let by_class = increment("class:-1").unwrap();
    assert_eq!((by_class.old().len(), by_class.new_data().len()), (63, 125));
    assert!(
        by_class
            .old()
            .iter()
            .all(|&index| mutag.labels()[index] == 0)
    );
    rejected(
        increment("class:2"),
        "data set \"MUTAG\": found no class \"2\", expected classes among -1, 1",
    );
    rejected(
        increment("column:a"),
        "split \"column:a\": found graphs, expected a table with this column",
    );
    let images = embedded::images("MNIST-1v7").unwrap();
    let increment = |text: &str| images.increment(text.parse().unwrap(), alpha, seed);
    let by_class = increment("class:7").unwrap();
    assert!(
        by_class
            .old()
            .iter()
            .all(|&index| images.labels()[index] == 1)
    );
    assert_eq!(by_class.new_data().len(), 1000);
    rejected(
        increment("column:a"),
        "split \"column:a\": found images, expected a table with this column",
    );
}

/// Rows of two tables, whose features are made by the statistics of the old one.
fn joined(old: &RawTable, new: &RawTable) -> Result<(TabularDataset, Increment), DataError> {
    let (table, increment) = RawTable::join(old, new)?;
    let schema = TableSchema::fit(&table, increment.old(), &[])?;
    Ok((schema.apply(&table)?, increment))
}

#[test]
fn other_splits_of_rows_are_those_of_all_data() {
    let digits = embedded::tables("digits-table").unwrap();
    let alpha = GrowthRatio::try_new(0.3).unwrap();
    for rule in Split::ALL {
        let found = digits.increment(rule.clone(), alpha, Seed::new(4)).unwrap();
        let keys = match rule {
            Split::Class => digits.labels().to_vec(),
            _ => vec![0; 1797],
        };
        assert_eq!(found, rule.increment(&keys, alpha, Seed::new(4)).unwrap());
    }
}

#[test]
fn tables_are_joined_by_the_names_of_columns_and_classes() {
    let old = read("OLD", "a,b,c\n1,x,5\n3,y,3\n1,10,5\n", Some("c"));
    let new = read("NEW", "c,b,a\n9,10,7\n5,9,1\n", Some("c"));
    let (data, increment) = joined(&old, &new).unwrap();
    assert_eq!((data.name(), data.n_rows()), ("OLD+NEW", 5));
    assert_eq!(
        (increment.old(), increment.new_data()),
        (&[0, 1, 2][..], &[3, 4][..])
    );
    assert_eq!(data.class_names(), ["3", "5", "9"]);
    assert_eq!(data.labels(), [1, 0, 1, 2, 1]);
    // Columns a, then b as 10, x, y; 9 is a category that the old data do not have.
    assert_eq!(*data.row(3), [7.0, 1.0, 0.0, 0.0]);
    assert_eq!(*data.row(4), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(data.counts().unseen, [("b".to_owned(), 1)]);
    assert_eq!(data.counts().n_class, [1, 3, 1]);
    // The statistics are those of the old rows alone.
    let alone = TableSchema::fit(&old, &[0, 1, 2], &[]).unwrap();
    assert_eq!(data.schema().statistics(), alone.statistics());
}

#[test]
fn columns_and_classes_of_one_table_alone_are_left_out() {
    let old = read("OLD", "a,b,y\n1,2,p\n3,4,q\n", Some("y"));
    for (new, target) in [
        ("y,a,d\np,5,3\nq,7,5\n", Some("y")),
        ("a,d\n5,3\n7,5\n", None),
        ("y,a\np,5\nq,7\n", None),
    ] {
        let (data, increment) = joined(&old, &read("NEW", new, target)).unwrap();
        assert_eq!(data.values(), [1.0, 3.0, 5.0, 7.0], "{new}");
        assert_eq!(increment.new_data(), [2, 3]);
        assert_eq!(data.has_labels(), target.is_some());
    }
    // And the other way round.
    let unlabelled = read("NEW", "a\n5\n7\n", None);
    let (data, _) = joined(&unlabelled, &old).unwrap();
    assert_eq!(
        (data.values(), data.has_labels()),
        (&[5.0, 7.0, 1.0, 3.0][..], false)
    );
}

#[test]
fn columns_that_options_name_may_be_absent_if_that_is_allowed() {
    let mut options = TableOptions {
        target: Some("y".into()),
        exclude: vec!["b".into(), "c".into()],
        ..TableOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    fs::write(&path, "a,b\n1,2\n3,4\n").unwrap();
    let error = read_table(&path, &options).unwrap_err().to_string();
    assert!(
        error.starts_with("\"t\": found no column \"y\", expected one of"),
        "{error}"
    );
    options.allows_absent = true;
    let table = read_table(&path, &options).unwrap();
    assert_eq!(table.column_names(), ["a"]);
    let notes: Vec<String> = table.notes().iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "found no column \"y\", which `--target` names",
            "found no column \"c\", which `--exclude` names"
        ]
    );
}

/// Names of rows are no features, whatever they look like, and stay with their rows.
#[test]
fn a_column_that_names_the_rows_is_no_feature() {
    let options = TableOptions {
        id: Some("id".into()),
        exclude: vec!["id".into()],
        ..TableOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        read_table(&path, &options)
    };
    // Numbers in the old table; numbers and a text, such as a slip in a column of numbers, in the new one.
    let old = read("old.csv", "id,a\n007,1\n12,4\n,2\n").unwrap();
    let new = read("new.csv", "a,id\n3, A-1 \n8,13\n5,14\n").unwrap();
    assert_eq!(old.index_columns(), ["id"]);
    let (data, _) = joined(&old, &new).unwrap();
    assert_eq!((data.d_features(), data.values().len()), (1, 6));
    let ids = data.raw().texts("id").unwrap();
    assert_eq!(ids, ["007", "12", "", "A-1", "13", "14"]);
    assert_eq!(
        data.raw().rows(&[3, 0]).texts("id").unwrap(),
        ["A-1", "007"]
    );
    assert_eq!(data.raw().texts("b"), None);
    let error = read("none.csv", "a,b\n1,2\n3,4\n").unwrap_err().to_string();
    assert!(error.contains("found no column \"id\""), "{error}");
}

#[test]
fn tables_that_cannot_be_joined() {
    let old = read("OLD", "a,b\n1,2\n3,4\n", None);
    let join = |text, target| joined(&old, &read("NEW", text, target));
    rejected(
        join("d,e\n2,3\n4,5\n", None),
        "\"OLD+NEW\": found no feature among the columns, expected at least one that is not constant",
    );
    rejected(
        join("a,b\n1,x\n3,y\n", None),
        "\"NEW\", column \"b\": found text, expected numbers",
    );
    rejected(
        join("a,b\n1,2\n", None),
        "data set \"NEW\": found 1 rows, expected at least 2",
    );
}

#[test]
fn equal_samples_are_counted_in_every_kind_of_data() {
    let old = read("OLD", "a,b\n1,x\n3,y\n-0.0,x\n", None);
    let new = read("NEW", "a,b\n3,x\n3,y\n0,x\n3,y\n", None);
    let (data, increment) = joined(&old, &new).unwrap();
    assert_eq!(data.n_equal(&increment), 3);
    let mutag = embedded::graphs("MUTAG").unwrap();
    let (twice, increment) = GraphDataset::join(&mutag, &mutag).unwrap();
    assert_eq!(twice.n_equal(&increment), 188);
    let train = embedded::images("MNIST-1v7").unwrap();
    let test = embedded::images("MNIST-1v7-test").unwrap();
    let (both, increment) = ImageDataset::join(&train, &test).unwrap();
    assert_eq!(both.n_equal(&increment).unwrap(), 0);
    let (both, increment) = ImageDataset::join(&train, &train).unwrap();
    assert_eq!(both.n_equal(&increment).unwrap(), 2000);
}
