//! Encoders of pairs of texts through each command.

use std::fs;

use crate::support::shop::write_texts;
use crate::support::{default_backend, icl, names, number, record, records, split, text};
use icl_models::StoredEncoder;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// Few steps of few samples.
const FEW: &str = "--epochs 2 --batch-size 16";

/// A folder with old and new texts, and an encoder of the old ones.
fn news() -> TempDir {
    let at = tempdir().unwrap();
    write_texts(at.path());
    let train = format!("train --data old.csv --texts title,body --width 6 {FEW} --out first");
    let ran = icl(at.path(), &split(&train)).succeeded();
    // The last word of each title occurs once.
    assert!(
        ran.stderr.contains("words are not among the "),
        "{}",
        ran.stderr
    );
    at
}

/// The metadata of the file of an encoder.
fn metadata(path: &std::path::Path) -> Value {
    let bytes = fs::read(path.join("encoder.safetensors")).unwrap();
    let end = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..end]).unwrap();
    header["__metadata__"].clone()
}

#[test]
fn it_is_updated_with_its_vocabulary() {
    let at = news();
    let first = metadata(&at.path().join("first"));
    let words: Vec<String> = serde_json::from_str(text(&first, "vocabulary")).unwrap();
    assert!(words.is_sorted() && words.contains(&"rain".to_owned()));
    assert!(!words.contains(&"song".to_owned()) && !words.contains(&"w1".to_owned()));
    for method in ["icl", "warm", "fine-tuning"] {
        let line = format!(
            "update --from first/encoder.safetensors --old old.csv --new new.csv --texts 2,3 {FEW} --method {method} \
             --hold-out 0 --out {method}"
        );
        icl(at.path(), &split(&line)).succeeded();
        let out = at.path().join(method);
        let written = record(&out);
        let counts = ["n_old", "n_new"].map(|key| number(&written, key));
        assert_eq!(counts, [40.0, 24.0]);
        assert_eq!(metadata(&out)["vocabulary"], first["vocabulary"]);
        assert_eq!(metadata(&out)["config"], first["config"]);
    }
}

#[test]
fn it_is_compared_split_and_embedded() {
    let at = news();
    let parts = "--data old.csv --texts title,body --alpha 0.4";
    let ran = icl(
        at.path(),
        &split(&format!("split {parts} --seed 0 --out parts")),
    )
    .succeeded();
    assert!(
        ran.stderr.contains("--texts 'title,body'"),
        "{}",
        ran.stderr
    );
    let line = format!("run {parts} --method inference,icl --seeds 1 {FEW} --hold-out 0 --out run");
    icl(at.path(), &split(&line)).succeeded();
    let run = records(&at.path().join("run"));
    assert_eq!(
        (number(&run[1], "n_old"), number(&run[1], "n_new")),
        (24.0, 16.0)
    );
    // θ₀ of the run and the encoder of the old part have the words of the old pairs.
    let train = format!(
        "train --data parts/old --texts title,body {FEW} --seed 0 --hold-out 0 --out again"
    );
    icl(at.path(), &split(&train)).succeeded();
    // Their commands differ, and no more.
    let digest = |path: &str| {
        StoredEncoder::open(&at.path().join(path))
            .unwrap()
            .digest()
            .to_owned()
    };
    let theta0 = digest("run/encoder-theta0-seed0.safetensors");
    assert_eq!(digest("again/encoder.safetensors"), theta0);

    let embed =
        "embed --from first/encoder.safetensors --data new.csv --texts title,body --out out.npy";
    let ran = icl(at.path(), &split(embed)).succeeded();
    assert_eq!(ran.stdout, "24 embeddings of width 6 written to out.npy\n");
    let line = format!(
        "compare-backends {parts} --backends {} --steps 2 --batch-size 16 --out backends",
        default_backend()
    );
    icl(at.path(), &split(&line)).succeeded();
}

#[test]
fn what_it_rejects() {
    let at = news();
    fs::write(at.path().join("rare.csv"), "title,body\na,b\nc,d\ne,f\n").unwrap();
    fs::write(at.path().join("empty.csv"), "title,body\na,b\nc,\ne,f\n").unwrap();
    let before = names(at.path());
    for (line, message) in [
        (
            "train --data old.csv --texts title --out out",
            "texts: found \"title\", expected two different columns, comma-separated",
        ),
        (
            "train --data old.csv --texts title,title --out out",
            "texts: found \"title,title\", expected two different columns, comma-separated",
        ),
        (
            "train --data old.csv --texts title,text --out out",
            "\"old\": found no column \"text\", expected one of id, title, body, or a number from 1",
        ),
        (
            "train --data empty.csv --texts title,body --out out",
            "empty.csv, line 3, column \"body\": found nothing, expected a text",
        ),
        (
            "train --data rare.csv --texts title,body --out out",
            "data set \"rare\": found no word that is in 3 pairs of texts, expected at least one",
        ),
        (
            "train --data old.csv --texts title,body --target id --out out",
            "target: found it with old.csv, a data set of pairs of texts, expected it with tables of numbers only",
        ),
        (
            "train --data MUTAG --texts title,body --out out",
            "texts: found it with MUTAG, a data set of graphs, expected it with tables only",
        ),
        (
            "train --data digits-table --texts 1,2 --out out",
            "texts: found it with digits-table, a data set of numbers, expected it with files of texts only",
        ),
        (
            "train --data old.csv --texts title,body --encoder mlp --out out",
            "encoder: found mlp for pairs of texts, expected word-tower",
        ),
        (
            "run --data old.csv --texts title,body --split time --out out",
            "split \"time\": found pairs of texts, expected interactions",
        ),
        (
            "embed --from first/encoder.safetensors --data new.csv --out out.npy",
            "found an encoder of kind \"word-tower\", expected one for tables: \"mlp\"",
        ),
    ] {
        icl(at.path(), &split(line)).rejected_in_last_line(message);
    }
    assert_eq!(names(at.path()), before);
}
