//! `icl run`: what it writes, and that the numbers in it fit together.

mod budgets;
mod repeated;
mod report;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{
    METHODS, documented, icl, keys, names, number, of_book, records, rows_of, split, text, timeless,
};
use serde_json::Value;
use tempfile::tempdir;

/// Runs into the folder `out` below `at`, and gives its records.
#[track_caller]
fn run(at: &Path, options: &str, out: &str) -> Vec<Value> {
    let line = format!("run {options} --out {out}");
    icl(at, &split(&line)).succeeded();
    records(&at.join(out))
}

#[test]
fn it_writes_its_files() {
    let at = tempdir().unwrap();
    let ran = icl(
        at.path(),
        &split("run --seed 4 --epochs 3 --method all --out out"),
    )
    .succeeded();
    let out = at.path().join("out");
    let mut expected: Vec<String> = [
        "comparison.json",
        "config.toml",
        "map.json",
        "record.jsonl",
        "report.html",
    ]
    .map(str::to_owned)
    .into();
    for encoder in METHODS.iter().chain(&["theta0"]) {
        expected.push(format!("encoder-{encoder}-seed4.safetensors"));
    }
    expected.sort_unstable();
    assert_eq!(names(&out), expected);
    assert_eq!(names(at.path()), ["out"]);

    let records = records(&out);
    let methods: Vec<&str> = records.iter().map(|line| text(line, "method")).collect();
    assert_eq!(methods, METHODS);
    assert!(records.iter().all(|line| line["seed"] == 4));

    let map: Value = serde_json::from_slice(&fs::read(out.join("map.json")).unwrap()).unwrap();
    let length = |value: &Value| value.as_array().unwrap().len();
    assert_eq!(map["seed"], 4);
    for key in ["labels", "is_new", "before"] {
        assert_eq!(length(&map[key]), 170, "{key}: 18 of 188 are held out");
    }
    assert_eq!(length(&map["after"]), METHODS.len());

    // The table, with every method in it, and where the files are.
    for method in METHODS {
        assert!(ran.stdout.contains(method), "{}", ran.stdout);
    }
    assert!(
        ran.stdout.ends_with("\n\nwritten to out\n"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("\n\n\n"), "{}", ran.stdout);
    // Some graphs of MUTAG are equal.
    let (notes, lines): (Vec<&str>, Vec<&str>) = ran
        .stderr
        .lines()
        .partition(|line| line.starts_with("note: "));
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].ends_with("new graphs equal an old one"),
        "{notes:?}"
    );
    // One plain line a training run (θ₀, and all methods but inference), and one for each method's accuracies.
    assert_eq!(lines.len(), 2 * METHODS.len());
    assert!(!ran.stderr.contains('\u{1b}'));
}

#[test]
fn an_encoder_carries_its_configuration() {
    let at = tempdir().unwrap();
    run(at.path(), "--seed 0 --epochs 2 --method warm", "out");
    let bytes = fs::read(at.path().join("out/encoder-warm-seed0.safetensors")).unwrap();
    let (header, _) = safetensors(&bytes);
    let metadata = &header["__metadata__"];
    assert_eq!(metadata["encoder"], "gcn");
    assert_eq!(metadata["data"], "MUTAG");
    let config: Value = serde_json::from_str(text(metadata, "config")).unwrap();
    assert_eq!(config["d_hidden"], 32);
    assert_eq!(config["n_layers"], 2);
}

/// The header and the numbers of a file of tensors; the header's keys have no order of their own.
fn safetensors(bytes: &[u8]) -> (Value, &[u8]) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let (header, numbers) = bytes[8..].split_at(length);
    (serde_json::from_slice(header).unwrap(), numbers)
}

#[test]
fn the_record_holds_what_the_book_says() {
    let record = rows_of("run");
    let risk = of_book("## An exact risk");
    let floors = of_book("## Accuracy and its floors");

    let at = tempdir().unwrap();
    let records = run(
        at.path(),
        "--seed 0 --epochs 2 --method warm --protocol knn",
        "out",
    );
    let record_of_warm = &records[0];
    assert_eq!(keys(record_of_warm), documented(&record));
    for of in [
        &record_of_warm["start"],
        &record_of_warm["end"],
        &record_of_warm["evaluations"][0]["risk"],
    ] {
        assert_eq!(keys(of), documented(&risk));
    }
    let of_knn = &record_of_warm["knn"];
    assert_eq!(keys(&of_knn["floors"]), documented(&floors));
    let parts = BTreeSet::from(["all", "old", "new"].map(str::to_owned));
    for of in [&record_of_warm["risk"], &of_knn["accuracy"]] {
        assert_eq!(keys(of), parts);
    }
    for floor in documented(&floors) {
        assert_eq!(keys(&of_knn["floors"][floor]), parts);
    }
    for (key, in_text) in [("seconds", "`views_s`"), ("evaluations", "`sample_passes`")] {
        let row = record
            .lines()
            .find(|line| line.starts_with(&format!("| `{key}`")));
        let row = row.unwrap();
        assert!(row.contains(in_text));
        let of = &record_of_warm[key];
        for field in keys(if of.is_array() { &of[0] } else { of }) {
            assert!(row.contains(&format!("`{field}`")), "{key}.{field}");
        }
    }
    assert_eq!(record_of_warm["schema"], 2);
}

