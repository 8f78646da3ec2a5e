//! `icl update`: a first encoder, an update, what it writes, and what it rejects.

use std::fs;
use std::path::Path;

use crate::support::toys::{NEW, OLD, Toys};
use crate::support::{
    contents, documented, icl, keys, names, number, of_book, record, split, text, timeless_record,
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
    let ran = update(at.path(), &format!("{DATA} --seed 3 --epochs 60 --out out")).succeeded();
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
    // Of 60 and 40, a tenth of each is held out.
    assert_eq!(counts, [54.0, 36.0, 0.4, 3.0]);
    for (part, n) in [("all", 10.0), ("old", 6.0), ("new", 4.0)] {
        assert_eq!(number(&record, &format!("n_held_out.{part}")), n);
        for key in ["held_out_before", "held_out_risk"] {
            let risk = number(&record, &format!("{key}.{part}"));
            let error = number(&record, &format!("{key}.standard_error.{part}"));
            assert!(risk > 0.0 && error > 0.0, "{key}.{part}: {risk} ± {error}");
        }
    }
    let cost = &record["cost"];
    let charged = [
        "training", "teacher", "support", "agents", "pilot", "steering",
    ];
    let charged: f64 = charged.iter().map(|key| number(cost, key)).sum();
    assert_eq!(number(&record, "charged_passes"), charged);
    assert!(charged > number(&record, "sample_passes"));
    for part in ["all", "new"] {
        let [before, after] = ["before", "after"].map(|at| number(&record[at], part));
        assert!(after < before, "{part}: {before} to {after}");
    }
    assert!(number(&record, "parameter_change") > 0.0);
    assert!(tensors(&first, "weight") != tensors(&out, "weight"));

    // Its numbers fit together.
    let evaluations = record["evaluations"].as_array().unwrap();
    let last = &evaluations[evaluations.len() - 1];
    assert_eq!(evaluations[0]["risk"], record["before"]);
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
    let mut before = Vec::new();
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
        let is_from_scratch = text(method, "start") == "scratch";
        assert_eq!(
            record["evaluations"][0]["risk"] == record["before"],
            !is_from_scratch
        );
        before.push(record["before"].clone());
    }
    // Before is the encoder that came in, whatever the method starts from.
    assert!(before.iter().all(|risk| *risk == before[0]));
}

/// Only the statistics of normalisation are those of all data then.
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
    assert!(tensors(&first, "weight") == tensors(&out, "weight"));
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
    let book = of_book("### What an update writes");
    let (_, fields) = book.split_once("| field |").unwrap();
    assert_eq!(keys(&record), documented(fields));
    for (key, of) in [
        ("neighbours_kept", &record["neighbours_kept"]),
        ("evaluations", &record["evaluations"][0]),
    ] {
        let row = fields
            .lines()
            .find(|line| line.starts_with(&format!("| `{key}`")));
        for field in keys(of) {
            assert!(
                row.unwrap().contains(&format!("`{field}`")),
                "{key}.{field}"
            );
        }
    }
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

