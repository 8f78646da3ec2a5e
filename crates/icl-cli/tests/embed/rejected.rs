//! Encoders, data and files that `icl embed` rejects.

use std::fs;
use std::path::Path;

use super::{EMBED, Tensors, encoder, toys, write_data};
use crate::support::{contents, icl, split};
use serde_json::{Value, json};

/// Asserts that it is rejected with this message, and that nothing changes.
#[track_caller]
fn rejected(at: &Path, line: &str, message: &str) {
    let before = contents(at);
    icl(at, &split(line)).rejected(message);
    assert!(contents(at) == before, "{line} left something behind");
}

#[test]
fn where_nothing_is_written() {
    let (at, _) = toys();
    let at = at.path();
    let ending = "expected a name that ends in .npy, .safetensors, .parquet or .csv";
    for out in ["a.txt", "a", "npy", "a.npy.gz"] {
        rejected(
            at,
            &format!("{EMBED} {out}"),
            &format!("out: found {out}, {ending}"),
        );
    }
    fs::write(at.join("a.csv"), "mine").unwrap();
    fs::create_dir(at.join("folder.npy")).unwrap();
    for (out, message) in [
        (
            "a.csv",
            "out: found a file at a.csv, expected nothing there (--force replaces it)",
        ),
        (
            "folder.npy",
            "out: found a folder at folder.npy, expected a file or nothing",
        ),
        (
            "folder.npy --force",
            "out: found a folder at folder.npy, expected a file or nothing",
        ),
        (
            "none/a.npy",
            "out: found no folder for none/a.npy, expected an existing one",
        ),
        (
            "a.csv/a.npy",
            "out: found no folder for a.csv/a.npy, expected an existing one",
        ),
        (
            "e.safetensors --force",
            "out: found e.safetensors, which is the input --from e.safetensors",
        ),
        (
            "b.npy --backend abacus",
            "backend: found \"abacus\", expected one of those",
        ),
    ] {
        rejected(at, &format!("{EMBED} {out}"), message);
    }
    // Labels and positives are next to the embeddings, and replace nothing either.
    fs::write(at.join("c.labels.npy"), "mine").unwrap();
    fs::write(at.join("d.positives.csv"), "mine").unwrap();
    for (out, next_to) in [
        ("c.npy", "c.labels.npy"),
        ("d.csv --views 2", "d.positives.csv"),
    ] {
        let message = format!("out: found a file at {next_to}, expected nothing there");
        rejected(at, &format!("{EMBED} {out}"), &message);
    }
    let line = format!("{EMBED} f.npy --views 0");
    rejected(at, &line, "views: found 0, expected 1 or 2");
    icl(at, &split(&format!("{EMBED} a.csv --force"))).succeeded();
    assert!(
        fs::read_to_string(at.join("a.csv"))
            .unwrap()
            .starts_with("id,label,encoder,e0")
    );
    // An ending in capitals is the same ending.
    icl(at, &split(&format!("{EMBED} B.NPY"))).succeeded();
}

#[test]
fn data_that_do_not_fit() {
    let (at, graphs) = toys();
    let at = at.path();
    rejected(
        at,
        "embed --from e.safetensors --data MUTAG --out a.npy",
        "data set \"MUTAG\": found node features of width 7 (7 node labels and 0 attributes), \
         expected width 4, which e.safetensors was trained on (\"TOYS\")",
    );
    rejected(
        at,
        "embed --from e.safetensors --data none --out a.npy",
        "none: found no such file or folder",
    );
    // One graph is enough.
    write_data(at, "ONE", &graphs[8..9]);
    assert!(graphs[8].nodes.len() >= 4);
    icl(
        at,
        &split("embed --from e.safetensors --data ONE --out one.csv"),
    )
    .succeeded();
    assert_eq!(
        fs::read_to_string(at.join("one.csv"))
            .unwrap()
            .lines()
            .count(),
        2
    );
}

#[test]
fn files_that_are_no_encoder() {
    let (at, _) = toys();
    let at = at.path();
    let whole = fs::read(at.join("e.safetensors")).unwrap();
    let embed = "embed --from b.safetensors --data T --out a.npy";
    rejected(
        at,
        embed,
        "b.safetensors: found no readable file (No such file or directory (os error 2)), expected \
         the .safetensors file of an encoder",
    );
    rejected(
        at,
        "embed --from T --data T --out a.npy",
        "T: found no readable file (a folder, pipe or device), expected the .safetensors file",
    );
    let no_file = "b.safetensors: found no safetensors file (";
    let cut = "b.safetensors: found a safetensors file that is truncated or damaged, expected";
    let longer = [&whole[..], b"more"].concat();
    for (bytes, message) in [
        (&b""[..], no_file),
        (b"cut", no_file),
        (b"index,label\n1,2\n", no_file),
        (&[0xff; 64], no_file),
        (b"\x02\0\0\0\0\0\0\0[]", no_file),
        (&whole[..40], cut),
        (&whole[..whole.len() / 2], cut),
        (&whole[..whole.len() - 1], cut),
        (&longer, cut),
    ] {
        fs::write(at.join("b.safetensors"), bytes).unwrap();
        rejected(at, embed, message);
    }
}

