//! Results of the TU reader on well-formed files.

use crate::tu_files::{TuFiles, replaced, write};
use icl_core::testing::assert_close;
use icl_data::{FeatureLayout, GraphDataset, read_tu};
use tempfile::tempdir;

fn read(files: TuFiles) -> GraphDataset {
    let folder = tempdir().unwrap();
    files.into_folder(folder.path());
    read_tu(folder.path()).unwrap()
}

fn features(data: &GraphDataset) -> Vec<f64> {
    let rows = data.graphs().iter().flat_map(|graph| graph.features());
    rows.map(|&value| f64::from(value)).collect()
}

#[test]
fn labels_attributes_classes_and_edges() {
    let data = read(TuFiles::valid());
    assert_eq!(data.name(), "T");
    assert_eq!(data.class_labels(), [-1, 1]);
    assert_eq!(data.labels(), [1, 0]);
    assert_eq!(data.sizes(), [2, 3]);
    let layout = FeatureLayout::Given {
        node_labels: vec![-3, 7, 100],
        n_attributes: 2,
    };
    assert_eq!(*data.layout(), layout);
    // Attributes 1 to 5 have mean 3 and variance 2; the second column is constant.
    let unit = 1.0 / 2.0_f64.sqrt();
    #[rustfmt::skip]
    let expected = [
        0.0, 1.0, 0.0, -2.0 * unit, 0.0,
        1.0, 0.0, 0.0, -unit, 0.0,
        0.0, 1.0, 0.0, 0.0, 0.0,
        0.0, 1.0, 0.0, unit, 0.0,
        0.0, 0.0, 1.0, 2.0 * unit, 0.0,
    ];
    // Half a unit in the last place of an f32 between 1 and 2 is 6e-8.
    assert_close(&features(&data), &expected, 6e-8);
    let second = &data.graphs()[1];
    assert_eq!(second.neighbours(0), [1]);
    assert_eq!(second.neighbours(1), [0]);
    assert_eq!(second.neighbours(2), [0_u32; 0]);
    let counts = data.counts();
    assert_eq!((counts.n_edge_lines, counts.n_distinct), (3, 3));
    assert_eq!((counts.n_mirrored, counts.n_edges()), (1, 2));
    assert_eq!(counts.n_class, [1, 1]);
}

#[test]
fn duplicates_and_self_loops_are_dropped_and_counted() {
    let data = read(TuFiles::valid().with("A", "1,2\n1,2\n2,1\n5,5\n4,3\n3,4\n4,3\n"));
    assert_eq!(
        data.graphs(),
        read(TuFiles::valid()).graphs(),
        "the graphs are the same as without duplicates"
    );
    let counts = data.counts();
    assert_eq!((counts.n_edge_lines, counts.n_distinct), (7, 4));
    assert_eq!((counts.n_self_loops, counts.n_mirrored), (1, 0));
}

#[test]
fn windows_line_ends_and_blank_lines_at_the_end_change_nothing() {
    let data = read(
        TuFiles::valid()
            .with("A", "1,2\r\n2 , 1\r\n 3,4 \r\n\r\n\r\n")
            .with("graph_indicator", "1\r\n1\r\n2\r\n2\r\n2\r\n")
            .with("graph_labels", "1\n-1")
            .with("node_labels", "7\r\n-3\r\n7\r\n7\r\n100\r\n"),
    );
    assert_eq!(data, read(TuFiles::valid()));
}

#[test]
fn only_labels_or_only_attributes() {
    let labels = read(TuFiles::valid().without("node_attributes"));
    assert_eq!(labels.d_features(), 3);
    assert_eq!(labels.graphs()[0].node_features(1), [1.0, 0.0, 0.0]);
    let attributes = read(TuFiles::valid().without("node_labels"));
    assert_eq!(attributes.d_features(), 2);
    assert_eq!(attributes.graphs()[1].node_features(0), [0.0, 0.0]);
}

#[test]
fn without_labels_and_attributes_the_degree_profile_stands_in() {
    let data = read(
        TuFiles::valid()
            .without("node_labels")
            .without("node_attributes"),
    );
    assert_eq!(*data.layout(), FeatureLayout::DegreeProfile);
    // Four nodes have degree 1 and a neighbour of degree 1; one has none. So of each column but
    // the last, which is 0 throughout, four values are log 2 and one is 0.
    let (ones, zero) = (0.5, -2.0);
    let mut expected = [ones; 25];
    expected[20..].fill(zero);
    expected
        .iter_mut()
        .skip(4)
        .step_by(5)
        .for_each(|x| *x = 0.0);
    assert_close(&features(&data), &expected, 1e-7);
}

#[test]
fn the_nodes_of_a_graph_need_not_stand_together() {
    // The nodes in the order 1, 3, 2, 4, 5 of the valid set.
    let data = read(
        TuFiles::valid()
            .with("A", "1, 3\n3, 1\n2, 4\n")
            .with("graph_indicator", "1\n2\n1\n2\n2\n")
            .with("node_labels", "7\n7\n-3\n7\n100\n")
            .with("node_attributes", "1,5\n3,5\n2,5\n4,5\n5,5\n"),
    );
    assert_eq!(data, read(TuFiles::valid()));
}

#[test]
fn a_folder_of_the_folder_and_archives_of_all_spellings_are_the_same_data() {
    let expected = read(TuFiles::valid());
    let folder = tempdir().unwrap();
    let inner = folder.path().join("inner");
    TuFiles::valid().into_folder(&inner.join("T"));
    write(&inner, "README.txt", b"about T");
    assert_eq!(read_tu(&inner).unwrap(), expected);

    let others = [("README.txt~", "x"), ("__MACOSX/T/._T_A.txt", "\u{0}")];
    let zip = TuFiles::valid().into_zip(&others);
    let path = write(folder.path(), "plain.zip", &zip);
    assert_eq!(read_tu(path).unwrap(), expected);
    // The TU collection's own archives have two slashes, those made by Windows backslashes.
    for spelling in ["TTTT/T_", "TTT//T_", "./TT/T_", "TTTT\\T_", "T/../T_"] {
        let zip = TuFiles::valid().into_zip_below("TTTT", &others);
        let zip = replaced(zip, "TTTT/T_", spelling);
        let path = write(folder.path(), "spelled.zip", &zip);
        assert_eq!(read_tu(path).unwrap(), expected, "{spelling}");
    }
}

#[test]
fn a_symbolic_link_to_a_folder_is_followed() {
    #[cfg(unix)]
    {
        let folder = tempdir().unwrap();
        TuFiles::valid().into_folder(&folder.path().join("T"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("T"), &link).unwrap();
        assert_eq!(read_tu(link).unwrap(), read(TuFiles::valid()));
    }
}
