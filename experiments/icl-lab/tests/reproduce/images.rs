//! The table of images.

use std::fs;
use std::path::Path;

use crate::support::digits::Digits;
use crate::support::{command, lab, names, records, split};
use tempfile::tempdir;

/// Options for images that are small enough for a test.
const SMALL: &str = "--alphas 0.5 --seeds 1 --epochs 1 --stem standard --out out";

#[test]
fn the_table_of_images_on_digits() {
    let at = tempdir().unwrap();
    let digits = Digits {
        n: 16,
        side: 12,
        classes: [7, 1],
    };
    digits.write(&at.path().join("data"), "mnist");
    let line =
        format!("reproduce table3 --data-dir data --data-sets MNIST-2 --image-size 12 {SMALL}");
    lab(at.path(), &split(&line)).succeeded();
    let cell = at
        .path()
        .join("out/cells/MNIST-2-random-alpha0.5-seed0-table");
    let config = fs::read_to_string(cell.join("config.toml")).unwrap();
    for line in [
        "classes = \"1,7\"",
        "image-size = 12",
        "stem = \"standard\"",
    ] {
        assert!(config.contains(line), "{config}");
    }
    let markdown = fs::read_to_string(at.path().join("out/table3.md")).unwrap();
    assert!(
        markdown.contains("--image-size 12 --stem standard"),
        "{markdown}"
    );
    assert!(markdown.contains("ImageNet-2, left out."), "{markdown}");
    // The cell is there, so nothing is run again; another size is another run.
    let again = lab(at.path(), &split(&line)).succeeded();
    assert!(
        again.stderr.contains("1 of 1 cells are complete"),
        "{}",
        again.stderr
    );
    for (from, to, message) in [
        (
            "--image-size 12",
            "--image-size 10",
            "found a run with image-size 12, expected 10",
        ),
        (
            "--stem standard",
            "",
            "found a run with stem standard, expected absent",
        ),
        (
            "--stem standard",
            "--stem standard --limit 8",
            "found a run with limit absent, expected 8",
        ),
    ] {
        lab(at.path(), &split(&line.replace(from, to))).rejected(message);
    }
}

#[test]
fn the_table_of_images_on_photographs() {
    let data = std::env::var_os("ICL_DATA_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        Into::into,
    );
    if !data.join("photos/ants-bees-256.tar.gz").is_file() {
        eprintln!(
            "SKIPPED: found no photos/ants-bees-256.tar.gz in {}",
            data.display()
        );
        return;
    }
    let at = tempdir().unwrap();
    let line = format!("reproduce table3 --data-sets ImageNet-2 --image-size 16 --limit 8 {SMALL}");
    let output = command(at.path(), &split(&line))
        .env("ICL_DATA_DIR", data.canonicalize().unwrap())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let photos = at.path().join("out/data/ants-bees/train");
    assert_eq!(names(&photos), ["ants", "bees"]);
    let cell = at
        .path()
        .join("out/cells/ImageNet-2-random-alpha0.5-seed0-table");
    assert_eq!(records(&cell).len(), 12);
}
