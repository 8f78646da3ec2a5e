//! `icl align`: a known change of embeddings is found, measured, written and applied.

use std::fs;
use std::path::Path;

use icl_core::Seed;
use rand::RngExt;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::diagnose::rows;
use crate::support::{Ran, icl, number, split};

const N: usize = 150;

/// Old embeddings, new ones turned about two axes and moved, and the new ones of a few rows elsewhere.
fn embeddings() -> TempDir {
    let at = tempdir().unwrap();
    let mut rng = Seed::new(5).rng();
    let old: Vec<[f64; 4]> = (0..N)
        .map(|_| [0.0; 4].map(|_: f64| rng.random_range(-1.0..1.0)))
        .collect();
    let new: Vec<[f64; 4]> = old
        .iter()
        .enumerate()
        .map(|(at, [a, b, c, d])| match at {
            7 | 70 => [-b, *a, -d, *c].map(|x| -x),
            _ => [-b, *a, -d, *c],
        })
        .collect();
    fs::write(at.path().join("old.npy"), rows(&old)).unwrap();
    fs::write(at.path().join("new.npy"), rows(&new)).unwrap();
    at
}

fn align(at: &Path, flags: &str) -> Ran {
    icl(at, &split(&format!("align --from old.npy {flags}")))
}

#[test]
fn a_turn_is_found_measured_and_applied() {
    let at = embeddings();
    let at = at.path();
    for form in ["procrustes", "affine", "residual-mlp"] {
        let ran = align(
            at,
            &format!("--to new.npy --form {form} --out {form}.safetensors --json"),
        );
        let found: Value = serde_json::from_str(&ran.succeeded().stdout).unwrap();
        assert_eq!(
            [number(&found, "n_fitted"), number(&found, "n_held_out")],
            [135.0, 15.0]
        );
        assert_eq!(found["ridge"].is_null(), form == "procrustes");
        let of = |k: usize, gallery: &str| number(&found["recall"][k][gallery], "own");
        assert!(of(0, "unmapped") < 0.5 && of(0, "new") == 1.0);
        assert!(of(0, "mapped") > 0.8, "{found}");
        assert_eq!(number(&found["recall"][1], "k"), 10.0);
        let mut most: Vec<u64> = found["moved_most"].as_array().unwrap()[..2]
            .iter()
            .map(|row| row.as_u64().unwrap())
            .collect();
        most.sort_unstable();
        assert_eq!(most, [7, 70]);
        align(at, &format!("--map {form}.safetensors --out {form}.npy")).succeeded();
        // The mapped embeddings are new ones to a second map: nothing is left to turn.
        let line = format!("align --from {form}.npy --to new.npy --out {form}2.safetensors --json");
        let again: Value =
            serde_json::from_str(&icl(at, &split(&line)).succeeded().stdout).unwrap();
        assert_eq!(
            number(&again["recall"][0]["unmapped"], "own"),
            of(0, "mapped")
        );
    }
    let table = align(at, "--to new.npy --out t.safetensors")
        .succeeded()
        .stdout;
    assert!(table.contains("old, unmapped") && table.ends_with("map written to t.safetensors\n"));
    let again = align(at, "--to new.npy --out u.safetensors").succeeded();
    assert!(again.stderr.is_empty());
    let bytes = |name: &str| fs::read(at.join(name)).unwrap();
    assert_eq!(bytes("t.safetensors"), bytes("u.safetensors"));
}

/// Old rows of width 2 and what a bent change makes of them.
fn bent() -> TempDir {
    let at = tempdir().unwrap();
    let mut rng = Seed::new(6).rng();
    let old: Vec<[f64; 2]> = (0..220)
        .map(|_| [0.0; 2].map(|_: f64| rng.random_range(-1.0..1.0)))
        .collect();
    let new: Vec<[f64; 3]> = old
        .iter()
        .map(|[a, b]| [(3.0 * a).sin(), a * b, *b])
        .collect();
    fs::write(at.path().join("old.npy"), rows(&old)).unwrap();
    fs::write(at.path().join("new.npy"), rows(&new)).unwrap();
    at
}

