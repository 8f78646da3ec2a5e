//! `icl run` with several budgets, and with a number of held-out samples.

use std::fs;

use serde_json::Value;
use tempfile::tempdir;

use crate::run::run;
use crate::support::{icl, number, split, text};

const LINE: &str = "--data digits-table --encoder mlp --width 16 --split class:0,1,2,3,4,5,6,7 --alpha 0.1 \
                    --hold-out-samples 60 --epochs 3 --stop never --batch-size 64 --protocol none --seeds 2 \
                    --method inference --method icl --method retraining";

/// A budget is spent in as many epochs of few samples as it is worth: `--epochs` are those of retraining.
#[test]
fn a_budget_is_worth_more_epochs_of_fewer_samples() {
    let at = tempdir().unwrap();
    let line = LINE.replace("--method icl", "--method fine-tuning");
    let line = line.replace("--seeds 2", "--seed 0");
    let records = run(at.path(), &format!("{line} --budget 50%"), "out");
    let find = |method: &str| records.iter().find(|it| it["method"] == method).unwrap();
    let [tuned, whole] = ["fine-tuning", "retraining"].map(find);
    assert_eq!(number(whole, "epochs"), 3.0);
    // A tenth of the samples are new.
    let epochs = number(tuned, "epochs");
    assert!((12.0..=15.0).contains(&epochs), "{epochs} epochs");
    let share = number(tuned, "charged_passes") / number(whole, "charged_passes");
    assert!((0.4..=0.5).contains(&share), "{share}");
}

#[test]
fn every_method_runs_within_every_budget() {
    let at = tempdir().unwrap();
    let records = run(at.path(), &format!("{LINE} --budget 20%,60%"), "out");
    let of_first_seed = records.iter().filter(|it| it["seed"] == 0);
    let names: Vec<&str> = of_first_seed.map(|it| text(it, "method")).collect();
    let expected = [
        "inference",
        "retraining",
        "retraining@20%",
        "retraining@60%",
        "icl@20%",
        "icl@60%",
    ];
    assert_eq!(names, expected);
    let find = |method: &str, seed: u64| {
        let mut records = records.iter();
        let found = records.find(|it| it["method"] == method && it["seed"] == seed);
        found.unwrap()
    };
    for record in &records {
        let (n_old, n_new) = (number(record, "n_old"), number(record, "n_new"));
        assert!(
            (n_new / (n_old + n_new) - 0.1).abs() < 1e-3,
            "{n_old}, {n_new}"
        );
        for part in ["old", "new"] {
            assert_eq!(number(&record["n_held_out"], part), 60.0);
        }
        let passes = number(record, "charged_passes");
        let whole = number(
            find("retraining", record["seed"].as_u64().unwrap()),
            "charged_passes",
        );
        match record["budget"].as_str() {
            Some("20%") => assert!(passes <= 0.21 * whole, "{passes} of {whole}"),
            Some("60%") => assert!(passes <= 0.63 * whole && passes > 0.21 * whole),
            other => assert_eq!(other, None),
        }
    }
    let path = at.path().join("out/comparison.json");
    let comparison: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let within = comparison["within_budgets"].as_array().unwrap();
    assert_eq!(within.len(), 5);
    let of = within
        .iter()
        .find(|it| it["method"] == "icl" && it["budget"] == "60%");
    for part in ["old", "new"] {
        let excess = [0, 1].map(|seed| {
            let risk = |method| number(&find(method, seed)["held_out_risk"], part);
            risk("icl@60%") / risk("retraining") - 1.0
        });
        let found = number(&of.unwrap()[part], "mean");
        assert!(
            (found - (excess[0] + excess[1]) / 2.0).abs() < 1e-12,
            "{found}"
        );
    }
    let page = fs::read_to_string(at.path().join("out/report.html")).unwrap();
    assert!(page.contains("Quality at each budget"));
}

/// A run within one of several budgets is that within this budget alone.
#[test]
fn budgets_do_not_depend_on_one_another() {
    let at = tempdir().unwrap();
    let line = LINE.replace("--seeds 2", "--seed 1");
    let several = run(at.path(), &format!("{line} --budget 20%,60%"), "several");
    let one = run(at.path(), &format!("{line} --budget 60%"), "one");
    let risk = |records: &[Value], method: &str| {
        let record = records.iter().find(|it| it["method"] == method);
        record.unwrap()["held_out_risk"].clone()
    };
    for (name, alone) in [
        ("icl@60%", "icl"),
        ("retraining@60%", "retraining@60%"),
        ("retraining", "retraining"),
    ] {
        assert_eq!(risk(&several, name), risk(&one, alone), "{name}");
    }
}

#[test]
fn what_cannot_be_divided_or_limited() {
    let at = tempdir().unwrap();
    for (options, message) in [
        (
            "--budget 10m",
            "budget: found 10m, expected shares of retraining",
        ),
        (
            "--budget 5%,5%",
            "budget: found 5% twice, expected each budget once",
        ),
        (
            "--budget 5%,none",
            "budget: found none, expected shares of retraining",
        ),
        (
            "--hold-out-samples 1",
            "hold-out-samples: found 1 with 94 old and 94 new samples, expected from 2 to 92",
        ),
        (
            "--hold-out-samples 93",
            "hold-out-samples: found 93 with 94 old and 94 new samples, expected from 2 to 92",
        ),
        (
            "--hold-out-samples 80 --alpha 0.99",
            "hold-out-samples: found 80 with 2 old",
        ),
    ] {
        let line = format!("run --data MUTAG --seed 1 {options} --out out");
        icl(at.path(), &split(&line)).rejected_in_last_line(message);
    }
    icl(
        at.path(),
        &split("run --hold-out 0.1 --hold-out-samples 4 --out out"),
    )
    .rejected_at_length("cannot be used with");
}

/// To keep θ₀ is to use it with its own statistics of normalisation. To re-estimate them over all data is another
/// method.
#[test]
fn an_encoder_that_is_kept_has_its_own_statistics() {
    let at = tempdir().unwrap();
    let line = LINE.replace("--method icl", "--method start=statistics,loss=none");
    let line = line.replace("--seeds 2", "--seed 0");
    let records = run(at.path(), &line, "out");
    let methods: Vec<&str> = records.iter().map(|it| text(it, "method")).collect();
    let [kept, restated] = ["inference", "start=statistics"].map(|name| {
        let place = methods.iter().position(|it| it.starts_with(name)).unwrap();
        &records[place]
    });
    assert_eq!(number(kept, "charged_passes"), 0.0);
    assert!(number(&restated["cost"], "statistics") > 0.0);
    assert_eq!(
        number(restated, "charged_passes"),
        number(&restated["cost"], "statistics")
    );
    let risk = |of: &Value| number(&of["held_out_risk"], "new");
    assert_ne!(risk(kept), risk(restated));
    // θ₀'s file is that of the encoder that is kept.
    let encoder = |name: &str| {
        fs::read(
            at.path()
                .join(format!("out/encoder-{name}-seed0.safetensors")),
        )
    };
    let tensors = |bytes: Vec<u8>| {
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let mut all: Vec<(String, Vec<u8>)> = file
            .iter()
            .map(|(name, tensor)| (name.to_owned(), tensor.data().to_vec()))
            .collect();
        all.sort_unstable();
        all
    };
    let [first, kept] = ["theta0", "inference"].map(|name| tensors(encoder(name).unwrap()));
    assert!(first == kept, "the tensors are those of θ₀");
}
