//! `icl update`: a first encoder, an update, what it writes, and what it rejects.

mod budget;
mod kept;
mod rejected;
#[cfg(unix)]
mod resumed;
mod sources;
pub mod verdict;

use std::fs;
use std::path::Path;

use crate::support::toys::{NEW, OLD, Toys};
use crate::support::{
    assert_documented, contents, icl, names, number, record, split, text, timeless_record,
};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

const FILES: [&str; 4] = [
    "config.toml",
    "encoder.safetensors",
    "record.json",
    "report.html",
];

/// A folder with the data `OLD` and `NEW` and an encoder of the first in `first`.
fn toys() -> TempDir {
    let at = tempdir().unwrap();
    OLD.write(at.path(), "OLD");
    NEW.write(at.path(), "NEW");
    icl(
        at.path(),
        &split("train --data OLD --seed 3 --epochs 40 --out first"),
    )
    .succeeded();
    at
}

const DATA: &str = "--from first/encoder.safetensors --old OLD --new NEW";

fn update(at: &Path, options: &str) -> crate::support::Ran {
    icl(at, &split(&format!("update {options}")))
}

/// The values of the tensors of an encoder whose names hold `part`, as they are in the file.
fn tensors(folder: &Path, part: &str) -> Vec<Vec<u8>> {
    let bytes = fs::read(folder.join("encoder.safetensors")).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let (header, numbers) = bytes[8..].split_at(length);
    let header: Value = serde_json::from_slice(header).unwrap();
    let tensors = header.as_object().unwrap().iter();
    let found = tensors.filter(|(name, _)| name.contains(part));
    found
        .map(|(_, info)| {
            let [begin, end] = [0, 1].map(|at| info["data_offsets"][at].as_u64().unwrap() as usize);
            numbers[begin..end].to_vec()
        })
        .collect()
}

/// A number as the table and the page write it.
fn written(value: f64) -> String {
    let text = format!("{value:.3}").replace('-', "−");
    text.strip_prefix("−0.000")
        .map_or(text.clone(), |_| "0.000".to_owned())
}