#[test]
fn what_it_rejects() {
    let at = toys();
    Toys { n_labels: 4, ..NEW }.write(at.path(), "MORE");
    Toys { n_labels: 0, ..NEW }.write(at.path(), "BARE");
    Toys { n: 1, ..NEW }.write(at.path(), "ONE");
    fs::write(at.path().join("no.safetensors"), "not an encoder").unwrap();
    fs::write(at.path().join("c.toml"), "old = \"OLD\"\nalpha = 0.5\n").unwrap();
    let before = (names(at.path()), contents(&at.path().join("first")));
    let from = "--from first/encoder.safetensors";
    for (options, message) in [
        (
            format!("{DATA} --method no-such --out out"),
            "method: found \"no-such\", expected one of inference, ",
        ),
        (
            "--from no-such.safetensors --old OLD --new NEW --out out".into(),
            "no-such.safetensors: found no readable file",
        ),
        (
            "--from no.safetensors --old OLD --new NEW --out out".into(),
            "no.safetensors: found ",
        ),
        (
            format!("{from} --old no-such --new NEW --out out"),
            "no-such: found no such file or folder",
        ),
        (
            format!("{from} --old OLD --new no-such --out out"),
            "no-such: found no such file or folder",
        ),
        (
            format!("{from} --old MUTAG --new MUTAG --out out"),
            "found node features of width 7",
        ),
        (
            format!("{from} --old OLD --new MORE --out out"),
            "found node label 3 only in the second",
        ),
        (
            format!("{from} --old OLD --new BARE --out out"),
            "found node features of widths 3 and 5",
        ),
        (
            format!("{from} --old OLD --new ONE --out out"),
            "\"ONE\": found 1 graph",
        ),
        (
            format!("{DATA} --out first"),
            "found the encoder itself at first/encoder.safetensors",
        ),
        (
            format!("{DATA} --out first --force"),
            "found the encoder itself at",
        ),
        (format!("{DATA} --out OLD"), "out: found files in OLD"),
        (
            format!("{DATA} --out no.safetensors"),
            "out: found a file at no.safetensors",
        ),
        (
            format!("{DATA} --out out --epochs 0"),
            "epochs: found 0, expected at least 1",
        ),
        (
            format!("{DATA} --out out --support-learning-rate 0"),
            "support-learning-rate: found 0, expected a number above 0",
        ),
        (
            format!("{DATA} --out out --replay-size 0"),
            "replay-size: found 0, expected at least 1",
        ),
        (
            format!("{DATA} --out out --method icl-corrected --old-queue 1"),
            "old-queue: found 1, expected at least 2",
        ),
        (
            format!("{DATA} --out out --old-queue 64"),
            "old-queue: found 64 and no method that separates old from new noise, expected one of icl-published,",
        ),
        (
            format!("{DATA} --out out --backend abacus"),
            "backend: found \"abacus\"",
        ),
        (
            "--resume no-such".into(),
            "resume: found no interrupted work in no-such",
        ),
    ] {
        update(at.path(), &options).rejected(message);
    }
    for (options, message) in [
        (
            format!("--config c.toml {DATA} --out out"),
            "c.toml, line 2, column 1: found the key \"alpha\", expected an option of `icl update`",
        ),
        (DATA.into(), "--out <DIR>"),
        (
            "--old OLD --new NEW --out out".into(),
            "--from <ENCODER.safetensors>",
        ),
        (format!("{from} --new NEW --out out"), "--old <DATA>"),
        (format!("{from} --old OLD --out out"), "--new <DATA>"),
        ("--resume out --old OLD".into(), "cannot be used with"),
        (
            format!("{DATA} --out out --meta-order third"),
            "[possible values: first, second]",
        ),
    ] {
        update(at.path(), &options).rejected_at_length(message);
    }
    let after = (names(at.path()), contents(&at.path().join("first")));
    assert!(before == after, "{:?}", after.0);
}

/// A data set without a name of its own.
#[test]
fn empty_names_are_rejected() {
    let at = tempdir().unwrap();
    let line = split("update --from e.safetensors --new NEW --out out --old");
    let mut arguments = line.clone();
    arguments.push("");
    icl(at.path(), &arguments).rejected_at_length("--old <DATA>");
    assert!(names(at.path()).is_empty());
}

/// Some seconds of training.
#[cfg(unix)]
const LONG: &str = "update --from first/encoder.safetensors --old OLD --new NEW --seed 1 \
                    --epochs 1500 --stop never";

/// That the folder `out` holds what an update without interruption writes in `whole`.
#[cfg(unix)]
#[track_caller]
fn is_whole(at: &Path, whole: &str, out: &str) {
    let [whole, out] = [whole, out].map(|out| at.join(out));
    assert_eq!(names(&out), FILES);
    assert_eq!(timeless_record(&out), timeless_record(&whole));
    assert!(contents(&out)["encoder.safetensors"] == contents(&whole)["encoder.safetensors"]);
}

