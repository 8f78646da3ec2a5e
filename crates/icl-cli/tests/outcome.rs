//! The JSON object that commands print in place of tables.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use tempfile::tempdir;

use crate::support::toys::{NEW, OLD};
use crate::support::{documented, icl, keys, number, of_book, record, split};

/// Checks that an object has the documented keys, and returns those that it has in addition.
fn further(outcome: &Value) -> BTreeSet<String> {
    let book = of_book("## One JSON object");
    let (_, fields) = book.split_once("| key |").unwrap();
    let expected = documented(fields);
    let found = keys(outcome);
    assert!(found.is_superset(&expected), "{found:?} {expected:?}");
    let row = |key: &str| {
        let start = format!("| `{key}`");
        fields
            .lines()
            .find(|line| line.starts_with(&start))
            .unwrap()
    };
    let parts = ["schema", "verdict", "cost", "risks"].map(|key| (key, &outcome[key]));
    for (key, part) in parts.into_iter().chain([("runs", &outcome["runs"][0])]) {
        for inner in part.as_object().into_iter().flat_map(|it| it.keys()) {
            assert!(row(key).contains(&format!("`{inner}`")), "{key}.{inner}");
        }
    }
    found.difference(&expected).cloned().collect()
}

#[test]
fn every_command_prints_the_documented_keys() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "OLD");
    NEW.write(at, "NEW");
    let few = "--epochs 2 --batch-size 32 --json";
    let outcome = |line: &str| -> Value {
        let ran = icl(at, &split(line)).succeeded();
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    for (command, options, folder) in [
        ("train", "--data OLD --out first", "first"),
        (
            "update",
            "--from first/encoder.safetensors --old OLD --new NEW --accept --out second",
            "second",
        ),
        ("stream", "--data OLD --split data:3 --out third", "third"),
        (
            "run",
            "--data OLD --method warm,inference --seeds 1 --protocol none --out fourth",
            "fourth",
        ),
    ] {
        let found = outcome(&format!("{command} {options} {few}"));
        assert_eq!(further(&found), BTreeSet::new(), "{command}");
        assert_eq!(
            (&found["command"], &found["folder"]),
            (&command.into(), &folder.into())
        );
        assert_eq!(
            (number(&found, "exit"), number(&found, "schema.version")),
            (0.0, 1.0)
        );
        assert!(number(&found, "cost.charged_passes") > 0.0);
        let files = found["files"].as_array().unwrap();
        assert!(files.contains(&"config.toml".into()), "{files:?}");
        assert!(
            files
                .iter()
                .all(|name| at.join(folder).join(name.as_str().unwrap()).exists())
        );
        assert_eq!(
            found["verdict"].is_null(),
            !["update", "stream"].contains(&command)
        );
        assert_eq!(
            found["risks"].is_null(),
            ["stream", "run"].contains(&command)
        );
        assert_eq!(
            found["runs"].as_array().unwrap().is_empty(),
            !found["risks"].is_null()
        );
        match command {
            "train" | "update" => {
                let record = record(&at.join(folder));
                for part in ["old", "new"] {
                    let key = format!("risks.held_out_after.{part}");
                    let [found, expected] =
                        [&found["risks"]["held_out_after"], &record["held_out_risk"]];
                    assert_eq!(found[part], expected[part], "{key}");
                }
            }
            _ => assert!(found["runs"][1]["risks"]["held_out_after"]["new"].is_number()),
        }
    }
    for (encoder, out) in [("first", "old"), ("second", "new")] {
        let line = format!("embed --from {encoder}/encoder.safetensors --data OLD --out {out}.npy");
        icl(at, &split(&line)).succeeded();
    }
    let found =
        outcome("align --from old.npy --to new.npy --form affine --out map.safetensors --json");
    let own = [
        "comparison",
        "d_new",
        "d_old",
        "form",
        "hidden",
        "median_distance",
        "moved_most",
        "n_fitted",
        "n_held_out",
        "recall",
        "ridge",
    ];
    assert_eq!(further(&found), own.map(str::to_owned).into());
    assert_eq!(found["files"], serde_json::json!(["map.safetensors"]));
    // The option is one of the work that is continued.
    let config = fs::read_to_string(at.join("second/config.toml")).unwrap();
    assert!(config.contains("json = true\n") && config.contains("accept = true\n"));
}