#[test]
fn it_updates_an_encoder() {
    let at = toys();
    let line = format!("{DATA} --seed 3 --epochs 60 --budget none --wide --out out");
    let ran = update(at.path(), &line).succeeded();
    let [first, out] = ["first", "out"].map(|folder| at.path().join(folder));
    assert_eq!(names(&out), FILES);
    let record = record(&out);
    for (key, value) in [
        ("method", "icl"),
        ("from", "first/encoder.safetensors"),
        ("old_data", "OLD"),
        ("new_data", "NEW"),
    ] {
        assert_eq!(text(&record, key), value);
    }
    let counts = ["n_old", "n_new", "alpha", "seed"].map(|key| number(&record, key));
    // Of 60 and 40, about a tenth of each is held out.
    assert_eq!(counts, [55.0, 36.0, 36.0 / 91.0, 3.0]);
    for (part, n) in [("all", 9.0), ("old", 5.0), ("new", 4.0)] {
        assert_eq!(number(&record, &format!("n_held_out.{part}")), n);
        for key in ["held_out_before", "held_out_risk"] {
            let risk = number(&record, &format!("{key}.{part}"));
            let error = number(&record, &format!("{key}.standard_error.{part}"));
            assert!(risk > 0.0 && error > 0.0, "{key}.{part}: {risk} ± {error}");
        }
    }
    // Graphs have two classes, of each of which five samples are labelled.
    let task = &record["task"];
    assert_eq!(
        ["n_labelled", "n_held_out"].map(|key| number(task, key)),
        [10.0, 9.0]
    );
    for classifier in ["nearest", "linear"] {
        let accuracy = |of: &str| number(&task[classifier], of);
        for of in ["before", "after", "untrained", "raw"] {
            let n_right = 9.0 * accuracy(of);
            assert!(
                (n_right - n_right.round()).abs() < 1e-9 && n_right <= 9.0,
                "{of}: {n_right}"
            );
        }
        let fewer = accuracy("difference.mean") - (accuracy("before") - accuracy("after"));
        assert!(fewer.abs() < 1e-12, "{task}");
    }
    let cost = &record["cost"];
    let charged = [
        "training",
        "teacher",
        "support",
        "agents",
        "monitoring",
        "statistics",
    ];
    let charged: f64 = charged.iter().map(|key| number(cost, key)).sum();
    assert_eq!(number(&record, "charged_passes"), charged);
    assert!(charged > number(&record, "sample_passes"));
    // The rule returns the encoder with the lowest mean of both.
    let balanced = |at: &str| number(&record[at], "old") + number(&record[at], "new");
    for [before, after] in [
        ["before", "after"].map(balanced),
        ["before", "after"].map(|at| number(&record[at], "new")),
    ] {
        assert!(after < before, "{before} to {after}");
    }
    assert!(number(&record, "parameter_change") > 0.0);
    assert!(tensors(&first, "weight") != tensors(&out, "weight"));

    // Its numbers fit together.
    let evaluations = record["evaluations"].as_array().unwrap();
    let last = &evaluations[evaluations.len() - 1];
    // With frozen statistics a run begins at the encoder as it was given.
    let [first, given] = [&evaluations[0]["risk"], &record["before"]].map(|it| number(it, "all"));
    assert!((first - given).abs() < 1e-5 * given, "{first}, {given}");
    let best = &evaluations[number(&record, "best_evaluation") as usize];
    assert_eq!(best["risk"], record["after"]);
    for key in ["sample_passes", "train_s"] {
        assert_eq!(last[key], record[key]);
    }
    // A run may end within an epoch.
    let ended = number(&record, "epochs") - number(last, "epoch");
    assert!((0.0..=1.0).contains(&ended), "{ended}");
    let share = number(&record, "neighbours_kept.share");
    assert!((0.0..=1.0).contains(&share), "{share}");
    assert_eq!(number(&record, "neighbours_kept.k"), 10.0);

    // And with the table and the page.
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for (name, key) in [
        ("exact risk, all data", "all"),
        ("exact risk, old data", "old"),
        ("exact risk, new data", "new"),
        ("bias of inference, old data", "bias_inference_old"),
        ("bias of inference, new data", "bias_inference_new"),
        ("change ratio r (old data)", "change_ratio_old"),
    ] {
        let [before, after] = ["before", "after"].map(|at| written(number(&record[at], key)));
        let row = ran
            .stdout
            .lines()
            .find_map(|line| line.trim().strip_prefix(name));
        let row: Vec<&str> = row.unwrap().split_whitespace().collect();
        assert_eq!(row[..2], [&before, &after], "{name}");
        let row = format!(
            "<th scope=\"row\">{name}</th><td class=\"group\">{before}</td><td>{after}</td>"
        );
        assert!(page.contains(&row), "{row}");
    }
    let kept = format!("{:.1} %", 100.0 * share);
    assert!(ran.stdout.contains(&kept) && page.contains(&kept), "{kept}");
    assert!(page.contains("OLD and NEW"));
    assert!(
        ran.stdout.ends_with("\n\nwritten to out\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn the_encoder_can_be_used_and_updated_again() {
    let at = toys();
    update(at.path(), &format!("{DATA} --epochs 5 --out a")).succeeded();
    let embed = |folder: &str| {
        let line =
            format!("embed --from {folder}/encoder.safetensors --data OLD --out {folder}.npy");
        icl(at.path(), &split(&line)).succeeded();
        fs::read(at.path().join(format!("{folder}.npy"))).unwrap()
    };
    let [before, after] = ["first", "a"].map(embed);
    assert_eq!(before.len(), after.len());
    assert!(before != after);
    let again = "--from a/encoder.safetensors --old OLD --new NEW --epochs 5 --out b";
    update(at.path(), again).succeeded();
    // Where one update ends the next begins: the parameters are the same, and so is the risk.
    let [a, b] = ["a", "b"].map(|folder| record(&at.path().join(folder)));
    assert_eq!(a["after"], b["before"]);
}

#[test]
fn every_method_of_the_registry_is_taken() {
    let at = toys();
    let listed = icl(at.path(), &["methods", "--json"]).succeeded().stdout;
    let methods: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let (mut before, mut first) = (Vec::new(), Vec::new());
    for method in &methods {
        let name = text(method, "name");
        update(
            at.path(),
            &format!("{DATA} --method {name} --epochs 2 --stop never --out {name}"),
        )
        .succeeded();
        let record = record(&at.path().join(name));
        assert_eq!(text(&record, "method"), name);
        let moved = number(&record, "parameter_change");
        assert_eq!(moved > 0.0, name != "inference", "{name}");
        if text(method, "start") == "trained" {
            first.push(record["evaluations"][0]["risk"].clone());
        }
        before.push(record["before"].clone());
    }
    // Before is the encoder that came in, whatever the method starts from.
    assert!(before.iter().all(|risk| *risk == before[0]));
    assert!(first.len() > 3 && first.iter().all(|risk| *risk == first[0]));
}

#[test]
fn inference_trains_nothing() {
    let at = toys();
    let ran = update(at.path(), &format!("{DATA} --method inference --out out")).succeeded();
    let [first, out] = ["first", "out"].map(|folder| at.path().join(folder));
    let record = record(&out);
    assert_eq!(record["before"], record["after"]);
    for key in ["parameter_change", "epochs", "sample_passes"] {
        assert_eq!(number(&record, key), 0.0);
    }
    assert_eq!(record["evaluations"].as_array().unwrap().len(), 1);
    let [given, kept] = [&first, &out].map(|it| fs::read(it.join("encoder.safetensors")).unwrap());
    assert!(given == kept, "θ₀ byte for byte");
    assert!(ran.stdout.contains("Nothing was trained"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn few_samples_have_no_neighbourhoods() {
    let at = toys();
    Toys { n: 8, ..OLD }.write(at.path(), "FEW");
    let line = "--from first/encoder.safetensors --old FEW --new NEW --epochs 2 --out out";
    let ran = update(at.path(), line).succeeded();
    assert!(record(&at.path().join("out"))["neighbours_kept"].is_null());
    let words = "Nearest neighbours kept: too few old samples";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
}

#[test]
fn the_record_holds_what_the_book_says() {
    let at = toys();
    update(at.path(), &format!("{DATA} --epochs 1 --out out")).succeeded();
    let record = record(&at.path().join("out"));
    assert_documented(&record, "update", "neighbours_kept");
    assert_eq!(record["schema"], 2);
}

#[test]
fn its_configuration_gives_the_update_again() {
    let at = toys();
    let options = "--method distillation --seed 7 --epochs 4 --distillation-weight 2 \
                   --distillation-distance mean-squared --meta-order second \
                   --support-learning-rate 0.01 --replay-size 9 --batch-size 16";
    update(at.path(), &format!("{DATA} {options} --out a")).succeeded();
    update(at.path(), "--config a/config.toml --out b").succeeded();
    let [a, b] = ["a", "b"].map(|out| at.path().join(out));
    assert_eq!(timeless_record(&a), timeless_record(&b));
    let [a, b] = [a, b].map(|out| contents(&out));
    for name in ["encoder.safetensors", "config.toml"] {
        let of_a = String::from_utf8_lossy(&a[name]).replace("out = \"a\"", "out = \"b\"");
        assert!(of_a == String::from_utf8_lossy(&b[name]), "{name}");
    }
    let config = String::from_utf8_lossy(&a["config.toml"]);
    for line in [
        "from = \"first/encoder.safetensors\"",
        "method = \"distillation\"",
        "distillation-weight = 2.0",
        "distillation-distance = \"mean-squared\"",
        "meta-order = \"second\"",
        "support-learning-rate = 0.01",
        "replay-size = 9",
    ] {
        assert!(config.contains(line), "{line} is missing in\n{config}");
    }
}
