//! Errors of malformed tables of TU data sets, which name the file and the line.

use std::fs;

use crate::tu_files::{TuFiles, write};
use icl_data::read_tu;
use tempfile::tempdir;

/// Asserts that `files` give this error, both as a folder and as an archive.
#[track_caller]
fn assert_error(files: TuFiles, file: &str, rest: &str) {
    let folder = tempdir().unwrap();
    let data = folder.path().join("data");
    files.clone().into_folder(&data);
    let error = read_tu(&data).unwrap_err().to_string();
    assert_eq!(error, format!("{}{rest}", data.join(file).display()));

    let path = write(folder.path(), "t.zip", &files.into_zip(&[]));
    let error = read_tu(&path).unwrap_err().to_string();
    assert_eq!(error, format!("{}, entry T/{file}{rest}", path.display()));
}

/// The error that an archive of these bytes gives, without the archive's path.
#[track_caller]
pub fn archive_error(bytes: &[u8]) -> String {
    let folder = tempdir().unwrap();
    let path = write(folder.path(), "t.zip", bytes);
    let error = read_tu(&path).unwrap_err().to_string();
    let rest = error.strip_prefix(&path.display().to_string());
    rest.expect("the message begins with the path").to_owned()
}

#[test]
fn a_file_that_every_data_set_needs_is_missing() {
    assert_error_beside("graph_indicator");

    #[track_caller]
    fn assert_error_beside(ending: &'static str) {
        let folder = tempdir().unwrap();
        let files = TuFiles::valid().without(ending);
        files.clone().into_folder(folder.path());
        let error = read_tu(folder.path()).unwrap_err().to_string();
        let file = folder.path().join(format!("T_{ending}.txt"));
        assert_eq!(
            error,
            format!(
                "{}: found no such file, expected it next to \"T_A.txt\"",
                file.display()
            )
        );
        assert_eq!(
            archive_error(&files.into_zip(&[])),
            format!(
                ", entry T/T_{ending}.txt: found no such file, expected it next to \"T/T_A.txt\""
            )
        );
    }
}

#[test]
fn edges() {
    let cases = [
        (
            "1,2\n2,x\n",
            2,
            "found \"x\", expected an integer of at most 64 bits",
        ),
        (
            "1.5,2\n",
            1,
            "found \"1.5\", expected an integer of at most 64 bits",
        ),
        (
            "1,\n",
            1,
            "found nothing, expected an integer of at most 64 bits",
        ),
        (
            "1,99999999999999999999\n",
            1,
            "found \"99999999999999999999\", expected an integer of at most 64 bits",
        ),
        ("1,2\n0,2\n", 2, "found node 0, expected a node from 1 to 5"),
        (
            "1,2\n2,-1\n",
            2,
            "found node -1, expected a node from 1 to 5",
        ),
        (
            "1,2\r\n2,1\r\n6,1\r\n",
            3,
            "found node 6, expected a node from 1 to 5",
        ),
        (
            "1,2,3\n",
            1,
            "found 3 columns, expected 2, separated by commas",
        ),
        (
            "1,2\n2\n",
            2,
            "found 1 columns, expected 2, separated by commas",
        ),
        (
            "1 2\n",
            1,
            "found 1 columns, expected 2, separated by commas",
        ),
        (
            "1,2\n\n2,1\n",
            2,
            "found 0 columns, expected 2, separated by commas",
        ),
        (
            "1,2\n2,3\n",
            2,
            "found an edge from node 2 of graph 1 to node 3 of graph 2, expected both in one graph",
        ),
    ];
    for (text, line, rest) in cases {
        let files = TuFiles::valid().with("A", text);
        assert_error(files, "T_A.txt", &format!(", line {line}: {rest}"));
    }
}

#[test]
fn graph_indicator() {
    let cases = [
        (
            "1\n1\n2\n3\n2\n",
            4,
            "found graph 3, expected a graph from 1 to 2, the number of graph labels",
        ),
        (
            "0\n1\n2\n2\n2\n",
            1,
            "found graph 0, expected a graph from 1 to 2, the number of graph labels",
        ),
        (
            "1\n1\n2\n2\n-2\n",
            5,
            "found graph -2, expected a graph from 1 to 2, the number of graph labels",
        ),
        (
            "1\none\n2\n",
            2,
            "found \"one\", expected an integer of at most 64 bits",
        ),
        (
            "1\n1\n\n2\n",
            3,
            "found nothing, expected an integer of at most 64 bits",
        ),
        (
            "1\n1, 2\n",
            2,
            "found \"1, 2\", expected an integer of at most 64 bits",
        ),
    ];
    for (text, line, rest) in cases {
        let files = TuFiles::valid().with("graph_indicator", text);
        let rest = format!(", line {line}: {rest}");
        assert_error(files, "T_graph_indicator.txt", &rest);
    }
}

