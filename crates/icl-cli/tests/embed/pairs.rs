//! Pairs of views, and the formats that `icl diagnose` reads.

use std::fs;

use serde_json::Value;

use super::{EMBED, npy, toys};
use crate::support::{Ran, icl, number, split};

#[test]
fn two_views_are_random_and_follow_the_seed() {
    let (at, _) = toys();
    let at = at.path();
    let embed = |out: &str| icl(at, &split(&format!("{EMBED} {out}"))).succeeded();
    let ran = embed("a.npy --views 2");
    let expected = "300 embeddings of width 12 written to a.npy, labels to a.labels.npy, positives to a.positives.npy\n";
    assert_eq!(ran.stdout, expected);
    embed("b.npy --views 2 --seed 0");
    embed("c.npy --views 2 --seed 1");
    embed("plain.npy");
    let [a, p, plain] = ["a", "a.positives", "plain"].map(|it| npy(&at.join(format!("{it}.npy"))));
    assert_eq!((&a.0, &p.0), (&plain.0, &plain.0));
    assert!(a.1 != p.1 && a.1 != plain.1);
    let bytes = |name: &str| fs::read(at.join(name)).unwrap();
    assert_eq!(bytes("a.positives.npy"), bytes("b.positives.npy"));
    assert_ne!(bytes("a.npy"), bytes("c.npy"));
    assert_ne!(bytes("a.positives.npy"), bytes("c.positives.npy"));
}

/// An encoder that was not trained still tells a sample from others: its views are closer than chance.
#[test]
fn every_format_gives_the_same_diagnosis() {
    let (at, _) = toys();
    let at = at.path();
    let mut found: Vec<Value> = Vec::new();
    for ending in ["npy", "safetensors", "parquet", "csv"] {
        for (name, flags) in [("a", "--views 2"), ("n", "--views 2 --seed 3")] {
            icl(at, &split(&format!("{EMBED} {name}.{ending} {flags}"))).succeeded();
        }
        let line = format!(
            "diagnose --anchors a.{ending} --positives a.positives.{ending} --old a.{ending} --new n.{ending} --json"
        );
        let ran: Ran = icl(at, &split(&line)).succeeded();
        found.push(serde_json::from_str(&ran.stdout).unwrap());
    }
    assert!(number(&found[0], "auc") > 0.5);
    assert!(found.iter().all(|other| *other == found[0]));
    // A tensor without the name is taken if it is the only matrix.
    let bytes = fs::read(at.join("a.safetensors")).unwrap();
    let renamed = |name: &str| {
        let header = String::from_utf8_lossy(&bytes[8..])
            .find("embeddings")
            .unwrap();
        let mut bytes = bytes.clone();
        bytes[8 + header..][..10].copy_from_slice(name.as_bytes());
        fs::write(at.join("r.safetensors"), bytes).unwrap();
        icl(
            at,
            &split(
                "diagnose --anchors r.safetensors --positives a.positives.npy --old a.npy --new n.npy",
            ),
        )
    };
    renamed("activation").succeeded();
    fs::write(at.join("r.safetensors"), "none").unwrap();
    let line = "diagnose --anchors r.safetensors --positives a.npy --old a.npy --new n.npy";
    icl(at, &split(line)).rejected("r.safetensors: found a file that cannot be read (");
}