#[cfg(unix)]
#[test]
fn it_goes_on_after_an_interruption() {
    use crate::support::stopped::{begin, interrupt, kill};

    let at = toys();
    icl(at.path(), &split(&format!("{LONG} --out whole"))).succeeded();
    for (out, name) in [("soon", "config.toml"), ("late", "training.checkpoint")] {
        let ran = interrupt(begin(at.path(), &format!("{LONG} --out {out}"), out, name));
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        let last = ran.stderr.lines().last().unwrap();
        assert!(
            last.ends_with(&format!("`icl update --resume {out}` continues it")),
            "{last}"
        );
        assert_eq!(names(&at.path().join(out)), [".checkpoint"]);
        let ran = update(at.path(), &format!("--resume {out}")).succeeded();
        assert!(
            ran.stdout.ends_with(&format!("\nwritten to {out}\n")),
            "{}",
            ran.stdout
        );
        is_whole(at.path(), "whole", out);
    }
    kill(begin(
        at.path(),
        &format!("{LONG} --out killed"),
        "killed",
        "config.toml",
    ));
    kill(begin(
        at.path(),
        "update --resume killed",
        "killed",
        "training.checkpoint",
    ));
    update(at.path(), "--resume killed").succeeded();
    is_whole(at.path(), "whole", "killed");
}

/// Retraining begins with an encoder of its own, and is measured against the one that came in.
#[cfg(unix)]
#[test]
fn it_goes_on_with_the_same_input_only() {
    use crate::support::stopped::{begin, interrupt};

    let at = toys();
    let line = format!("{LONG} --method retraining");
    icl(at.path(), &split(&format!("{line} --out whole"))).succeeded();
    let child = begin(
        at.path(),
        &format!("{line} --out out"),
        "out",
        "training.input",
    );
    assert_eq!(interrupt(child).code, Some(130));
    let before = contents(&at.path().join("out/.checkpoint"));

    Toys { n: 41, ..NEW }.write(at.path(), "NEW");
    update(at.path(), "--resume out").rejected("checksum of the new data is ");
    NEW.write(at.path(), "NEW");
    Toys { size: 6, ..OLD }.write(at.path(), "OLD");
    update(at.path(), "--resume out").rejected("checksum of the old data is ");
    OLD.write(at.path(), "OLD");
    let from = at.path().join("first/encoder.safetensors");
    let encoder = fs::read(&from).unwrap();
    icl(
        at.path(),
        &split("train --data OLD --seed 4 --epochs 1 --out first --force"),
    )
    .succeeded();
    update(at.path(), "--resume out").rejected("checksum of the encoder is ");
    fs::write(&from, encoder).unwrap();

    assert_eq!(contents(&at.path().join("out/.checkpoint")), before);
    update(at.path(), "--resume out").succeeded();
    is_whole(at.path(), "whole", "out");
}

/// Its weights are finite, and the embeddings by them are not.
#[test]
fn an_encoder_that_overflows_is_named() {
    let at = toys();
    let path = at.path().join("first/encoder.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    for (name, info) in header.as_object().unwrap() {
        if name.ends_with("weight") {
            let [begin, end] = [0, 1].map(|at| info["data_offsets"][at].as_u64().unwrap() as usize);
            let numbers = &mut bytes[8 + length..][begin..end];
            numbers
                .chunks_exact_mut(4)
                .for_each(|it| it.copy_from_slice(&3e38_f32.to_le_bytes()));
        }
    }
    fs::write(&path, bytes).unwrap();
    for method in ["icl", "warm", "inference", "distillation"] {
        let ran = update(
            at.path(),
            &format!("{DATA} --method {method} --epochs 2 --out out"),
        );
        ran.rejected_in_last_line(
            "expected a finite number; it depends on first/encoder.safetensors, temperature 0.1, negatives 31",
        );
        assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
        assert!(!at.path().join("out").exists());
    }
}