#[test]
fn the_form_that_fits_is_chosen() {
    let at = bent();
    let at = at.path();
    let json = |flags: &str| -> Value {
        let ran = align(at, &format!("--to new.npy --hidden 6 {flags} --json")).succeeded();
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let auto = json("--form auto --out auto.safetensors");
    assert_eq!(
        (&auto["form"], &auto["hidden"]),
        (&"residual-mlp".into(), &6.into())
    );
    let compared = auto["comparison"].as_array().unwrap();
    // No rotation leads from width 2 to width 3.
    let forms: Vec<&Value> = compared.iter().map(|at| &at["form"]).collect();
    assert_eq!(forms, ["affine", "residual-mlp"]);
    let left = |at: usize| number(&compared[at], "mean_distance");
    assert!(left(1) < 0.5 * left(0), "{auto}");
    let given = json("--form residual-mlp --out given.safetensors");
    // A form that was given is compared with none: that would take most of the time.
    assert_eq!(given["comparison"], Value::Array(Vec::new()));
    let bytes = |name: &str| fs::read(at.join(name)).unwrap();
    assert_eq!(bytes("auto.safetensors"), bytes("given.safetensors"));
    let line = "--to new.npy --hidden 6 --out auto.safetensors --force";
    let text = align(at, line).succeeded().stdout;
    let line = "mean distance by cross-validation of the fitted rows: affine ";
    assert!(text.contains(line), "{text}");
    align(at, "--to new.npy --form affine --out affine.safetensors").succeeded();
    // The file holds the layer: applied, it is as near as what was measured.
    for name in ["auto", "affine"] {
        align(at, &format!("--map {name}.safetensors --out {name}.npy")).succeeded();
    }
    let again = |name: &str| -> Value {
        let line = format!(
            "align --from {name}.npy --to new.npy --form affine --out {name}2.safetensors --json"
        );
        serde_json::from_str(&icl(at, &split(&line)).succeeded().stdout).unwrap()
    };
    let own = |of: &Value| number(&of["recall"][0]["unmapped"], "own");
    let bent = own(&again("auto"));
    assert_eq!(bent, number(&auto["recall"][0]["mapped"], "own"));
    assert!(bent > own(&again("affine")));
    // A file without a part of the layer is not applied as something else.
    let mut broken = bytes("auto.safetensors");
    let name = b"hidden.output";
    let place = broken
        .windows(name.len())
        .position(|it| it == name)
        .unwrap();
    broken[place] = b'x';
    fs::write(at.join("broken.safetensors"), broken).unwrap();
    align(at, "--map broken.safetensors --out b.npy")
        .rejected("broken.safetensors: found no tensor hidden.output, expected a map");
}

#[test]
fn wrong_input_is_named() {
    let at = embeddings();
    let at = at.path();
    fs::write(at.join("narrow.npy"), rows(&[[1.0, 2.0]; N])).unwrap();
    fs::write(at.join("few.npy"), rows(&[[1.0, 2.0, 3.0, 4.0]; 3])).unwrap();
    fs::write(at.join("none.safetensors"), "none").unwrap();
    align(at, "--to new.npy --out m.safetensors").succeeded();
    let new = "--to new.npy --out a.safetensors";
    for (flags, message) in [
        (
            "--to new.npy --out a.npy",
            "out: found a.npy, expected a name that ends in .safetensors",
        ),
        (
            "--to new.npy --out m.safetensors",
            "out: found a file at m.safetensors, expected nothing there",
        ),
        (
            "--to few.npy --out a.safetensors",
            "few.npy: found 3 rows, expected 150, the same samples as in old.npy",
        ),
        (
            "--to narrow.npy --form procrustes --out a.safetensors",
            "procrustes: found widths 4 and 2, expected equal ones",
        ),
        (
            &format!("{new} --form procrustes --rank 2"),
            "form: found procrustes with --rank or --ridge, expected affine, residual-mlp or auto",
        ),
        (
            &format!("{new} --form affine --hidden 8"),
            "form: found affine with --hidden, expected residual-mlp or auto",
        ),
        (
            &format!("{new} --form residual-mlp --hidden 0"),
            "hidden: found 0, expected a number from 1 to 4096",
        ),
        (
            &format!("{new} --form auto --hidden 4097"),
            "hidden: found 4097, expected a number from 1 to 4096",
        ),
        (
            &format!("{new} --form auto --rank 9"),
            "rank: found 9, expected a number from 1 to 4",
        ),
        (
            &format!("{new} --form affine --rank 9"),
            "rank: found 9, expected a number from 1 to 4",
        ),
        (
            &format!("{new} --form affine --ridge 0"),
            "ridge: found 0, expected a finite number above 0",
        ),
        (
            "--map none.safetensors --out a.npy",
            "none.safetensors: found a file that cannot be read (",
        ),
        (
            "--map m.safetensors --out a.txt",
            "out: found a.txt, expected a name that ends in .npy",
        ),
        (
            "--map m.safetensors --out old.npy --force",
            "out: found old.npy, which is the input --from old.npy",
        ),
    ] {
        align(at, flags).rejected(message);
    }
    let line = "align --from narrow.npy --map m.safetensors --out a.npy";
    icl(at, &split(line)).rejected("narrow.npy: map: found rows of width 2, expected 4");
    let line = "align --from narrow.npy --to narrow.npy --form procrustes --out a.safetensors";
    icl(at, &split(line)).rejected("procrustes: found old rows of rank 1, expected 2");
    fs::write(at.join("zeros.npy"), rows(&[[0.0; 4]; N])).unwrap();
    align(at, "--to zeros.npy --form procrustes --out a.safetensors")
        .rejected("procrustes: found new rows of rank 0, expected 4");
    align(at, "--out a.npy").rejected_at_length("--to <NEW>");
    align(at, "--to new.npy --map m.safetensors --out a.npy")
        .rejected_at_length("cannot be used with");
    let ran = align(at, "--to narrow.npy --form affine --out w.safetensors").succeeded();
    let note = "note: narrow.npy: all 150 rows are equal and distinguish no samples\n";
    assert_eq!(ran.stderr, note);
    let mut some = vec![[1.0, 2.0, 3.0, 4.0]; 3];
    some[1] = [0.0; 4];
    fs::write(at.join("some.npy"), rows(&some)).unwrap();
    let line = "align --from some.npy --map m.safetensors --out some2.npy";
    let ran = icl(at, &split(line)).succeeded();
    let note = "note: some.npy: 1 of 3 rows are zeros, which have no direction";
    assert!(ran.stderr.starts_with(note), "{}", ran.stderr);
    assert!(!at.join("a.npy").exists() && !at.join("a.safetensors").exists());
}

/// Names, classes and kept columns of rows go with them through a map, from and to every format.
#[test]
fn what_is_known_of_rows_is_mapped_with_them() {
    let at = tempdir().unwrap();
    let at = at.path();
    let mut rng = Seed::new(9).rng();
    let mut table = |name: &str, encoder: &str| {
        let mut text = "id,label,city,encoder,e0,e1\n".to_owned();
        for row in 0..40 {
            let [a, b] = [0; 2].map(|_| rng.random_range(-1.0..1.0_f64));
            let label = ["wasp", "bee"][row % 2];
            text += &format!("s-{row},{label},Bonn {},{encoder},{a},{b}\n", row % 3);
        }
        fs::write(at.join(name), text).unwrap();
    };
    table("old.csv", "aaaa");
    table("new.csv", "bbbb");
    let run = |line: &str| icl(at, &split(&format!("align {line}"))).succeeded();
    run("--from old.csv --to new.csv --out m.safetensors");
    for ending in ["csv", "parquet", "npy", "safetensors"] {
        let once = format!("once-{ending}.{ending}");
        run(&format!("--from old.csv --map m.safetensors --out {once}"));
        run(&format!(
            "--from {once} --to new.csv --out m-{ending}.safetensors"
        ));
        let twice = format!("twice-{ending}.csv");
        run(&format!(
            "--from {once} --map m-{ending}.safetensors --out {twice}"
        ));
        let text = fs::read_to_string(at.join(twice)).unwrap();
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some("id,label,city,encoder,e0,e1"),
            "{ending}"
        );
        for (row, line) in lines.enumerate() {
            let label = ["wasp", "bee"][row % 2];
            let expected = format!("s-{row},{label},Bonn {},aaaa->bbbb->bbbb,", row % 3);
            assert!(line.starts_with(&expected), "{ending}: {line}");
        }
    }
    let facts = at.join("once-npy.rows.json");
    let text = fs::read_to_string(&facts).unwrap();
    fs::write(&facts, text.replacen("\"s-0\",", "", 1)).unwrap();
    let line = "align --from once-npy.npy --map m-npy.safetensors --out out.csv";
    icl(at, &split(line)).rejected("once-npy.npy: found 39 \"ids\", expected 40, one for each row");
}
