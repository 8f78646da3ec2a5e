//! Recommenders through each command.

use std::fs;
use std::path::Path;

use crate::support::shop::{HEADER, NEW_ITEMS, write_interactions};
use crate::support::toys::{OLD, Toys};
use crate::support::{default_backend, icl, names, number, record, records, split, text};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// Few steps of few samples.
const FEW: &str = "--epochs 2 --batch-size 32 --width 6";

/// A folder with old and new interactions, and an encoder of the old ones.
fn shop() -> TempDir {
    let at = tempdir().unwrap();
    write_interactions(at.path());
    let train = format!("train --data old.inter --seed 3 {FEW} --out first");
    icl(at.path(), &split(&train)).succeeded();
    at
}

const UPDATE: &str = "update --from first/encoder.safetensors --old old.inter --new new.inter --seed 3 --epochs 2 \
                      --batch-size 32";

/// The header of the file of an encoder, and its numbers.
fn encoder(folder: &Path) -> (Value, Vec<u8>) {
    let bytes = fs::read(folder.join("encoder.safetensors")).unwrap();
    let end = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = serde_json::from_slice(&bytes[8..end]).unwrap();
    (header, bytes[end..].to_vec())
}

/// The names of the items of an encoder, and the rows of its table, of 6 numbers each.
fn items(folder: &Path) -> (Vec<String>, Vec<Vec<u8>>) {
    let (header, numbers) = encoder(folder);
    let names = header["__metadata__"]["items"].as_str().unwrap();
    let offsets = &header["items.weight"]["data_offsets"];
    let [begin, end] = [0, 1].map(|at| offsets[at].as_u64().unwrap() as usize);
    let rows = numbers[begin..end].chunks_exact(24).map(<[u8]>::to_vec);
    (serde_json::from_str(names).unwrap(), rows.collect())
}

#[test]
fn it_is_updated_and_grows() {
    let at = shop();
    let trained = record(&at.path().join("first"));
    // Of 24 users with 8 interactions each, about a tenth is held out.
    assert_eq!(number(&trained, "n"), 149.0);
    let (known, rows) = items(&at.path().join("first"));
    assert_eq!((known.len(), rows.len()), (18, 18));
    for method in ["icl", "warm", "fine-tuning", "retraining", "inference"] {
        let line = format!("{UPDATE} --method {method} --out {method}");
        let ran = icl(at.path(), &split(&line)).succeeded();
        let note = "note: old+new: 4 of 22 items are new; the encoder gets a row for each";
        assert!(ran.stderr.contains(note), "{}", ran.stderr);
        let out = at.path().join(method);
        let written = record(&out);
        assert_eq!(text(&written, "method"), method);
        // Users 16 to 23 continue their histories; the first interactions of the other 8 have none.
        // Five of these samples are held out.
        assert_eq!(number(&written, "n_new"), (16 * 6 - 8 - 5) as f64);
        let (names, rows_after) = items(&out);
        assert_eq!(names[..18], known);
        let mut new = names[18..].to_vec();
        new.sort();
        assert_eq!(new, NEW_ITEMS);
        let is_kept = rows_after[..18] == rows;
        assert_eq!(is_kept, method == "inference", "{method}");
    }
    // The updated encoder is the first one of the next update, and knows all items.
    let next = "update --from icl/encoder.safetensors --old all.inter --new new.inter --epochs 1 --out next";
    let ran = icl(at.path(), &split(next)).succeeded();
    assert!(!ran.stderr.contains("items are new"), "{}", ran.stderr);
    assert!(ran.stderr.contains("equal an old one"), "{}", ran.stderr);
    assert!(ran.stderr.contains("are earlier than the last old one"));
}

#[cfg(unix)]
#[test]
fn it_goes_on_after_an_interruption() {
    use crate::support::stopped::{begin, epochs_of_some_seconds, interrupt};
    use crate::support::timeless_record;

    let at = shop();
    let line = |n_epochs: usize, out: &str| {
        format!("{UPDATE} --method icl --stop never --budget none --out {out}")
            .replace(" --epochs 2", &format!(" --epochs {n_epochs}"))
    };
    let n_epochs = epochs_of_some_seconds(&at.path().join("whole"), |n_epochs| {
        icl(at.path(), &split(&line(n_epochs, "whole")))
    });
    let child = begin(at.path(), &line(n_epochs, "out"), "out", "training.input");
    assert_eq!(interrupt(child).code, Some(130));
    icl(at.path(), &split("update --resume out")).succeeded();
    let [whole, out] = ["whole", "out"].map(|name| at.path().join(name));
    assert_eq!(timeless_record(&out), timeless_record(&whole));
    assert_eq!(encoder(&out), encoder(&whole));
}

#[test]
fn its_parts_are_those_of_a_run() {
    let at = shop();
    for (kind, alpha) in [("time", 0.3), ("random", 0.4)] {
        let parts = format!("--data all.inter --split {kind} --alpha {alpha}");
        let out = format!("--seed 0 --out {kind}-parts");
        icl(at.path(), &split(&format!("split {parts} {out}"))).succeeded();
        let line = format!(
            "run {parts} --method inference,icl --seeds 1 {FEW} --hold-out 0 --out {kind}-run"
        );
        icl(at.path(), &split(&line)).succeeded();
        let run = records(&at.path().join(format!("{kind}-run")));
        assert_eq!(text(&run[1], "split"), kind);
        assert!(run[1]["accuracy"]["all"].is_null());

        let [old, new] = ["old", "new"].map(|part| format!("{kind}-parts/{part}"));
        let train = format!("train --data {old} {FEW} --hold-out 0 --out {kind}-first");
        icl(at.path(), &split(&train)).succeeded();
        let update = format!(
            "update --from {kind}-first/encoder.safetensors --old {old} --new {new} --epochs 1 --hold-out 0 \
             --out {kind}-second"
        );
        icl(at.path(), &split(&update)).succeeded();
        let updated = record(&at.path().join(format!("{kind}-second")));
        for key in ["n_old", "n_new"] {
            assert_eq!(number(&updated, key), number(&run[1], key), "{kind}");
        }
    }
    let other = icl(
        at.path(),
        &split("split --data all.inter --split class --out parts"),
    );
    other.rejected("split \"class\": found interactions, expected graphs, images or a table");
    OLD.write(at.path(), "OLD");
    let other = icl(
        at.path(),
        &split("split --data OLD --split time --out parts"),
    );
    other.rejected("split \"time\": found graphs, expected interactions");
}

