//! Files and numbers that `icl diagnose` rejects.

use std::fs;

use super::{EAST, NORTH, WEST, diagnose, folder, npy, rows};
use crate::support::names;

#[test]
fn numbers_that_cannot_be() {
    let at = folder(&[EAST], &[EAST], &[NORTH], &[WEST]);
    let before = names(at.path());
    let positive = "expected a number above 0";
    for (flags, message) in [
        (
            "--alpha 1.5",
            "alpha: found 1.5, expected a number from 0 to 1",
        ),
        (
            "--alpha -1",
            "alpha: found -1, expected a number from 0 to 1",
        ),
        (
            "--alpha nan",
            "alpha: found NaN, expected a number from 0 to 1",
        ),
        (
            "--temperature 0",
            &format!("temperature: found 0, {positive}"),
        ),
        (
            "--temperature -0.1",
            &format!("temperature: found -0.1, {positive}"),
        ),
        ("--negatives 0", &format!("found 0, {positive}")),
        ("--k -5", &format!("found -5, {positive}")),
        ("--k nan", &format!("found NaN, {positive}")),
    ] {
        diagnose(at.path(), flags).rejected(message);
    }
    for found in ["inf", "1e-310"] {
        diagnose(at.path(), &format!("--temperature {found}"))
            .rejected_at_length("expected a number from 1e-4 to 1e4");
    }
    diagnose(at.path(), "--alpha half").rejected_at_length("invalid value 'half'");
    assert_eq!(names(at.path()), before);
}

#[test]
fn files_that_cannot_be_used() {
    let one = 1f64.to_le_bytes();
    let four = one.repeat(4);
    let whole = npy("'<f8'", "(2, 2)", &four);
    let not_a_number = [one, one, f64::NAN.to_le_bytes(), one].concat();
    let infinite = [one, one, one, f64::NEG_INFINITY.to_le_bytes()].concat();
    let of_numpy = "expected a .npy file";
    let cut = "expected as many as its header says: the file is truncated";
    let cases: [(Vec<u8>, &str, &str); 23] = [
        (vec![], "no NumPy header", of_numpy),
        (b"1.0,2.0\n".to_vec(), "no NumPy header", of_numpy),
        (b"PK\x03\x04 an npz".to_vec(), "no NumPy header", of_numpy),
        (
            whole[..40].to_vec(),
            "a NumPy header that is cut off",
            "expected a whole one",
        ),
        (whole[..whole.len() - 1].to_vec(), "31 bytes of values", cut),
        (npy("'<f8'", "(2, 2)", &[]), "0 bytes of values", cut),
        (
            npy("'<f8'", "(4611686018427387904, 8)", &four),
            "32 bytes of values",
            cut,
        ),
        (
            npy("'<f8'", "(4,)", &four),
            "shape [4]",
            "expected two dimensions, [n, d]",
        ),
        (
            npy("'<f8'", "()", &one),
            "shape []",
            "expected two dimensions, [n, d]",
        ),
        (
            npy("'<f8'", "(1, 2, 2)", &four),
            "shape [1, 2, 2]",
            "expected two dimensions, [n, d]",
        ),
        (
            npy("'<f8'", "(0, 2)", &[]),
            "shape [0, 2]",
            "expected at least one row and one column",
        ),
        (
            npy("'<f8'", "(2, 0)", &[]),
            "shape [2, 0]",
            "expected at least one row and one column",
        ),
        (
            npy("'<i8'", "(2, 2)", &four),
            "type \"<i8\"",
            "expected f16, f32 or f64",
        ),
        (
            npy("'<f16'", "(1, 2)", &four),
            "type \"<f16\"",
            "expected f16, f32 or f64",
        ),
        (
            npy("'<c16'", "(1, 2)", &four),
            "type \"<c16\"",
            "expected f16, f32 or f64",
        ),
        (
            npy("'|O'", "(2, 2)", &four),
            "type \"|O\"",
            "expected f16, f32 or f64",
        ),
        (
            npy("'|b1'", "(2, 2)", &four),
            "type \"|b1\"",
            "expected f16, f32 or f64",
        ),
        (
            npy("[('é', '<f8')]", "(2, 2)", &four),
            "\"[('é', '<f8')], 'fortran_order': False, …\" at byte 10 of the NumPy header",
            "expected the type of a plain array, such as '<f4'",
        ),
        (
            // The time of a parser that tries and goes back doubles with each.
            npy(&"[".repeat(40), "(2, 2)", &four),
            "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…\" at byte 10 of the NumPy header",
            "expected the type of a plain array, such as '<f4'",
        ),
        (
            npy("'<f8'", &"(".repeat(60_000), &four),
            "\"((((((((((((((((((((((((((((((((((((((((…\" at byte",
            "expected an integer from 0 to 2^64 - 1",
        ),
        (
            npy("'<f8'", &format!("({})", "1, ".repeat(64)), &one),
            "shape [1, 1, 1, 1, 1, 1, 1, 1] and 56 more axes",
            "expected two dimensions, [n, d]",
        ),
        (
            npy("'<f8'", "(2, 2)", &not_a_number),
            "NaN in row 1, column 0 (counted from 0)",
            "expected finite numbers",
        ),
        (
            npy("'<f8'", "(2, 2)", &infinite),
            "-inf in row 1, column 1 (counted from 0)",
            "expected finite numbers",
        ),
    ];
    for (bytes, found, expected) in cases {
        for name in ["a", "p", "o", "n"] {
            let at = folder(&[EAST, NORTH], &[EAST, NORTH], &[EAST], &[WEST]);
            fs::write(at.path().join(format!("{name}.npy")), &bytes).unwrap();
            let ran = diagnose(at.path(), "");
            ran.rejected(expected);
            let start = format!("error: {name}.npy: found {found}");
            assert!(ran.stderr.starts_with(&start), "{start} | {}", ran.stderr);
        }
    }
}

#[test]
fn files_that_are_not_there() {
    let at = folder(&[EAST], &[EAST], &[NORTH], &[WEST]);
    for name in ["a.npy", "p.npy", "o.npy", "n.npy"] {
        let path = at.path().join(name);
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        diagnose(at.path(), "").rejected(&format!("error: {name}: found no readable file ("));
        fs::create_dir(&path).unwrap();
        diagnose(at.path(), "").rejected(&format!("error: {name}: found no readable file ("));
        fs::remove_dir(&path).unwrap();
        fs::write(&path, bytes).unwrap();
    }
    diagnose(at.path(), "").succeeded();
}

#[test]
fn shapes_that_do_not_fit() {
    let at = folder(&[EAST, NORTH], &[EAST], &[NORTH], &[WEST]);
    diagnose(at.path(), "")
        .rejected("p.npy: found shape [1, 2], expected 2 rows, one for each anchor in a.npy");
    for name in ["p", "o", "n"] {
        let at = folder(&[EAST], &[EAST], &[NORTH], &[WEST]);
        fs::write(
            at.path().join(format!("{name}.npy")),
            rows(&[[1.0, 2.0, 3.0]]),
        )
        .unwrap();
        diagnose(at.path(), "").rejected(&format!(
            "{name}.npy: found shape [1, 3], expected 2 columns as in a.npy"
        ));
    }
}