#[test]
fn encoders_that_are_not_whole() {
    let (at, _) = toys();
    let at = at.path();
    let rejected_with = |change: &dyn Fn(&mut Tensors), message: &str| {
        let mut changed = encoder();
        change(&mut changed);
        changed.write(&at.join("b.safetensors"));
        let message = format!("b.safetensors: {message}");
        rejected(
            at,
            "embed --from b.safetensors --data T --out a.npy",
            &message,
        );
    };
    let without = |key: &'static str| {
        move |e: &mut Tensors| {
            e.metadata.as_object_mut().unwrap().remove(key).unwrap();
        }
    };
    rejected_with(
        &without("encoder"),
        "found no metadata \"encoder\", expected that of an encoder written by icl",
    );
    rejected_with(
        &without("config"),
        "found no metadata \"config\", expected the encoder's configuration",
    );
    rejected_with(
        &without("data"),
        "found no metadata \"data\", expected the name of the data",
    );
    rejected_with(
        &|e| e.metadata["encoder"] = "resnet\u{1b}[31m\n18".into(),
        "found an encoder of kind \"resnet\\u{1b}[31m\\n18\", expected one for graphs: \"gcn\"",
    );
    rejected_with(
        &|e| e.metadata["config"] = "{\"d_input\": \"four\"}".into(),
        "found metadata \"config\" that cannot be read (invalid type: string \"four\"",
    );
    rejected_with(
        &|e| {
            e.metadata["config"] = e.metadata["config"]
                .as_str()
                .unwrap()
                .replace("Sum", "S\\n")
                .into()
        },
        "found metadata \"config\" that cannot be read (unknown variant `S `",
    );
    let config = |key: &'static str, value: Value| {
        move |e: &mut Tensors| {
            let mut config = e.config();
            config[key] = value.clone();
            e.metadata["config"] = config.to_string().into();
        }
    };
    rejected_with(
        &config("epsilon", json!(0.0)),
        "found a configuration that is not valid (epsilon: found 0, expected a number above 0)",
    );
    rejected_with(
        &config("n_layers", json!(3)),
        "found no tensor \"convolutions.2.weight\", expected it with shape [6, 6]",
    );
    rejected_with(
        &config("n_layers", json!(0)),
        "found tensor \"convolutions.0.weight\", expected only those of a GCN with n_layers = 0",
    );
    rejected_with(
        &config("d_hidden", json!(1_u64 << 60)),
        "found shape [4, 6] of tensor \"convolutions.0.weight\", expected [4, 1152921504606846976]",
    );
    rejected_with(
        &|e| drop(e.tensors.remove("statistics.1.mean")),
        "found no tensor \"statistics.1.mean\", expected it with shape [6]",
    );
    rejected_with(
        &|e| e.put("optimizer.step", &[1], [0.0]),
        "found tensor \"optimizer.step\", expected only those of a GCN with n_layers = 2",
    );
    rejected_with(
        &|e| e.put("statistics.0.mean", &[2, 3], [0.0; 6]),
        "found shape [2, 3] of tensor \"statistics.0.mean\", expected [6]",
    );
    rejected_with(
        &|e| e.tensors.get_mut("statistics.0.mean").unwrap().0 = "I32".into(),
        "found type I32 of tensor \"statistics.0.mean\", expected F32",
    );
    for (value, found) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        rejected_with(
            &|e| e.put("convolutions.1.weight", &[6, 6], [value; 36]),
            &format!("found {found} in tensor \"convolutions.1.weight\", expected finite numbers"),
        );
    }
    rejected_with(
        &|e| {
            e.put(
                "statistics.1.variance",
                &[6],
                [0.0, 1.0, -0.5, 1.0, 1.0, 1.0],
            )
        },
        "found -0.5 in tensor \"statistics.1.variance\", expected finite numbers from 0 on",
    );
    // Finite, but beyond single precision when they are multiplied.
    let mut great = encoder();
    great.put("convolutions.0.weight", &[4, 6], [3e38; 24]);
    great.put("convolutions.1.weight", &[6, 6], [3e38; 36]);
    great.write(&at.join("b.safetensors"));
    rejected(
        at,
        "embed --from b.safetensors --data T --out a.npy",
        " in the embedding of sample 0 of \"T\", expected finite numbers",
    );
}