#[test]
fn graph_labels() {
    let cases = [
        (
            "1\n1.0\n",
            2,
            "found \"1.0\", expected an integer of at most 64 bits",
        ),
        (
            "1\n1\n2\n2\n",
            3,
            "found the label of graph 3, to which no node belongs, expected at least one node",
        ),
    ];
    for (text, line, rest) in cases {
        let files = TuFiles::valid().with("graph_labels", text);
        let rest = format!(", line {line}: {rest}");
        assert_error(files, "T_graph_labels.txt", &rest);
    }
    // One label too few: the error is at the first node of the graph without a label.
    assert_error(
        TuFiles::valid().with("graph_labels", "1\n"),
        "T_graph_indicator.txt",
        ", line 3: found graph 2, expected a graph from 1 to 1, the number of graph labels",
    );
}

#[test]
fn tables_of_nodes_have_a_line_for_each_node() {
    for (ending, short, long) in [
        ("node_labels", "1\n2\n3\n4\n", "1\n2\n3\n4\n5\n6\n7\n"),
        ("node_attributes", "1\n2\n3\n4\n", "1\n2\n3\n4\n5\n6\n7\n"),
    ] {
        let file = format!("T_{ending}.txt");
        for (text, line, found) in [(short, 5, 4), (long, 6, 7)] {
            assert_error(
                TuFiles::valid().with(ending, text),
                &file,
                &format!(
                    ", line {line}: found {found} lines in this file, expected 5, one for each node (line of the graph indicator)"
                ),
            );
        }
    }
}

#[test]
fn node_labels_and_attributes() {
    assert_error(
        TuFiles::valid().with("node_labels", "1\n2\nC\n4\n5\n"),
        "T_node_labels.txt",
        ", line 3: found \"C\", expected an integer of at most 64 bits",
    );
    let number = "expected a finite number that a 32-bit float can hold";
    for (field, found) in [
        ("nan", "\"nan\""),
        ("-inf", "\"-inf\""),
        ("1e39", "\"1e39\""),
        ("1.2.3", "\"1.2.3\""),
        ("", "nothing"),
    ] {
        assert_error(
            TuFiles::valid().with("node_attributes", format!("1,2\n3,{field}\n")),
            "T_node_attributes.txt",
            &format!(", line 2: found {found}, {number}"),
        );
    }
    assert_error(
        TuFiles::valid().with("node_attributes", "1,2\n3,4\n5\n"),
        "T_node_attributes.txt",
        ", line 3: found 1 columns, expected 2, separated by commas",
    );
}

#[test]
fn empty_files_and_bytes_that_are_no_text() {
    for (ending, holds) in [
        ("A", "two nodes on each line"),
        ("graph_indicator", "the graph of a node on each line"),
        ("graph_labels", "the class of a graph on each line"),
        ("node_labels", "the label of a node on each line"),
        ("node_attributes", "the attributes of a node on each line"),
    ] {
        let file = format!("T_{ending}.txt");
        for empty in ["", "\r\n \n"] {
            assert_error(
                TuFiles::valid().with(ending, empty),
                &file,
                &format!(", line 1: found an empty file, expected {holds}"),
            );
        }
        let (text, byte) = match ending {
            "A" => (&b"1,2\n2,1\n\xff2\n"[..], 8),
            _ => (&b"1\n1\n\xff2\n"[..], 4),
        };
        let rest = format!(
            ", line 3: found bytes that are not UTF-8 (byte {byte} of the file, counted from 0), expected text"
        );
        assert_error(TuFiles::valid().with(ending, text.to_vec()), &file, &rest);
    }
}

#[test]
fn many_distinct_labels_would_need_too_much_memory() {
    let n = 20_000;
    let ones = "1\n".repeat(n);
    let labels: String = (0..n).map(|label| format!("{label}\n")).collect();
    assert_error(
        TuFiles::valid()
            .with("A", "1,2\n")
            .with("graph_labels", "1\n")
            .with("graph_indicator", ones)
            .with("node_labels", labels)
            .without("node_attributes"),
        "T_node_labels.txt",
        ": found 400000000 feature values, expected at most 16777216",
    );
}

#[test]
fn a_line_without_end_is_not_read() {
    let attributes = "1,".repeat(1 << 20);
    assert_error(
        TuFiles::valid().with("node_attributes", attributes),
        "T_node_attributes.txt",
        ", line 1: found a line of more than 1048576 bytes, expected at most that many",
    );
}

#[test]
fn no_changed_byte_of_a_table_makes_the_reader_panic() {
    let folder = tempdir().unwrap();
    for ending in [
        "A",
        "graph_indicator",
        "graph_labels",
        "node_labels",
        "node_attributes",
    ] {
        TuFiles::valid().into_folder(folder.path());
        let path = folder.path().join(format!("T_{ending}.txt"));
        let text = fs::read(&path).unwrap();
        for at in 0..text.len() {
            for &byte in b"\0\t\n\r ,.+-019Eex\x7f\x80\xff" {
                let mut changed = text.clone();
                changed[at] = byte;
                fs::write(&path, &changed).unwrap();
                if let Err(error) = read_tu(folder.path()) {
                    assert!(error.to_string().contains(", line "), "{error}");
                }
            }
        }
    }
}
