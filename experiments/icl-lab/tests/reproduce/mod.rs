//! `icl-lab reproduce`: the grid that it runs, the pages that it writes, and that their numbers are those
//! of the cells' records.

mod cells;
mod images;
mod pages;

use std::fs;
use std::path::Path;

use crate::support::{Ran, lab, names, number, split, text};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

const GRID: &str =
    "reproduce table4 --data-dir data --data-sets PROTEINS --alphas 0.5 --epochs 3 --out out";
const CELL: &str = "out/cells/PROTEINS-random-alpha0.5-seed0-table";

/// A folder with a data set of 40 graphs in two classes, rings and paths, by the name of PROTEINS.
fn with_data() -> TempDir {
    let at = tempdir().unwrap();
    write_data(at.path(), "PROTEINS");
    at
}

fn write_data(at: &Path, name: &str) {
    let folder = at.join("data/graphs").join(name);
    fs::create_dir_all(&folder).unwrap();
    let (mut edges, mut indicator, mut labels) = (String::new(), String::new(), String::new());
    let mut first = 1;
    for graph in 1..=40 {
        let n = 4 + graph % 5;
        let is_ring = graph % 2 == 0;
        for node in 0..n {
            indicator += &format!("{graph}\n");
            if node + 1 < n || is_ring {
                let (a, b) = (first + node, first + (node + 1) % n);
                edges += &format!("{a}, {b}\n{b}, {a}\n");
            }
        }
        first += n;
        labels += if is_ring { "1\n" } else { "0\n" };
    }
    for (ending, text) in [
        ("A", edges),
        ("graph_indicator", indicator),
        ("graph_labels", labels),
    ] {
        fs::write(folder.join(format!("{name}_{ending}.txt")), text).unwrap();
    }
}

#[track_caller]
fn reproduce(at: &Path, options: &str) -> Ran {
    lab(at, &split(&format!("{GRID} {options}"))).succeeded()
}

/// A page as XML.
fn with_page<T>(path: &Path, of: impl FnOnce(&roxmltree::Document<'_>) -> T) -> T {
    let html = fs::read_to_string(path).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>"));
    for outside in [
        "http:", "https:", "url(", "@import", "<script", "<link", "NaN",
    ] {
        assert!(!html.contains(outside), "{outside}");
    }
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    of(&roxmltree::Document::parse_with_options(&html, options).unwrap())
}

/// The texts of a row's cells, small print after a space.
fn row_of_page(page: &roxmltree::Document<'_>, head: &str) -> Vec<String> {
    let row = page.descendants().find(|node| {
        node.has_tag_name("tr") && node.first_element_child().and_then(|c| c.text()) == Some(head)
    });
    let cells = row
        .unwrap()
        .children()
        .filter(|node| node.has_tag_name("td"));
    cells
        .map(|cell| {
            let texts = cell.descendants().filter(|node| node.is_text());
            let texts: Vec<&str> = texts.filter_map(|node| node.text()).collect();
            texts.join(" ")
        })
        .collect()
}

fn row_of_markdown(markdown: &str, head: &str) -> Vec<String> {
    let start = format!("| {head} | ");
    let row = markdown.lines().find_map(|line| line.strip_prefix(&start));
    let row = row.unwrap().trim_end_matches(" |");
    row.split(" | ").map(str::to_owned).collect()
}

/// What a table of speed-ups should say of a method after the paper's two columns, from the records
/// of one seed.
fn expected(records: &[Value], method: &str) -> Vec<String> {
    let of = |name: &str| records.iter().find(|r| text(r, "method") == name).unwrap();
    let (own, whole) = (of(method), of("retraining"));
    let written = |ratio: f64| match ratio {
        ratio if ratio < 0.95 => format!("{ratio:.2}×"),
        ratio => format!("{ratio:.1}×"),
    };
    let by_loss = ["lowest_loss_s", "lowest_loss_epoch"]
        .map(|key| written(number(whole, key) / number(own, key)));
    let to_target = ["time_to_target_s", "passes_to_target"].map(|key| {
        if own["epochs_to_target"].is_null() {
            "never".to_owned()
        } else if own["epochs_to_target"] == 0 {
            "at start".to_owned()
        } else if whole["epochs_to_target"].is_null() || whole["epochs_to_target"] == 0 {
            "–".to_owned()
        } else {
            written(number(whole, key) / number(own, key))
        }
    });
    [by_loss, to_target].concat()
}

#[test]
fn what_cannot_be_asked_for() {
    let at = with_data();
    for (line, message) in [
        (
            "table3",
            "data/imagenet-2: found no such folder and no data/photos/ants-bees-256.tar.gz",
        ),
        (
            "fig2 --data-sets MNIST-2",
            "data/mnist: found none of MNIST's four files",
        ),
        (
            "fig4 --data-sets PROTEINS --data-sets ImageNet-2",
            "data/imagenet-2: found no such folder",
        ),
        (
            "table4 --data-sets MNIST-2",
            "table4: found none of its data sets in --data-sets",
        ),
        (
            "table4 --data-sets MUTAG",
            "data-sets: found \"MUTAG\", expected one of the paper's",
        ),
        (
            "table4 --alphas 0.4",
            "alphas: found 0.4, expected one of 0.3, 0.5, 0.7",
        ),
        ("table4 --seeds 0", "seeds: found 0, expected at least 1"),
        ("table4 --epochs 0", "epochs: found 0, expected at least 1"),
        ("table4 --jobs 3", "jobs: found 3, expected 1 or 2"),
        (
            "table4 --budget -1",
            "budget: found -1, expected minutes, 0 or more",
        ),
        ("table4 --budget nan", "budget: found NaN, expected minutes"),
        (
            "table4 --learning-rate 0",
            "learning-rate: found 0, expected a number above 0",
        ),
        ("table4 --backend abacus", "backend: found \"abacus\""),
        (
            "table4",
            "graphs: found neither REDDIT-BINARY.zip nor a folder REDDIT-BINARY",
        ),
        (
            "table4 --data-sets PROTEINS --data-dir none",
            "none/graphs: found neither PROTEINS.zip",
        ),
    ] {
        let line = match line.contains("--data-dir") {
            true => format!("reproduce {line} --out out"),
            false => format!("reproduce {line} --data-dir data --out out"),
        };
        lab(at.path(), &split(&line)).rejected(message);
    }
    for (line, message) in [
        ("reproduce", "<TARGET>"),
        ("reproduce table9", "expected all or one of table3, table4"),
        (
            "reproduce table4 --stop exact-risk",
            "[possible values: training-loss, never]",
        ),
    ] {
        lab(at.path(), &split(line)).rejected_at_length(message);
    }
    assert_eq!(names(at.path()), ["data"]);
}
