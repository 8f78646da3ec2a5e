//! Budgets of an update: what it may cost, and what it says of its cost.

use std::fs;
use std::path::Path;

use icl_models::StoredEncoder;
use tempfile::tempdir;

use crate::support::{Ran, icl, number, record, split};

/// Trains a first encoder, and returns the cost of its training per sample.
fn first(at: &Path) -> f64 {
    let row = |i: usize| format!("{},{},{}\n", i % 7, (i * i) % 11, (i * 3) % 5);
    let table =
        |range: std::ops::Range<usize>| "a,b,c\n".to_owned() + &range.map(row).collect::<String>();
    fs::write(at.join("old.csv"), table(0..300)).unwrap();
    fs::write(at.join("new.csv"), table(300..360)).unwrap();
    let train = "train --data old.csv --epochs 40 --stop never --layers 1 --width 8 --out first";
    icl(at, &split(train)).succeeded();
    let record = record(&at.join("first"));
    number(&record, "charged_passes") / number(&record, "n")
}

fn update(at: &Path, options: &str) -> Ran {
    let line = format!(
        "update --from first/encoder.safetensors --old old.csv --new new.csv --accept {options}"
    );
    icl(at, &split(&line))
}

#[test]
fn an_update_costs_no_more_than_its_budget() {
    let at = tempdir().unwrap();
    let at = at.path();
    let of_each = first(at);
    let stored = StoredEncoder::open(&at.join("first/encoder.safetensors")).unwrap();
    let passes: f64 = stored.get("passes-per-sample").unwrap().parse().unwrap();
    assert!((passes - of_each).abs() < 1e-9);

    let ran = update(at, "--stop never --budget 25% --out share").succeeded();
    let share = record(&at.join("share"));
    let samples = number(&share, "n_old") + number(&share, "n_new");
    let retraining = number(&share, "retraining_passes");
    assert!((retraining - of_each * samples).abs() < 1e-6);
    let charged = number(&share, "charged_passes");
    assert!(
        charged <= 0.25 * retraining && charged > 0.2 * retraining,
        "{charged}"
    );
    assert_eq!(share["stopped_by"], "budget");
    assert!(
        ran.stderr.contains("25.0 % of what retraining would cost"),
        "{}",
        ran.stderr
    );
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("of retraining's cost (") && said.contains("Held-out risk: old "),
        "{said}"
    );
    // The updated encoder goes back to the same training.
    let stored = StoredEncoder::open(&at.join("share/encoder.safetensors")).unwrap();
    assert_eq!(stored.get("passes-per-sample"), Some(&*passes.to_string()));

    // Without the option it is a tenth, and for a method that starts from scratch none.
    for (options, expected, stopped_by) in [
        ("", "10%", "budget"),
        (
            "--stop never --epochs 3 --method retraining",
            "none",
            "epochs",
        ),
    ] {
        let out = format!("default-{stopped_by}");
        update(at, &format!("{options} --out {out}")).succeeded();
        assert_eq!(config(&at.join(&out), "budget"), expected);
        assert_eq!(record(&at.join(out))["stopped_by"], stopped_by);
    }
    let charged = number(&record(&at.join("default-budget")), "charged_passes");
    assert!(charged <= 0.1 * retraining, "{charged}");

    for budget in ["900", "0.001m"] {
        let out = budget.replace('.', "-");
        let ran = update(at, &format!("--stop never --budget {budget} --out {out}")).succeeded();
        assert!(ran.stderr.contains("budget: "), "{}", ran.stderr);
        assert_eq!(record(&at.join(out))["stopped_by"], "budget");
    }
    let charged = number(&record(&at.join("900")), "charged_passes");
    assert!(charged <= 900.0 && charged > 700.0, "{charged}");
}

#[test]
fn a_budget_that_cannot_be_is_refused() {
    let at = tempdir().unwrap();
    let at = at.path();
    first(at);
    for budget in ["0", "-5", "ten", "0%", "NaN", "5h"] {
        let ran = update(at, &format!("--budget={budget} --out o"));
        assert_eq!(ran.code, Some(2), "{budget}");
        assert!(
            ran.stderr
                .contains("expected a share of retraining such as 10%"),
            "{}",
            ran.stderr
        );
        assert!(!at.join("o").exists());
    }
}

#[test]
fn more_goes_on_to_twice_the_budget() {
    let at = tempdir().unwrap();
    let at = at.path();
    first(at);
    // The course of `warm` does not follow the budget: both ways give the same encoder.
    let options = "--stop never --method warm --budget";
    update(at, &format!("{options} 3000 --out twice")).succeeded();
    update(at, &format!("{options} 6000 --out whole")).succeeded();
    let [half, whole] = ["twice", "whole"].map(|out| record(&at.join(out)));
    let more = |out: &str| icl(at, &split(&format!("update --more {out}")));
    let ran = more("twice").succeeded();
    let twice = record(&at.join("twice"));
    assert!(number(&twice, "charged_passes") > 1.5 * number(&half, "charged_passes"));
    assert_eq!(twice["charged_passes"], whole["charged_passes"]);
    assert_eq!(config(&at.join("twice"), "budget"), "6000");
    let encoder = |out: &str| fs::read(at.join(out).join("encoder.safetensors")).unwrap();
    assert!(encoder("twice") == encoder("whole"));
    assert!(!ran.stderr.contains("smaller budget"), "{}", ran.stderr);

    // That of `icl` does.
    update(at, "--stop never --budget 3000 --out course").succeeded();
    let ran = more("course").succeeded();
    assert!(
        ran.stderr
            .contains("followed the course of the smaller budget"),
        "{}",
        ran.stderr
    );
    more("course").succeeded();
    assert_eq!(config(&at.join("course"), "budget"), "12000");

    update(at, "--stop never --budget none --epochs 2 --out none").succeeded();
    fs::remove_file(at.join("whole/training.checkpoint")).unwrap();
    for (out, found) in [
        ("none", "found an update without a budget"),
        ("whole", "found no whole/training.checkpoint"),
        ("absent", "found no complete update in absent"),
        ("first", "first/config.toml, line "),
    ] {
        let before = files(&at.join(out));
        let ran = more(out);
        assert_eq!(ran.code, Some(2), "{out}: {}", ran.stderr);
        assert!(ran.stderr.contains(found), "{out}: {}", ran.stderr);
        assert!(files(&at.join(out)) == before);
    }
}

/// Names and contents of the files of a folder.
fn files(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let entries = folder.read_dir().into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .map(|path| (path.clone(), fs::read(path).unwrap_or_default()))
        .collect();
    files.sort();
    files
}

/// Value of a text in `config.toml`.
fn config(folder: &Path, key: &str) -> String {
    let text = fs::read_to_string(folder.join("config.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    table[key].as_str().unwrap().to_owned()
}
