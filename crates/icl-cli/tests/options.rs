//! Every flag that cannot be gives its one error and leaves nothing behind.

use crate::support::{METHODS, icl, names, split};
use tempfile::tempdir;

const QUICK: &str = "run --epochs 1 --method warm";

#[test]
fn values_out_of_range() {
    let at = tempdir().unwrap();
    let ratio = "expected a number from 0 to 1";
    let positive = "expected a number above 0";
    let decay = "expected a number from 0 to below 1";
    for (flags, message) in [
        ("--alpha 1.5", format!("alpha: found 1.5, {ratio}")),
        ("--alpha -0.1", format!("alpha: found -0.1, {ratio}")),
        ("--alpha nan", format!("alpha: found NaN, {ratio}")),
        ("--alpha inf", format!("alpha: found inf, {ratio}")),
        ("--epochs 0", "epochs: found 0, expected at least 1".into()),
        (
            "--batch-size 1",
            "batch-size: found 1, expected at least 4".into(),
        ),
        (
            "--batch-size 3",
            "batch-size: found 3, expected at least 4".into(),
        ),
        (
            "--learning-rate 0",
            format!("learning-rate: found 0, {positive}"),
        ),
        (
            "--learning-rate -0.5",
            format!("learning-rate: found -0.5, {positive}"),
        ),
        (
            "--temperature 0",
            format!("temperature: found 0, {positive}"),
        ),
        (
            "--temperature -1",
            format!("temperature: found -1, {positive}"),
        ),
        (
            "--temperature nan",
            format!("temperature: found NaN, {positive}"),
        ),
        ("--negatives -1", format!("negatives: found -1, {positive}")),
        ("--k 0", format!("negatives: found 0, {positive}")),
        (
            "--patience 0",
            "patience: found 0, expected at least 1".into(),
        ),
        (
            "--evaluate-every 0",
            "evaluate-every: found 0, expected at least 1".into(),
        ),
        (
            "--average-decay 1",
            format!("average-decay: found 1, {decay}"),
        ),
        (
            "--average-decay -0.5",
            format!("average-decay: found -0.5, {decay}"),
        ),
        (
            "--average-decay nan",
            format!("average-decay: found NaN, {decay}"),
        ),
        ("--seeds 0", "seeds: found 0, expected at least 1".into()),
    ] {
        icl(at.path(), &split(&format!("run --method warm {flags}"))).rejected(&message);
    }
    icl(at.path(), &split("run --method warm --split odd"))
        .rejected_at_length("split: found \"odd\", expected `random`, `size`, `class`");
    assert!(names(at.path()).is_empty());
}

#[test]
fn names_that_nothing_has() {
    let at = tempdir().unwrap();
    for (flags, message) in [
        (
            "--method no-such",
            &format!(
                "method: found \"no-such\", expected one of {}",
                METHODS.join(", ")
            )[..],
        ),
        (
            "--backend abacus",
            "backend: found \"abacus\", expected one of",
        ),
        ("--data no-such", "no-such: found no such file or folder"),
        ("--data .", "found an empty folder, expected a TU data set"),
    ] {
        icl(at.path(), &split(&format!("{QUICK} {flags}"))).rejected(message);
    }
    for (flags, similar) in [
        ("--method wram", "warm"),
        ("--method warm,retrain", "retraining"),
        ("--methods ilc", "icl"),
        ("--data mutga", "MUTAG"),
    ] {
        icl(at.path(), &split(&format!("run {flags}")))
            .rejected(&format!(" (did you mean {similar}?)"));
    }
    icl(at.path(), &["fetch", "MNSIT"]).rejected(" (did you mean MNIST?)");
    for (line, tip) in [
        ("trian", "some similar subcommands exist: 'stream', 'train'"),
        ("run --epoch 3", "a similar argument exists: '--epochs'"),
        (
            "update",
            "--new <DATA>... --from <ENCODER.safetensors> --out <DIR>",
        ),
    ] {
        icl(at.path(), &split(line)).rejected_at_length(tip);
    }
    icl(at.path(), &["run", "--data", ""]).rejected("data: found no name");
    assert!(names(at.path()).is_empty());
}

