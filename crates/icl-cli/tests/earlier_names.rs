//! Names that options had in earlier versions.

use crate::support::{icl, split};
use tempfile::tempdir;

/// Names of options before those of the field, on the command line and in files.
#[test]
fn earlier_names_of_options_are_accepted() {
    let at = tempdir().unwrap();
    for (earlier, now) in [
        ("panel", "evaluation-samples"),
        ("steering-panel", "monitor-samples"),
    ] {
        let expected = "found 3, expected at least 4";
        let line = format!("train --data digits --epochs 1 --{earlier} 3 --out o");
        let ran = icl(at.path(), &split(&line));
        ran.rejected(&format!("{now}: {expected}"));
        std::fs::write(at.path().join("c.toml"), format!("{earlier} = 3\n")).unwrap();
        let line = "train --data digits --epochs 1 --config c.toml --out o";
        icl(at.path(), &split(line)).rejected(&format!("{now}: {expected}"));
    }
}
