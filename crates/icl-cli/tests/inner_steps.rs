//! The inner steps of meta-optimization, from outside.

use serde_json::Value;
use tempfile::tempdir;

use crate::support::{icl, records, split};

const RUN: &str = "run --seed 0 --epochs 3 --stop never --evaluate-every 3 --protocol none --method warm \
                   --method icl-corrected-wo-lrl";

fn numbers(of: &Value) -> Vec<f64> {
    let items = of.as_array().unwrap().iter();
    items.map(|item| item.as_f64().unwrap()).collect()
}

#[test]
fn an_inner_loop_that_does_nothing_is_reported() {
    let at = tempdir().unwrap();
    let run = |options: &str, out: &str| {
        let ran = icl(at.path(), &split(&format!("{RUN} {options} --out {out}"))).succeeded();
        let line = ran
            .stderr
            .lines()
            .find(|line| line.contains("icl-corrected-wo-lrl"));
        let of = records(&at.path().join(out));
        assert!(numbers(&of[0]["support_moves"]).is_empty());
        let moves = numbers(&of[1]["support_moves"]);
        assert_eq!(moves.len(), 3);
        // Lines end anywhere.
        let page: Vec<&str> = ran.stdout.split_whitespace().collect();
        (line.unwrap().to_owned(), page.join(" "), moves)
    };
    let (line, page, moves) = run("--support-learning-rate 1e-6", "still");
    assert!(line.contains("; the inner loop moves θ by "), "{line}");
    assert!(page.contains("does almost nothing"), "{page}");
    assert!(moves.iter().all(|it| *it < 1e-4), "{moves:?}");
    let (line, page, moves) = run("--support-learning-rate 1", "moving");
    assert!(!line.contains("the inner loop"), "{line}");
    assert!(!page.contains("does almost nothing"), "{page}");
    assert!(moves.iter().all(|it| *it > 1e-3), "{moves:?}");
}
