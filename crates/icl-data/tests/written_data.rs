//! Data that are written are read as the same samples.

use std::fs;

use icl_core::{GrowthRatio, Samples, Seed};
use icl_data::{
    GraphDataset, Header, ImageDataset, ImageOptions, Missing, RawTable, Split, TableOptions,
    embedded, read_images, read_table, read_tu,
};
use tempfile::tempdir;

use crate::data_dir::shared;
use crate::image_files::{cifar, png, write};

fn options(target: Option<&str>) -> TableOptions {
    TableOptions {
        target: target.map(str::to_owned),
        missing: Missing::Mean,
        ..TableOptions::default()
    }
}

fn assert_same(written: &RawTable, read: &RawTable) {
    assert_eq!(read.labels(), written.labels());
    assert_eq!(read.class_names(), written.class_names());
    let all: Vec<usize> = (0..written.n_rows()).collect();
    let values = |table: &RawTable| {
        let schema = icl_data::TableSchema::fit(table, &all, &[]).unwrap();
        schema.apply(table).unwrap().values().to_vec()
    };
    assert_eq!(values(read), values(written));
}

#[test]
fn tables() {
    let folder = tempdir().unwrap();
    let text = "a,b c,NA,c,\"d,\"\"e\"\"\"\n0.1,1e-30,7,x,\"q, \"\"r\"\"\"\n?,-3.4e38,8,\"y\nz\",q\n16777217,5,6,x,NA\n7,1,5,w,q\n";
    let source = folder.path().join("source.csv");
    fs::write(&source, text).unwrap();
    let with_header = TableOptions {
        header: Header::Yes,
        ..options(Some("c"))
    };
    let table = read_table(&source, &with_header).unwrap();
    for name in ["t.csv", "t.csv.gz", "t.tsv", "t.tsv.gz"] {
        let path = folder.path().join(name);
        table.write(&[2, 0, 1], &path).unwrap();
        // A name may look like a missing value.
        assert_eq!(table.written_header(&[2, 0, 1]), Header::Yes);
        let again = read_table(&path, &with_header).unwrap();
        assert_eq!(again.column_names(), ["a", "b c", "NA", "d,\"e\""]);
        assert_same(&table.rows(&[2, 0, 1]), &again);
        assert!(
            table.write(&[0], &path).is_err(),
            "a file is never replaced"
        );
    }
    // Columns without names.
    let digits = embedded::tables("digits-table").unwrap();
    let alpha = GrowthRatio::try_new(0.3).unwrap();
    let increment = digits
        .increment(Split::Random, alpha, Seed::new(1))
        .unwrap();
    let path = folder.path().join("digits.csv.gz");
    digits.write(increment.new_data(), &path).unwrap();
    let again = read_table(&path, &options(Some("65"))).unwrap();
    assert_eq!(again.column_names(), digits.column_names());
    assert_same(&digits.rows(increment.new_data()), &again);
    // A target in the middle is written at its place.
    let middle = folder.path().join("middle.csv");
    fs::write(&middle, "1,a,2.5\n2,b,3.5\n3,a,4.5\n").unwrap();
    let table = read_table(&middle, &options(Some("2"))).unwrap();
    let path = folder.path().join("written.csv");
    table.write(&[0, 2], &path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "1,a,2.5\n3,a,4.5\n");
    // Without the first column, names are needed to find the others.
    let without = TableOptions {
        exclude: vec!["1".to_owned()],
        ..options(Some("2"))
    };
    let path = folder.path().join("without.csv");
    let table = read_table(&middle, &without).unwrap();
    table.write(&[1], &path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "2,3\nb,3.5\n");
    assert_eq!(table.written_header(&[1]), Header::Yes);
    // A part without any number could begin with names.
    let texts = folder.path().join("texts.csv");
    fs::write(&texts, "a,b\nb,c\na,b\n").unwrap();
    let table = read_table(&texts, &options(None)).unwrap();
    assert_eq!(table.column_names(), ["1", "2"]);
    assert_eq!(table.written_header(&[0, 2]), Header::Auto);
    assert_eq!(table.written_header(&[0, 1]), Header::No);
    let n_files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(n_files, 10);
}

