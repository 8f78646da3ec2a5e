//! Where encoders and embeddings come from: what their files say, and what commands make of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::{Ran, icl, split};

/// Options with which a training on a few graphs is short.
const SHORT: &str = "--epochs 2 --stop never";
const UPDATE: &str = "update --budget none --accept --epochs 2 --stop never";

fn run(at: &Path, line: &str) -> Ran {
    icl(at, &split(line)).succeeded()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn shown(at: &Path, encoder: &str) -> Value {
    json(&run(at, &format!("show {encoder} --json")).stdout)
}

fn record(at: &Path, folder: &str) -> Value {
    json(&fs::read_to_string(at.join(folder).join("record.json")).unwrap())
}

/// Three trainings: graphs of one class, an update with the other one, and one with both again.
fn three_days() -> TempDir {
    let at = tempdir().unwrap();
    let first = "train --data MUTAG --classes 1 --width 4 --temperature 0.2 --negatives 15";
    run(at.path(), &format!("{first} {SHORT} --out d0"));
    let second = "--old MUTAG --old-classes 1 --new MUTAG --new-classes=-1";
    run(
        at.path(),
        &format!("{UPDATE} --from d0/encoder.safetensors {second} --out d1"),
    );
    let third = "--old MUTAG --new MUTAG --seed 3";
    run(
        at.path(),
        &format!("{UPDATE} --from d1/encoder.safetensors {third} --out d2"),
    );
    at
}

#[test]
fn a_file_names_all_encoders_before_it() {
    let at = three_days();
    let at = at.path();
    let all = ["d0", "d1", "d2"].map(|folder| shown(at, folder));
    let parents = |of: &Value| -> Vec<String> {
        let parents = of["parents"].as_array().unwrap().iter();
        parents
            .map(|it| it["digest"].as_str().unwrap().to_owned())
            .collect()
    };
    let digests = all
        .each_ref()
        .map(|it| it["digest"].as_str().unwrap().to_owned());
    for (number, found) in all.iter().enumerate() {
        assert_eq!(parents(found), digests[..number]);
        let origin = &found["origin"];
        let cost = &record(at, &format!("d{number}"))["cost"];
        let charged = ["training", "teacher", "support", "agents", "monitoring"];
        let charged: f64 = charged.iter().map(|it| cost[it].as_f64().unwrap()).sum();
        let passes = origin["passes"].as_f64().unwrap();
        // Measuring is charged in part.
        let measured = cost["measuring"].as_f64().unwrap();
        assert!(
            charged <= passes && passes <= charged + measured,
            "{passes} {cost}"
        );
        assert_eq!(origin["date"], "2025-11-27");
        assert_eq!(origin["burn"], "0.21.0");
        assert_eq!(origin["seed"], [0, 0, 3][number]);
    }
    // What a parent says of itself is what its own file says.
    for (number, parent) in all[2]["parents"].as_array().unwrap().iter().enumerate() {
        let mut own = all[number]["origin"].clone();
        // Paths are those of the last training alone.
        for data in own["data"].as_array_mut().unwrap() {
            data.as_object_mut().unwrap().remove("sources").unwrap();
        }
        assert_eq!(parent["origin"], own);
    }
    let numbers = |of: &Value| -> Vec<(String, u64)> {
        let data = of["origin"]["data"].as_array().unwrap().iter();
        let fact = |it: &Value| {
            (
                it["part"].as_str().unwrap().to_owned(),
                it["n_samples"].as_u64().unwrap(),
            )
        };
        data.map(fact).collect()
    };
    assert_eq!(numbers(&all[0]), [("all".to_owned(), 125)]);
    assert_eq!(
        numbers(&all[1]),
        [("old".to_owned(), 125), ("new".to_owned(), 63)]
    );
    assert_eq!(
        numbers(&all[2]),
        [("old".to_owned(), 188), ("new".to_owned(), 188)]
    );
    assert_eq!(
        all[1]["metadata"]["classes"],
        serde_json::json!(["-1", "1"])
    );
    let text = run(at, "show d2").stdout;
    for digest in &digests {
        assert!(text.contains(digest.as_str()), "{text}");
    }
    for line in [
        "icl train --data MUTAG --classes 1 --width 4",
        "--new-classes=-1",
        "trained            2025-11-27 by icl",
        "  new              MUTAG: 63 samples, digest ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// A training at τ = 0.2 was once updated at 0.1 without a word.
#[test]
fn the_loss_is_that_of_the_encoders_training() {
    let at = three_days();
    let at = at.path();
    for folder in ["d1", "d2"] {
        let record = record(at, folder);
        assert_eq!(
            (&record["temperature"], &record["negatives"]),
            (&0.2.into(), &15.0.into())
        );
    }
    let update =
        format!("{UPDATE} --from d0/encoder.safetensors --old MUTAG --new MUTAG --old-classes 1");
    let ran = run(
        at,
        &format!("{update} --out own --temperature 0.1 --negatives 15"),
    );
    let warning = "warning: temperature: found 0.1, and the encoder was trained with 0.2";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    assert!(!ran.stderr.contains("negatives: found"), "{}", ran.stderr);
    assert_eq!(record(at, "own")["temperature"], 0.1);
    let ran = run(at, &format!("{update} --out inherited"));
    assert!(
        ran.stderr
            .contains("note: temperature 0.2, as in the encoder's training"),
        "{}",
        ran.stderr
    );
}

#[test]
fn old_data_that_are_others_than_those_of_the_training_are_reported() {
    let at = three_days();
    let at = at.path();
    let update = format!("{UPDATE} --from d1/encoder.safetensors --new MUTAG");
    // Those of both parts of the last update, in another order.
    let ran = run(at, &format!("{update} --old MUTAG --out same"));
    assert!(!ran.stderr.contains("was trained on"), "{}", ran.stderr);
    let ran = run(
        at,
        &format!("{update} --old MUTAG --old-classes 1 --out other"),
    );
    let note = "note: old: 125 graphs with the digest ";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("but the encoder was trained on 188 with the digest "),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_file_that_was_changed_is_refused() {
    let at = three_days();
    let path = at.path().join("d0/encoder.safetensors");
    let whole = fs::read(&path).unwrap();
    let mut changed = whole.clone();
    // A bit of a number.
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&path, &changed).unwrap();
    icl(at.path(), &["show", "d0"]).rejected("encoder.safetensors: found content with the digest ");
    // Another cost is another origin of the same encoder.
    let text = String::from_utf8_lossy(&whole).into_owned();
    let found = text.find("\\\"passes\\\":").unwrap() + "\\\"passes\\\":".len();
    let mut changed = whole;
    changed[found] = b'9';
    fs::write(&path, &changed).unwrap();
    let cost = shown(at.path(), "d0")["origin"]["passes"].to_string();
    assert!(cost.starts_with('9'), "{cost}");
}

/// The digest is made again by Python's hashlib from the definition alone.
#[test]
fn the_digest_is_that_of_its_definition() {
    const SCRIPT: &str = "
import hashlib, json, struct, sys
bytes = open(sys.argv[1], 'rb').read()
n = struct.unpack('<Q', bytes[:8])[0]
header = json.loads(bytes[8:8 + n])
metadata = header.pop('__metadata__')
hash = hashlib.sha256()
def number(n): hash.update(struct.pack('<Q', n))
def add(part): number(len(part)); hash.update(part)
for key in sorted(metadata, key=str.encode):
    if key not in ('digest', 'origin', 'parents'):
        add(key.encode()); add(metadata[key].encode())
for name in sorted(header, key=str.encode):
    add(name.encode()); number(len(header[name]['shape']))
    for size in header[name]['shape']: number(size)
    begin, end = header[name]['data_offsets']
    add(bytes[8 + n + begin:8 + n + end])
print(hash.hexdigest())
";
    let at = three_days();
    let path = at.path().join("d1/encoder.safetensors");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let ran = Command::new(python).args(["-c", SCRIPT]).arg(path).output();
    let Ok(ran) = ran else {
        println!("skipped: there is no python3");
        return;
    };
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let digest = shown(at.path(), "d1")["digest"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(String::from_utf8(ran.stdout).unwrap().trim(), digest);
}

/// Table with ids, dates and two classes.
fn shop(at: &Path) {
    let mut text = "order,date,a,b,kind\n".to_owned();
    for row in 0..40 {
        let kind = ["bees", "ants"][usize::from(row % 3 == 0)];
        text.push_str(&format!(
            "o-{row},2026-11-{:02},{}.5,{},{kind}\n",
            row % 28 + 1,
            row % 7,
            row * row % 11
        ));
    }
    fs::write(at.join("shop.csv"), text).unwrap();
}

#[test]
fn embeddings_name_their_encoder_their_rows_and_their_classes() {
    let at = tempdir().unwrap();
    let at = at.path();
    shop(at);
    let data = "--data shop.csv --target kind --exclude order,date";
    run(at, &format!("train {data} --width 4 {SHORT} --out d0"));
    let digest = shown(at, "d0")["digest"].as_str().unwrap().to_owned();
    let embed = "embed --from d0/encoder.safetensors --data shop.csv --target kind";
    run(at, &format!("{embed} --id order --keep date,b --out a.csv"));
    let csv = fs::read_to_string(at.join("a.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(lines.next().unwrap(), "id,label,date,b,encoder,e0,e1,e2,e3");
    let first = format!("o-0,ants,2026-11-01,0,{digest},");
    assert!(lines.next().unwrap().starts_with(&first), "{csv}");
    assert!(
        lines.next().unwrap().starts_with("o-1,bees,2026-11-02,1,"),
        "{csv}"
    );
    for (options, message) in [
        (
            "--id nothing",
            "found no column \"nothing\", expected one of order, date",
        ),
        (
            "--id a",
            "id: found \"a\", expected a column of shop: the column is a feature of the encoder",
        ),
        (
            "--keep nothing",
            "keep: found \"nothing\", expected a column of shop that is read",
        ),
        ("--keep date,date", "keep: found \"date\" twice"),
    ] {
        icl(at, &split(&format!("{embed} {options} --out b.csv"))).rejected_in_last_line(message);
    }
}