#[test]
fn splits_that_leave_a_side_empty() {
    let at = tempdir().unwrap();
    for (alpha, found) in [
        ("0", "188 old and 0 new"),
        ("1", "0 old and 188 new"),
        ("0.005", "187 old and 1 new"),
        ("0.995", "1 old and 187 new"),
    ] {
        for split_by in ["random", "size", "class"] {
            let line = format!("{QUICK} --alpha {alpha} --split {split_by}");
            icl(at.path(), &split(&line)).rejected(&format!(
                "split `{split_by}` at alpha {alpha}: found {found} of 188 samples, expected at \
                 least 2 of each"
            ));
        }
    }
    assert!(names(at.path()).is_empty());
}

/// Sizes beyond their bounds would end in an allocation that fails.
#[test]
fn sizes_beyond_their_bounds() {
    let at = tempdir().unwrap();
    for (option, largest) in [
        ("projection", "8192"),
        ("width", "8192"),
        ("layers", "1024"),
        ("image-size", "2048"),
        ("image-cache", "4194304"),
        ("limit", "4294967295"),
        ("evaluation-samples", "4294967295"),
        ("monitor-samples", "4294967295"),
        ("replay-size", "4294967295"),
        ("batch-size", "65536"),
        ("epochs", "1000000"),
        ("patience", "1000000"),
        ("evaluate-every", "1000000"),
        ("seeds", "10000"),
    ] {
        let above: u64 = largest.parse::<u64>().unwrap() + 1;
        for found in [above, u64::MAX] {
            icl(
                at.path(),
                &split(&format!("run --{option} {found} --out out")),
            )
            .rejected_at_length(&format!("invalid value '{found}' for '--{option} <"));
            std::fs::write(at.path().join("c.toml"), format!("{option} = {above}\n")).unwrap();
            let ran = icl(at.path(), &split("run --config c.toml --out out"));
            ran.rejected(&format!("c.toml, line 1, column {}: ", option.len() + 4));
            assert!(
                ran.stderr
                    .contains(&format!("found \"{above}\", expected a ")),
                "{}",
                ran.stderr
            );
            assert!(
                ran.stderr.contains(&format!(" from 0 to {largest}")),
                "{}",
                ran.stderr
            );
        }
    }
    for line in [
        "run --layers 1024 --width 8192",
        "run --encoder gin --width 8192 --projection 8192 --layers 40",
        "run --data digits --image-size 2048 --encoder mlp --width 8192",
        "run --data digits-table --layers 1000 --width 8192",
        "run --noise hidden --layers 100 --width 8192",
    ] {
        icl(at.path(), &split(&format!("{line} --out out"))).rejected("weights with these layers");
    }
    std::fs::remove_file(at.path().join("c.toml")).unwrap();
    assert!(names(at.path()).is_empty());
}

#[test]
fn numbers_beyond_their_bounds() {
    let at = tempdir().unwrap();
    for (line, option, bounds, wrong) in [
        ("run", "learning-rate", "1e-30 to 1e4", ["1e308", "1e-320"]),
        (
            "run",
            "support-learning-rate",
            "1e-30 to 1e4",
            ["inf", "1e-31"],
        ),
        ("run", "temperature", "1e-4 to 1e4", ["1e5", "1e-320"]),
        ("run", "negatives", "1e-9 to 1e9", ["1.1e9", "1e-10"]),
        (
            "run",
            "distillation-weight",
            "1e-9 to 1e9",
            ["1e10", "1e-10"],
        ),
        ("run", "min-gain", "1e-30 to 1e0", ["1.5", "-inf"]),
        ("run", "sigma", "1e-30 to 1e3", ["1001", "-1e38"]),
        ("train", "learning-rate", "1e-30 to 1e4", ["1e5", "1e-40"]),
        ("update", "temperature", "1e-4 to 1e4", ["1e5", "1e-5"]),
    ] {
        for found in wrong {
            let expected = format!("expected a number from {bounds}");
            let ran = icl(
                at.path(),
                &split(&format!("{line} --{option}={found} --out out")),
            );
            ran.rejected_at_length(&format!("invalid value '{found}' for '--{option} <"));
            assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
            if found.ends_with("inf") {
                continue;
            }
            std::fs::write(at.path().join("c.toml"), format!("{option} = {found}\n")).unwrap();
            let ran = icl(
                at.path(),
                &split(&format!("{line} --config c.toml --out out")),
            );
            ran.rejected(&format!("{option}: found "));
            assert!(
                ran.stderr.contains("c.toml, line 1, column "),
                "{}",
                ran.stderr
            );
            assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
        }
    }
    std::fs::remove_file(at.path().join("c.toml")).unwrap();
    assert!(names(at.path()).is_empty());
}

