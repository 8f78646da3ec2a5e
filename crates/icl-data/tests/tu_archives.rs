//! Errors of malformed archives and folders of TU data sets.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use crate::tu_files::{TuFiles, replaced, write};
use crate::tu_malformed::archive_error;
use icl_data::{DataErrorKind, read_tu};
use tempfile::tempdir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

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
            0..4 => DataErrorKind::NoDataSet,
            _ => DataErrorKind::Damaged,
        };
        assert_eq!(error.kind(), expected, "{length} bytes: {error}");
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