#[test]
fn the_numbers_of_a_record_fit_together() {
    let at = tempdir().unwrap();
    let records = run(at.path(), "--seed 0 --epochs 5 --alpha 0.3", "out");
    for record in &records {
        let method = text(record, "method");
        let is_inference = method == "inference";
        // A rule that follows the risk may return the encoder from which the run began.
        let is_first = is_inference || record["best_evaluation"] == 0;
        let change = number(record, "parameter_change");
        assert_eq!(change > 0.0, !is_first, "{method}");
        let epochs = if is_inference { 0.0 } else { 5.0 };
        assert_eq!(number(record, "epochs"), epochs);
        assert_eq!(
            record["epoch_losses"].as_array().unwrap().len(),
            epochs as usize
        );

        let (n_old, n_new) = (number(record, "n_old"), number(record, "n_new"));
        // Of 132 and 56, a tenth of each is held out.
        assert_eq!((n_old, n_new), (119.0, 50.0));
        for (part, n) in [("all", 19.0), ("old", 13.0), ("new", 6.0)] {
            assert_eq!(number(record, &format!("n_held_out.{part}")), n);
            let risk = number(record, &format!("held_out_risk.{part}"));
            let error = number(record, &format!("held_out_risk.standard_error.{part}"));
            assert!(
                risk > 0.0 && error > 0.0 && error < risk,
                "{risk} ± {error}"
            );
        }
        assert_eq!(number(record, "alpha"), n_new / (n_old + n_new));
        // Two views a sample and epoch; fine-tuning sees the new data alone, warm-sub and replay a fifth of the old
        // as well, icl at first half of them or one and a half times the new ones, and distillation the new ones twice.
        let fifth = (0.2 * n_old).round();
        let n_seen = match method {
            "inference" => 0.0,
            "fine-tuning" => n_new,
            "distillation" => 2.0 * n_new,
            "warm-sub" => n_new + fifth,
            "icl" => n_new + (0.5 * n_old).round().max(1.5 * n_new),
            "replay" => n_new + (0.2 * n_old).ceil(),
            // 4 steps an epoch, each of 3 support batches of 16 + 16, and queries of 16 old and, together,
            // all new samples.
            "icl-published" | "icl-published-wo-lrl" | "icl-corrected-wo-lrl" => {
                4.0 * (3.0 * 32.0 + 16.0) + n_new
            }
            _ => n_old + n_new,
        };
        // The agents of the corrected forms compare losses: two passes of at most 6 batches, once in
        // 8 steps.
        let compares = ["icl-corrected", "icl-corrected-wo-m", "warm-lrl"].contains(&method);
        let n_passes = number(record, "sample_passes");
        if compares {
            let least = match method {
                "icl-corrected" => 4.0 * (3.0 * 32.0 + 16.0) + n_new,
                _ => n_old + n_new,
            };
            assert!(n_passes > 2.0 * least * epochs, "{method}: {n_passes}");
            assert!(n_passes < 2.6 * least * epochs, "{method}: {n_passes}");
        } else {
            assert_eq!(n_passes, 2.0 * n_seen * epochs, "{method}");
        }

        // The encoder computes in single precision: 1e-4 on values of about 3 nats.
        let old = number(record, "nce1_old") + number(record, "nce2_old");
        assert_close(number(record, "risk.old"), old, 1e-4);
        let [of_old, of_new] = ["risk.old", "risk.new"].map(|part| number(record, part));
        let all = (n_old * of_old + n_new * of_new) / (n_old + n_new);
        assert_close(number(record, "risk.all"), all, 1e-6);
        assert_close(
            number(record, "end.bound"),
            number(record, "alpha") * number(record, "nce1_old"),
            1e-6,
        );
        assert!(number(record, "end.theorem1_residual") < 1e-4);
        for part in ["all", "old", "new"] {
            assert_eq!(record["risk"][part], record["end"][part]);
        }

        let evaluations = record["evaluations"].as_array().unwrap();
        // An encoder that is kept has its own statistics, and those of X′ in the evaluation.
        let is_kept = text(record, "method") == "inference";
        assert!(is_kept || evaluations[0]["risk"] == record["start"]);
        assert_eq!(evaluations[0]["epoch"], 0);
        let last = &evaluations[evaluations.len() - 1];
        let written = record["best_evaluation"].as_u64();
        let written = written.map_or(last, |at| &evaluations[at as usize]);
        assert!(is_kept || written["risk"] == record["end"]);
        assert_eq!(last["epoch"], record["epochs"]);

        let reached = ["epochs_to_target", "passes_to_target", "time_to_target_s"];
        let n_null = reached.iter().filter(|key| record[**key].is_null()).count();
        assert!(n_null == 0 || n_null == reached.len(), "{method}");
        assert_eq!(record["target"], records[0]["target"]);
        for part in ["all", "old", "new"] {
            let [of_knn, of_probe] = [&record["knn"], &record["linear_probe"]];
            for accuracy in [&of_knn["accuracy"], &of_probe["floors"]["untrained"]] {
                assert!((0.0..=1.0).contains(&number(accuracy, part)));
            }
        }
        for (key, seconds) in record["seconds"].as_object().unwrap() {
            assert!(key.ends_with("_s") && seconds.as_f64().unwrap() >= 0.0);
        }
    }
    assert!(number(&records[0], "target") > 0.0);
    // All but retraining start from θ₀, and all but icl measure it with statistics of X′.
    for record in &records {
        let [first, of] = [record, &records[0]].map(|it| &it["evaluations"][0]["risk"]);
        let is_same = first == of;
        let differs = ["retraining", "icl"].contains(&text(record, "method"));
        assert_eq!(is_same, !differs);
    }
}