/// These are found by the parser of flags, which adds where to read on.
#[test]
fn flags_that_cannot_be_read() {
    let at = tempdir().unwrap();
    for (line, message) in [
        (
            "run --seed 0 --seeds 2",
            "'--seed <S>' cannot be used with '--seeds <N>'",
        ),
        ("run --seed -1", "invalid value '-1' for '--seed <S>'"),
        (
            "run --seed 18446744073709551616",
            "'--seed <S>': number too large",
        ),
        ("run --seeds 1.5", "invalid value '1.5' for '--seeds <N>'"),
        ("run --epochs -3", "invalid value '-3' for '--epochs <N>'"),
        (
            "run --epochs many",
            "invalid value 'many' for '--epochs <N>'",
        ),
        (
            "run --alpha half",
            "invalid value 'half' for '--alpha <ALPHA>'",
        ),
        (
            "run --batch-size -1",
            "invalid value '-1' for '--batch-size",
        ),
        ("run --patience -1", "invalid value '-1' for '--patience"),
        (
            "run --evaluate-every -1",
            "invalid value '-1' for '--evaluate-every",
        ),
        (
            "run --optimizer rmsprop",
            "[possible values: adam, adamw, muon, sgd, lars]",
        ),
        (
            "run --stop now",
            "[possible values: doubling, slope, exact-risk, training-loss, never]",
        ),
        ("run --no-such", "unexpected argument '--no-such'"),
        ("run more", "unexpected argument 'more'"),
        ("run --alpha", "a value is required for '--alpha <ALPHA>'"),
        ("no-such", "unrecognized subcommand 'no-such'"),
        ("report", "<DIR>"),
        ("diagnose", "--anchors <A.npy>"),
    ] {
        icl(at.path(), &split(line)).rejected_at_length(message);
    }
    assert!(names(at.path()).is_empty());
}

/// Names from outside may hold what a terminal obeys.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let at = tempdir().unwrap();
    let evil = "a\u{1b}[31m\u{7}\u{9b}b\r\u{202e}";
    let long = evil.repeat(1000);
    let file = at.path().join("c.toml");
    let in_file = |text: String| std::fs::write(&file, text).unwrap();
    let quoted = |text: &str| {
        text.replace('\u{1b}', "\\u001b")
            .replace('\u{7}', "\\u0007")
            .replace('\r', "\\r")
    };
    for evil in [evil, &long] {
        let option = format!("--{evil}");
        for words in [
            vec!["run", "--data", evil],
            vec!["run", "--backend", evil],
            vec!["run", "--method", evil],
            vec!["run", "--split", evil],
            vec!["run", "--epochs", evil],
            vec!["run", &option],
            vec!["run", evil],
            vec![evil],
            vec!["report", evil],
            vec!["train", "--resume", evil],
            vec!["run", "--config", evil],
        ] {
            assert_inert(&icl(at.path(), &words), &words.join(" "));
        }
        for line in [
            format!("data = \"{}\"", quoted(evil)),
            format!("\"{}\" = 1", quoted(evil)),
            format!("epochs = \"{}\"", quoted(evil)),
            evil.to_owned(),
        ] {
            in_file(line.clone());
            assert_inert(&icl(at.path(), &["run", "--config", "c.toml"]), &line);
        }
    }
    assert_eq!(names(at.path()), ["c.toml"]);
}

#[track_caller]
fn assert_inert(ran: &crate::support::Ran, what: &str) {
    assert_eq!(ran.code, Some(2), "{what:?}: {:?}", ran.stderr);
    let is_obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(
        !ran.stderr.contains(is_obeyed),
        "{what:?}: {:?}",
        ran.stderr
    );
    assert!(
        ran.stderr.lines().count() <= 3,
        "{what:?}: {:?}",
        ran.stderr
    );
    assert!(
        ran.stderr.chars().count() <= 2001,
        "{what:?}: {:?}",
        ran.stderr
    );
}

/// Memory for the stacks of so many threads is refused. (A limit on threads would not bind the superuser.)
#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_started() {
    let at = tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_icl");
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 1000000; exec \"$0\" methods", program])
        .env("RAYON_NUM_THREADS", "200")
        .current_dir(at.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with("error: the threads to compute on cannot be started: "),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
