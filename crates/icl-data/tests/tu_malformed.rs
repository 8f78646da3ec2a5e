//! Errors of malformed TU data sets, which name the file and the line.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use crate::tu_files::{TuFiles, replaced, write};
use icl_data::{DataError, GraphsError, read_tu};
use tempfile::tempdir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

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
fn archive_error(bytes: &[u8]) -> String {
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
                "{}: found no such file, expected it beside \"T_A.txt\"",
                file.display()
            )
        );
        assert_eq!(
            archive_error(&files.into_zip(&[])),
            format!(
                ", entry T/T_{ending}.txt: found no such file, expected it beside \"T/T_A.txt\""
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
fn paths_that_hold_no_data_set() {
    let folder = tempdir().unwrap();
    let error = |path: &Path| {
        let error = read_tu(path).unwrap_err().to_string();
        let rest = error.strip_prefix(&path.display().to_string());
        rest.expect("the message begins with the path").to_owned()
    };
    assert_eq!(
        error(&folder.path().join("absent.zip")),
        ": found no such file or folder, expected a zip archive or a folder of a TU data set"
    );
    for text in ["", "graph data", "PK"] {
        let path = write(folder.path(), "t.txt", text.as_bytes());
        assert_eq!(
            error(&path),
            ": found neither a zip archive nor a folder, expected one of them with a TU data set"
        );
    }
    let nothing = ": found no file `NAME_A.txt`, expected the files of one TU data set";
    assert_eq!(error(folder.path()), nothing);
    assert_eq!(
        archive_error(&TuFiles::valid().without("A").into_zip(&[])),
        nothing
    );
    let empty = ZipWriter::new(Cursor::new(Vec::new())).finish().unwrap();
    assert_eq!(archive_error(&empty.into_inner()), nothing);
}

#[test]
fn two_data_sets_in_one_place() {
    let message = |first: &str, second: &str| {
        format!(": found more than one data set, \"{first}\" and \"{second}\", expected one")
    };
    let zip = TuFiles::valid().into_zip(&[("U/U_A.txt", "1,2\n")]);
    assert_eq!(archive_error(&zip), message("T/T_A.txt", "U/U_A.txt"));

    let folder = tempdir().unwrap();
    TuFiles::valid().into_folder(&folder.path().join("a"));
    TuFiles::valid().into_folder(&folder.path().join("b"));
    let error = read_tu(folder.path()).unwrap_err().to_string();
    assert!(
        error.ends_with(&message("a/T_A.txt", "b/T_A.txt")),
        "{error}"
    );
    write(&folder.path().join("a"), "U_A.txt", b"1,2");
    let error = read_tu(folder.path().join("a")).unwrap_err().to_string();
    assert!(error.ends_with(&message("T_A.txt", "U_A.txt")), "{error}");
}

#[test]
fn an_entry_that_points_outside_rejects_the_archive() {
    let zip = TuFiles::valid().into_zip(&[("extra/README", "not needed")]);
    for (name, printed) in [
        ("../tra/READM", "../tra/READM"),
        ("a/../../EADM", "a/../../EADM"),
        ("/xtra/READMs", "/xtra/READMs"),
        ("\\xtra\\READMs", "\\\\xtra\\\\READMs"),
        ("C:\\tra/READM", "C:\\\\tra/READM"),
        ("..\\tra\\READM", "..\\\\tra\\\\READM"),
    ] {
        let zip = replaced(zip.clone(), "extra/README", name);
        assert_eq!(
            archive_error(&zip),
            format!(
                ", entry {printed}: found an entry that points outside the archive, expected a relative path without `..`"
            )
        );
    }
}

#[test]
fn a_symbolic_link_rejects_the_archive() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    zip.add_symlink("T/T_A.txt", "../../secret", options)
        .unwrap();
    let zip = zip.finish().unwrap().into_inner();
    assert_eq!(
        archive_error(&zip),
        ", entry T/T_A.txt: found a symbolic link, expected only files and folders in the archive"
    );
}

#[test]
fn a_name_that_stands_twice_rejects_the_archive() {
    let zip = TuFiles::valid().into_zip(&[("T/T_B.txt", "1,2\n")]);
    let zip = replaced(zip, "T/T_B.txt", "T/T_A.txt");
    assert_eq!(
        archive_error(&zip),
        ": found an archive that lists an entry twice, expected every name once"
    );
}

#[test]
fn an_archive_that_is_cut_anywhere_is_an_error() {
    let zip = TuFiles::valid().into_zip(&[]);
    let folder = tempdir().unwrap();
    for length in 0..zip.len() {
        let path = write(folder.path(), "t.zip", &zip[..length]);
        let error = read_tu(&path).unwrap_err();
        let expected = match length {
            0..4 => matches!(error, DataError::Graphs(GraphsError::NotADataSet { .. })),
            _ => matches!(error, DataError::Graphs(GraphsError::Archive { .. })),
        };
        assert!(expected, "{length} bytes: {error}");
    }
    assert_eq!(
        archive_error(&zip[..zip.len() / 2]),
        ": found a cut or damaged zip archive, expected an intact one"
    );
}

#[test]
fn a_wrong_sum_is_an_error() {
    // The entry is stored, so that a change of its text is seen by the check sum alone.
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, text) in [
        ("T_A.txt", "1,2\n"),
        ("T_graph_indicator.txt", "1\n1\n"),
        ("T_graph_labels.txt", "12345\n"),
    ] {
        zip.start_file(name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let zip = zip.finish().unwrap().into_inner();
    let folder = tempdir().unwrap();
    assert!(read_tu(write(folder.path(), "t.zip", &zip)).is_ok());
    assert_eq!(
        archive_error(&replaced(zip, "12345", "12346")),
        ", entry T_graph_labels.txt: found an entry that cannot be unpacked, expected an intact one, stored or deflated"
    );
}

#[test]
fn a_table_that_unpacks_to_far_more_than_its_archive_is_not_read() {
    // 8 MiB of labels, which an archive packs to 8 kB.
    let labels = "1\n".repeat(4 << 20);
    let zip = TuFiles::valid().with("graph_labels", labels).into_zip(&[]);
    assert!(zip.len() < 100_000);
    assert_eq!(
        archive_error(&zip),
        ", entry T/T_graph_labels.txt: found more than 4194304 bytes, expected at most that many"
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
fn no_changed_byte_makes_the_reader_panic() {
    let zip = TuFiles::valid().into_zip(&[("README", "about T")]);
    let folder = tempdir().unwrap();
    let path = folder.path().join("t.zip");
    for at in 0..zip.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = zip.clone();
            changed[at] ^= change;
            fs::write(&path, &changed).unwrap();
            // Some bytes, such as dates, have no effect; an error must name the archive.
            if let Err(error) = read_tu(&path) {
                let message = error.to_string();
                assert!(message.contains("t.zip") && message.contains("expected"));
            }
        }
    }
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