#[track_caller]
fn assert_close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within, "{a} is not {b} within {within}");
}

#[test]
fn without_retraining_there_is_no_target() {
    let at = tempdir().unwrap();
    let records = run(
        at.path(),
        "--seed 0 --epochs 2 --method warm --method warm",
        "out",
    );
    assert_eq!(records.len(), 1, "a method that is named twice runs once");
    for key in [
        "target",
        "epochs_to_target",
        "passes_to_target",
        "time_to_target_s",
    ] {
        assert!(records[0][key].is_null(), "{key}");
    }
}

#[test]
fn a_data_set_on_the_disk_is_the_embedded_one() {
    let at = tempdir().unwrap();
    let zip = concat!(env!("CARGO_MANIFEST_DIR"), "/../icl-data/data/MUTAG.zip");
    // A path with a space, and letters beyond ASCII.
    let copy = at.path().join("my dätä.zip");
    fs::copy(zip, &copy).unwrap();
    let options = split("run --seed 0 --epochs 2 --method warm --out disk --data");
    let mut options: Vec<_> = options.into_iter().map(std::ffi::OsStr::new).collect();
    options.push(copy.as_os_str());
    icl(at.path(), &options).succeeded();
    run(
        at.path(),
        "--seed 0 --epochs 2 --method warm --data mutag",
        "embedded",
    );
    let [disk, embedded] = ["disk", "embedded"].map(|out| {
        let mut records = timeless(&at.path().join(out));
        for record in &mut records {
            record.as_object_mut().unwrap().remove("command").unwrap();
        }
        records
    });
    assert_eq!(disk, embedded);
}

/// Two graphs on one side are the least; a batch may be larger than the data; the largest sizes are legal.
#[test]
fn odd_numbers_that_are_legal() {
    let at = tempdir().unwrap();
    for (index, options) in [
        "--epochs 2 --alpha 0.011",
        "--epochs 2 --alpha 0.99",
        "--epochs 2 --alpha 0.02 --split size",
        "--epochs 2 --alpha 0.98 --split class",
        "--epochs 2 --batch-size 4",
        "--epochs 2 --batch-size 65536",
        "--epochs 2 --temperature 1e-3 --negatives 1e9",
        "--epochs 2 --average-decay 0",
        "--epochs 1000000 --stop exact-risk --patience 1 --evaluate-every 1 --learning-rate 1e-30",
        "--epochs 2 --patience 1000000",
        "--epochs 2 --seed 18446744073709551615",
    ]
    .into_iter()
    .enumerate()
    {
        let seed = if options.contains("--seed") {
            ""
        } else {
            "--seed 0"
        };
        let options = format!("{options} {seed} --method warm --method fine-tuning");
        let records = run(at.path(), &options, &index.to_string());
        assert_eq!(records.len(), 2, "{options}");
        let change = number(&records[0], "parameter_change");
        assert!(change.is_finite(), "{options}");
    }
}

#[test]
fn protocols_are_chosen() {
    let at = tempdir().unwrap();
    let options = "--seed 0 --epochs 1 --method warm --protocol";
    let records = run(at.path(), &format!("{options} few-labels,knn"), "two");
    assert!(records[0]["linear_probe"].is_null());
    for protocol in ["few_labels", "knn"] {
        let accuracy = &records[0][protocol]["accuracy"];
        assert!((0.0..=1.0).contains(&number(accuracy, "all")));
    }
    let records = run(at.path(), &format!("{options} none"), "none");
    assert!(records[0]["knn"].is_null() && records[0]["few_labels"].is_null());
    let report = fs::read_to_string(at.path().join("none").join("report.html")).unwrap();
    assert!(report.contains("No accuracy was measured"));
    let config = fs::read_to_string(at.path().join("two").join("config.toml")).unwrap();
    assert!(
        config.contains("protocol = [\"few-labels\", \"knn\"]"),
        "{config}"
    );

    let line = format!("run {options} none,knn --out other");
    icl(at.path(), &split(&line))
        .rejected("protocol: found none together with knn, expected none alone");
    assert!(!at.path().join("other").exists());
}