fn assert_same_graphs(data: &GraphDataset, indices: &[usize], tolerance: f32) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("part");
    data.write(indices, &path).unwrap();
    let part = read_tu(&path).unwrap();
    assert_eq!(part.name(), data.name());
    assert_eq!(part.graphs().len(), indices.len());
    // Features of a part in the columns of the whole.
    let (joined, increment) = GraphDataset::join(data, &part).unwrap();
    for (&at, &index) in increment.new_data().iter().zip(indices) {
        let (found, expected) = (&joined.graphs()[at], &joined.graphs()[index]);
        assert_eq!(found.label(), expected.label());
        assert_eq!(found.n_nodes(), expected.n_nodes());
        for node in 0..found.n_nodes() {
            assert_eq!(found.neighbours(node), expected.neighbours(node));
        }
        for (found, expected) in found.features().iter().zip(expected.features()) {
            assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0));
        }
    }
    assert!(
        data.write(indices, &path).is_err(),
        "a folder is never replaced"
    );
}

#[test]
fn graphs() {
    let mutag = embedded::graphs("MUTAG").unwrap();
    assert_same_graphs(&mutag, &[5, 187, 0, 63], 0.0);
    // Attributes pass through single precision twice.
    if let Some(path) = shared("graphs/PROTEINS.zip") {
        assert_same_graphs(&read_tu(path).unwrap(), &[1000, 3, 77], 2e-6);
    }
    if let Some(path) = shared("graphs/IMDB-BINARY.zip") {
        assert_same_graphs(&read_tu(path).unwrap(), &[999, 3, 77], 2e-6);
    }
    // Without an edge.
    let folder = tempdir().unwrap();
    for (ending, text) in [
        ("A", "1, 1\n"),
        ("graph_indicator", "1\n2\n3\n"),
        ("graph_labels", "0\n1\n0\n"),
    ] {
        fs::write(folder.path().join(format!("DOTS_{ending}.txt")), text).unwrap();
    }
    assert_same_graphs(&read_tu(folder.path()).unwrap(), &[2, 1], 0.0);
}

fn assert_same_images(data: &ImageDataset, indices: &[usize]) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("part");
    data.write(indices, &path).unwrap();
    let part = read_images(&path, &ImageOptions::default()).unwrap();
    assert_eq!(part.n_images(), indices.len());
    let described = |data: &ImageDataset, index: usize| {
        let class = data.class_names()[data.labels()[index]].clone();
        let image = data.sample(index).unwrap().into_owned();
        (
            class,
            image.width(),
            image.channels(),
            image.pixels().to_vec(),
        )
    };
    let mut found: Vec<_> = (0..part.n_images())
        .map(|index| described(&part, index))
        .collect();
    let mut expected: Vec<_> = indices
        .iter()
        .map(|&index| described(data, index))
        .collect();
    if data.channels() == 3 {
        // A folder is read class by class.
        found.sort_unstable();
        expected.sort_unstable();
    }
    assert_eq!(found, expected);
    assert!(
        data.write(indices, &path).is_err(),
        "a folder is never replaced"
    );
}

#[test]
fn images() {
    let digits = embedded::images("MNIST-1v7").unwrap();
    assert_same_images(&digits, &[1999, 0, 3, 1000, 7]);
    let folder = tempdir().unwrap();
    let rows = cifar(&[[3], [1], [9], [1]]);
    write(folder.path(), "cifar10.bin", &rows);
    let colours = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_same_images(&colours, &[3, 0, 2, 1]);
    let folder = tempdir().unwrap();
    for (name, side) in [
        ("bees/a.png", 3),
        ("bees/deep/a.png", 4),
        ("ants/a.png", 5),
        ("ants/b.png", 2),
    ] {
        write(folder.path(), name, &png(side, 2, side as u8));
    }
    let photos = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_same_images(&photos, &[2, 1, 3, 0]);
}