#[test]
fn histories_are_embedded() {
    let at = shop();
    let embed = "embed --from first/encoder.safetensors --data old.inter --out out.csv";
    let ran = icl(at.path(), &split(embed)).succeeded();
    assert_eq!(ran.stdout, "168 embeddings of width 6 written to out.csv\n");
    let table = fs::read_to_string(at.path().join("out.csv")).unwrap();
    assert!(
        table.starts_with("id,encoder,e0,e1,e2,e3,e4,e5\n0,"),
        "{table}"
    );
    let unknown = icl(
        at.path(),
        &split(
            &embed
                .replace("old.inter", "all.inter")
                .replace("out.csv", "b.csv"),
        ),
    );
    unknown.rejected("found 4 items that the encoder does not have, such as \"n");
    unknown.rejected("expected none but the 18 items of the encoder");
}

#[test]
fn backends_take_the_same_steps() {
    let at = shop();
    let line = format!(
        "compare-backends --data old.inter --split time --alpha 0.5 --backends {} --steps 2 --batch-size 32 --out out",
        default_backend()
    );
    icl(at.path(), &split(&line)).succeeded();
}

#[test]
fn what_it_rejects() {
    let at = shop();
    OLD.write(at.path(), "OLD");
    Toys { n: 20, ..OLD }.write(at.path(), "FEW");
    icl(
        at.path(),
        &split("train --data FEW --epochs 1 --out graphs"),
    )
    .succeeded();
    fs::write(at.path().join("table.csv"), "a,b\n1,2\n2,1\n3,5\n4,4\n").unwrap();
    let row = "u\ti\t1\n";
    fs::write(at.path().join("row.inter"), format!("{HEADER}{row}")).unwrap();
    fs::write(at.path().join("cut.inter"), format!("{HEADER}{row}u\tj\t2")).unwrap();
    let before = names(at.path());
    for (line, message) in [
        (
            "update --from first/encoder.safetensors --old OLD --new OLD --out out",
            "first/encoder.safetensors: found an encoder of kind \"two-tower\", expected one for graphs: \"gcn\" or ",
        ),
        (
            "embed --from graphs/encoder.safetensors --data old.inter --out out.npy",
            "found an encoder of kind \"gcn\", expected one for interactions: \"two-tower\"",
        ),
        (
            "update --from first/encoder.safetensors --old old.inter --new table.csv --out out",
            "new: found tables, expected the same kind of data as the old data",
        ),
        (
            "update --from first/encoder.safetensors --old all.inter --new new.inter --out out",
            "data set \"all\": found 4 items that the encoder does not have",
        ),
        (
            "update --from first/encoder.safetensors --old old.inter --new row.inter --out out",
            "data set \"row\": found 1 interactions, expected at least 2",
        ),
        (
            "train --data old.inter --encoder gcn --out out",
            "encoder: found gcn for interactions, expected two-tower",
        ),
        (
            "train --data old.inter --layers 2 --out out",
            "layers: found it with the encoder two-tower of interactions, expected it with gcn or gin or mlp only",
        ),
        (
            "train --data old.inter --noise linear --out out",
            "noise: found linear for interactions, expected none",
        ),
        (
            "train --data OLD --encoder two-tower --out out",
            "encoder: found two-tower for graphs, expected gcn or gin",
        ),
        (
            "train --data old.inter --limit 9 --out out",
            "limit: found it with old.inter, a data set of interactions, expected it with graphs, images and tables only",
        ),
        (
            "train --data old.inter --target 1 --out out",
            "target: found it with old.inter, a data set of interactions, expected it with tables only",
        ),
        ("train --data row.inter --out out", "data set \"row\": "),
        (
            "train --data cut.inter --out out",
            "cut.inter, line 3: found a last line without line end",
        ),
    ] {
        icl(at.path(), &split(line)).rejected(message);
    }
    assert_eq!(names(at.path()), before);
}

/// One user's interactions are pairs like any others.
#[test]
fn one_user_is_enough() {
    let at = tempdir().unwrap();
    for (name, items) in [("one", "abcdefgh"), ("more", "bijka")] {
        let begin = name.len();
        let rows = items.chars().enumerate();
        let rows: String = rows
            .map(|(place, item)| format!("u\t{item}\t{}\n", 100 * begin + place))
            .collect();
        fs::write(
            at.path().join(format!("{name}.inter")),
            format!("{HEADER}{rows}"),
        )
        .unwrap();
    }
    let few = "--epochs 1 --hold-out 0";
    icl(
        at.path(),
        &split(&format!("train --data one.inter {few} --out first")),
    )
    .succeeded();
    let update = "update --from first/encoder.safetensors --old one.inter --new more.inter";
    icl(at.path(), &split(&format!("{update} {few} --out out"))).succeeded();
    let counts = ["n_old", "n_new"].map(|key| number(&record(&at.path().join("out")), key));
    assert_eq!(counts, [7.0, 5.0]);
}
