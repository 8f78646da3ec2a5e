//! Updates that are worse by held-out samples.

use std::fs;
use std::path::Path;

use tempfile::tempdir;

use crate::stream::{json, lines, names, resumed};
use crate::support::{Ran, icl, number, split, text};
use crate::update::verdict::{WORSE, write};

fn stream(at: &Path, options: &str) -> Ran {
    let line = format!("stream --stream s.toml --from first/encoder.safetensors {WORSE} {options}");
    icl(at, &split(&line))
}

/// Writes the manifest of some experiences, each a table of its name.
fn manifest(at: &Path, tables: &[&str]) {
    let entry = |name: &&str| format!("[[experience]]\nname = \"{name}\"\ndata = \"{name}.csv\"\n");
    let entries: String = tables.iter().map(entry).collect();
    fs::write(at.join("s.toml"), format!("schema = 1\n{entries}")).unwrap();
}

#[test]
fn a_worse_update_keeps_the_encoder_that_is_served() {
    let at = tempdir().unwrap();
    let at = at.path();
    for (name, n, shift) in [("a", 600, 0.0), ("b", 400, 3.0), ("c", 300, 1.0)] {
        write(&at.join(format!("{name}.csv")), n, shift);
    }
    let train = "train --data a.csv --epochs 20 --layers 2 --width 16 --out first";
    icl(at, &split(train)).succeeded();
    let bytes = |path: &str| fs::read(at.join(path)).unwrap();

    manifest(at, &["a", "b"]);
    let kept = stream(at, "--exit-code --out kept");
    assert_eq!(kept.code, Some(3), "{}", kept.stderr);
    let said = "The encoder that is served was kept; --accept would have taken the updated one, which is \
                kept/001-b/rejected.safetensors.";
    assert!(kept.stderr.contains(said), "{}", kept.stderr);
    let counted = kept.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(counted.contains("; 1 rejected."), "{counted}");
    let files = [
        "memory.json",
        "record.json",
        "rejected.safetensors",
        "strategy.json",
    ];
    assert_eq!(names(&at.join("kept/001-b")), files);
    let first = bytes("kept/000-a/encoder.safetensors");
    let before = lines(&at.join("kept/stream.jsonl"));
    let b = &before[1];
    assert_eq!(
        (&b["updated"], &b["is_rejected"]),
        (&false.into(), &true.into())
    );
    assert_eq!(text(&b["verdict"]["old"], "answer"), "worse");
    assert_eq!((&b["risk"], number(b, "epochs")), (&b["served_risk"], 2.0));
    // The attempt is paid for.
    let charged = number(b, "charged_passes");
    let ledger = lines(&at.join("kept/ledger.jsonl"));
    let of_b = ledger.iter().filter(|it| it["experience"] == "b");
    let of_result = of_b.filter(|it| it["purpose"] == "training" || it["purpose"] == "statistics");
    let passes: f64 = of_result.map(|it| number(it, "passes")).sum();
    assert!((passes - charged).abs() < 1e-9, "{passes} of {charged}");
    // The rows are those of one encoder.
    let matrix = json(&at.join("kept/matrix.json"));
    assert_eq!(matrix["risk"][1][0], matrix["risk"][0][0]);

    // The samples of an experience that was rejected are new ones of the next update, also after an interruption.
    manifest(at, &["a", "b", "c"]);
    icl(at, &["stream", "--resume", "kept"]);
    stream(at, "--out whole").succeeded();
    resumed::assert_same(&at.join("kept"), &at.join("whole"));
    let after = lines(&at.join("kept/stream.jsonl"));
    let trained = |at: usize| number(&after[at], "n_samples") - number(&after[at], "n_held_out");
    assert_eq!(number(&after[2], "n_new"), trained(1) + trained(2));
    assert_eq!(number(&after[2], "n_old"), trained(0));
    assert!(bytes("kept/000-a/encoder.safetensors") == first);

    manifest(at, &["a", "b"]);
    let taken = stream(at, "--accept --exit-code --out taken");
    assert_eq!(taken.code, Some(3), "{}", taken.stderr);
    assert!(taken.stderr.contains("since --accept was given."));
    assert!(bytes("taken/001-b/encoder.safetensors") == bytes("kept/001-b/rejected.safetensors"));
    let taken = lines(&at.join("taken/stream.jsonl"));
    assert_eq!(
        (&taken[1]["updated"], &taken[1]["is_rejected"]),
        (&true.into(), &false.into())
    );
}
