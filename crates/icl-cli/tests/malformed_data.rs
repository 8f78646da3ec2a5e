//! Data sets that are malformed give their one error through the program, too. Every kind of fault
//! has its test next to the reader; here it counts that the program passes the message on, whole and
//! once, and leaves nothing behind.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use crate::support::{icl, names};
use tempfile::tempdir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const FILES: [(&str, &str); 3] = [
    ("A", "1, 2\n2, 1\n3, 4\n4, 3\n"),
    ("graph_indicator", "1\n1\n2\n2\n"),
    ("graph_labels", "0\n1\n"),
];

/// Asserts that the data at `data` below `at` are rejected with this message after their path.
#[track_caller]
fn rejected(at: &Path, data: &str, message: &str) {
    let before = names(at);
    let ran = icl(
        at,
        &["run", "--data", data, "--epochs", "1", "--out", "out"],
    );
    ran.rejected("");
    assert_eq!(ran.stderr, format!("error: {data}{message}\n"));
    assert_eq!(names(at), before);
}

/// Writes the files, with other contents of one of them (or without it), and asserts.
#[track_caller]
fn rejected_with(ending: &str, contents: Option<&str>, message: &str) {
    let at = tempdir().unwrap();
    let folder = at.path().join("T");
    fs::create_dir(&folder).unwrap();
    for (name, valid) in FILES {
        let contents = if name == ending {
            contents
        } else {
            Some(valid)
        };
        if let Some(contents) = contents {
            fs::write(folder.join(format!("T_{name}.txt")), contents).unwrap();
        }
    }
    rejected(at.path(), "T", &format!("/T_{ending}.txt{message}"));
}

#[test]
fn files_of_a_folder() {
    rejected_with(
        "A",
        Some("1, 2\n2, 1\n1, 3\n"),
        ", line 3: found an edge from node 1 of graph 1 to node 3 of graph 2, expected both in one \
         graph",
    );
    rejected_with(
        "A",
        Some("1, 2\n2, 5\n"),
        ", line 2: found node 5, expected a node from 1 to 4",
    );
    rejected_with(
        "A",
        Some("1, 2\n2, one\n"),
        ", line 2: found \"one\", expected an integer of at most 64 bits",
    );
    rejected_with(
        "graph_labels",
        Some("0\n1\n0\n"),
        ", line 3: found the label of graph 3, to which no node belongs, expected at least one node",
    );
    rejected_with(
        "graph_indicator",
        None,
        ": found no such file, expected it next to \"T_A.txt\"",
    );
}

#[test]
fn damaged_archives() {
    let at = tempdir().unwrap();
    let whole = concat!(env!("CARGO_MANIFEST_DIR"), "/../icl-data/data/MUTAG.zip");
    let whole = fs::read(whole).unwrap();
    fs::write(at.path().join("cut.zip"), &whole[..whole.len() / 2]).unwrap();
    rejected(
        at.path(),
        "cut.zip",
        ": found a cut or damaged zip archive, expected an intact one: invalid Zip archive: Could \
         not find EOCD",
    );
    let no_archive = ": found neither a zip archive nor a folder, expected one of them with a TU \
                      data set";
    for (name, bytes) in [("text.zip", &b"no archive\n"[..]), ("empty.zip", b"")] {
        fs::write(at.path().join(name), bytes).unwrap();
        rejected(at.path(), name, no_archive);
    }

    // A byte in the middle of an entry: its check sum tells.
    let mut flipped = whole;
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    fs::write(at.path().join("flipped.zip"), flipped).unwrap();
    let message = ", entry MUTAG/MUTAG_A.txt: found an entry that cannot be unpacked, expected an \
                   intact one, stored or deflated: i/o error: Invalid checksum";
    rejected(at.path(), "flipped.zip", message);
}

#[test]
fn archives_that_point_outside() {
    let at = tempdir().unwrap();
    for outside in ["../T_A.txt", "T/../../T_A.txt"] {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (ending, contents) in FILES {
            let name = if ending == "A" {
                outside.to_owned()
            } else {
                format!("T/T_{ending}.txt")
            };
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(contents.as_bytes()).unwrap();
        }
        fs::write(at.path().join("t.zip"), zip.finish().unwrap().into_inner()).unwrap();
        rejected(
            at.path(),
            "t.zip",
            &format!(
                ", entry {outside}: found an entry that points outside the archive, expected a \
                 relative path without `..`"
            ),
        );
    }
}

/// One sentence names the files that are there and those that were looked for.
#[test]
fn files_and_folders_of_no_kind() {
    let at = tempdir().unwrap();
    let kinds = ", expected a TU data set (NAME_A.txt and NAME_graph_indicator.txt, in a folder or a \
                 zip), images (.jpg, .png, .webp, in a folder, or in one folder per class), an IDX pair \
                 (NAME-images-idx3-ubyte and NAME-labels-idx1-ubyte), a CIFAR file (NAME.bin), a table \
                 (.csv, .tsv, .parquet; .csv.gz) or interactions (.inter, u.data, ratings.dat)";
    for name in ["empty", "other", "tables"] {
        fs::create_dir(at.path().join(name)).unwrap();
    }
    let write = |name: &str| fs::write(at.path().join(name), "1\n").unwrap();
    rejected(
        at.path(),
        "empty",
        &format!(": found an empty folder{kinds}"),
    );
    write("notes.txt");
    rejected(
        at.path(),
        "notes.txt",
        &format!(": found a file of another kind{kinds}"),
    );
    for name in ["a.txt", "b\n.txt", "c", "d", "e"] {
        write(&format!("other/{name}"));
    }
    let found =
        ": found a folder of 5 other files or folders (\"a.txt\", \"b\\n.txt\", \"c\", \"d\", …)";
    rejected(at.path(), "other", &format!("{found}{kinds}"));
    for name in ["a.csv", "b.csv.gz", "README"] {
        write(&format!("tables/{name}"));
    }
    rejected(
        at.path(),
        "tables",
        ": found a folder of 2 tables (\"a.csv\", \"b.csv.gz\") and 1 other files or folders, \
         expected the path of one table",
    );
}

/// Two graphs are data, but leave one on each side.
#[test]
fn data_that_is_too_small() {
    let at = tempdir().unwrap();
    fs::create_dir(at.path().join("T")).unwrap();
    for (ending, contents) in FILES {
        fs::write(at.path().join(format!("T/T_{ending}.txt")), contents).unwrap();
    }
    icl(at.path(), &["run", "--data", "T", "--epochs", "1"])
        .rejected("found 1 old and 1 new of 2 samples, expected at least 2 of each");
    assert_eq!(names(at.path()), ["T"]);
}
