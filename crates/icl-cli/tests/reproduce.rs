//! `icl reproduce`: the grid that it runs, the pages that it writes, and that their numbers are those
//! of the cells' records.

use std::fs;
use std::path::Path;

use crate::support::digits::Digits;
use crate::support::{Ran, contents, icl, names, number, records, split, text};
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
    icl(at, &split(&format!("{GRID} {options}"))).succeeded()
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
fn a_tiny_grid() {
    let at = with_data();
    let ran = reproduce(at.path(), "--seeds 1");
    assert_eq!(ran.stdout, "out/table4.html\nout/table4.md\n");
    assert!(ran.stderr.contains("0 of 1 cells are complete, 1 to run"));
    assert!(
        ran.stderr
            .contains("cell 1 of 1: PROTEINS, α = 0.5, seed 0: ")
    );
    assert_eq!(
        names(&at.path().join("out")),
        ["cells", "table4.html", "table4.md"]
    );

    let of_cell = records(&at.path().join(CELL));
    let markdown = fs::read_to_string(at.path().join("out/table4.md")).unwrap();
    with_page(&at.path().join("out/table4.html"), |page| {
        for (method, paper) in [
            ("fine-tuning", ["8.1×", "3.9×"]),
            ("icl-published-wo-m-lrl", ["1.9×", "2.0×"]),
            ("warm", ["–", "–"]),
            ("icl-corrected", ["–", "–"]),
        ] {
            let row = row_of_page(page, method);
            assert_eq!(row[..2], paper, "{method}");
            assert_eq!(row[2..6], expected(&of_cell, method), "{method}");
            assert_eq!(row[8..], ["1", "3"], "{method}");
            assert_eq!(row_of_markdown(&markdown, method), row, "{method}");
        }
    });
    for words in [
        "Ji et al., WSDM 2023",
        "icl reproduce table4 --seeds 1",
        "α = 0.3, 0.7, left out.",
        "REDDIT-BINARY, left out.",
        "1 seed asked for",
    ] {
        assert!(
            markdown.contains(words),
            "{words} is missing in\n{markdown}"
        );
    }
    // No path of this machine.
    assert!(!markdown.contains("data-dir") && !markdown.contains("out/"));
}

#[test]
fn what_is_there_is_not_run_again() {
    let at = with_data();
    reproduce(at.path(), "--seeds 2 --jobs 1");
    let record = |seed: u64| {
        let cell = CELL.replace("seed0", &format!("seed{seed}"));
        fs::read(at.path().join(cell).join("record.jsonl")).unwrap()
    };
    let (first, second) = (record(0), record(1));
    let page = fs::read_to_string(at.path().join("out/table4.md")).unwrap();

    let again = reproduce(at.path(), "--seeds 2 --jobs 1");
    assert_eq!(again.stderr, "2 of 2 cells are complete, 0 to run\n");
    assert_eq!((record(0), record(1)), (first.clone(), second.clone()));
    assert_eq!(
        fs::read_to_string(at.path().join("out/table4.md")).unwrap(),
        page
    );

    // Another target that the same cells serve runs nothing either.
    let line = GRID.replace("table4", "fig2");
    let other = icl(at.path(), &split(&format!("{line} --seeds 2"))).succeeded();
    assert!(
        other
            .stderr
            .ends_with("2 of 2 cells are complete, 0 to run\n")
    );
    assert_eq!(other.stdout, "out/fig2.html\nout/fig2.md\n");

    fs::remove_dir_all(at.path().join(CELL)).unwrap();
    let one = reproduce(at.path(), "--seeds 2 --jobs 2");
    assert!(one.stderr.contains("1 of 2 cells are complete, 1 to run"));
    assert!(one.stderr.contains("seed 0") && !one.stderr.contains("seed 1"));
    // Durations apart it is the record of before.
    assert_eq!(record(1), second);
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines(&record(0)), lines(&first));
}

#[test]
fn a_record_that_was_cut_is_run_again() {
    let at = with_data();
    reproduce(at.path(), "--seeds 1");
    let path = at.path().join(CELL).join("record.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let ran = reproduce(at.path(), "--seeds 1");
    assert!(ran.stderr.contains("0 of 1 cells are complete, 1 to run"));
    assert_eq!(
        records(&at.path().join(CELL)).len(),
        whole.iter().filter(|byte| **byte == b'\n').count()
    );
}

#[test]
fn accuracies_and_floors_are_those_of_the_records() {
    let at = with_data();
    for (figure, part) in [("fig2", "old"), ("fig3", "new")] {
        let line = GRID.replace("table4", figure);
        icl(at.path(), &split(&format!("{line} --seeds 1"))).succeeded();
        let of_cell = records(&at.path().join(CELL));
        let whole = of_cell.iter().find(|r| text(r, "method") == "retraining");
        let whole = number(&whole.unwrap()["accuracy"], part);
        let markdown = fs::read_to_string(at.path().join(format!("out/{figure}.md"))).unwrap();
        for record in &of_cell {
            let method = text(record, "method");
            let accuracy = number(&record["accuracy"], part);
            let row = row_of_markdown(&markdown, method);
            assert_eq!(row[0], format!("{accuracy:.3}"), "{method}");
            if method != "retraining" {
                let difference = row[1].replace('−', "-");
                let difference: f64 = difference.parse().unwrap();
                assert!(
                    (difference - (accuracy - whole)).abs() <= 5.1e-4,
                    "{method}"
                );
            }
        }
        for (floor, name) in [("majority", "majority"), ("untrained", "untrained encoder")] {
            let expected = number(&of_cell[0]["floors"][floor], part);
            let row = row_of_markdown(&markdown, &format!("floor: {name}"));
            assert_eq!(row[0], format!("{expected:.3}"));
        }
        assert!(markdown.contains("[−0.0137, +0.0126]"));
        assert!(markdown.contains("ImageNet-2 and MNIST-2 and REDDIT-BINARY, left out."));
        with_page(&at.path().join(format!("out/{figure}.html")), |page| {
            assert!(page.descendants().any(|node| node.has_tag_name("svg")));
        });
    }
}

#[test]
fn the_figures_of_speed_and_of_losses() {
    let at = with_data();
    let line = "reproduce fig4 --data-dir data --data-sets PROTEINS --alphas 0.3 --alphas 0.5 --seeds 1 \
                --epochs 3 --out out";
    icl(at.path(), &split(line)).succeeded();
    let cells = names(&at.path().join("out/cells"));
    assert_eq!(
        cells,
        [0.3, 0.5].map(|alpha| format!("PROTEINS-random-alpha{alpha}-seed0-sweep"))
    );
    let markdown = fs::read_to_string(at.path().join("out/fig4.md")).unwrap();
    assert!(markdown.contains("2.2×–18.3×"));
    let of_cell = records(&at.path().join("out/cells").join(&cells[1]));
    let (_, of_warm) = markdown.split_once("| α | ours: warm:").unwrap();
    assert_eq!(
        row_of_markdown(of_warm, "0.5")[..4],
        expected(&of_cell, "warm")
    );
    with_page(&at.path().join("out/fig4.html"), |page| {
        let charts = page
            .descendants()
            .filter(|n| n.attribute("class") == Some("chart"));
        assert_eq!(charts.count(), 2);
    });

    let line = GRID.replace("table4", "fig5");
    icl(at.path(), &split(&format!("{line} --seeds 1"))).succeeded();
    let of_cell = records(
        &at.path()
            .join("out/cells/PROTEINS-random-alpha0.5-seed0-losses"),
    );
    let warm = of_cell
        .iter()
        .find(|r| text(r, "method") == "warm")
        .unwrap();
    let markdown = fs::read_to_string(at.path().join("out/fig5.md")).unwrap();
    let row = row_of_markdown(&markdown, "NCE-I (warm)");
    let losses: Vec<f64> = warm["epoch_losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| loss.as_f64().unwrap())
        .collect();
    assert_eq!(row[0], format!("{:.3}", losses[0]));
    let fall: f64 = row[1].replace('−', "-").parse().unwrap();
    assert!((fall - (losses[0] - losses[2])).abs() <= 5.1e-4);
    assert_eq!(row[5], format!("{:.3}", number(warm, "risk.all")));
    with_page(&at.path().join("out/fig5.html"), |_| ());
}

#[test]
fn a_budget_of_nothing_writes_what_there_is() {
    let at = with_data();
    let ran = reproduce(at.path(), "--seeds 1 --budget 0");
    assert!(
        ran.stderr
            .contains("the budget of 0 min is spent: 1 of 1 cells have not run")
    );
    assert!(
        ran.stderr
            .ends_with("no page was written: no cell is complete\n")
    );
    assert_eq!(names(&at.path().join("out")), ["cells"]);
    reproduce(at.path(), "--seeds 1");
    reproduce(at.path(), "--seeds 3 --budget 0");
    let markdown = fs::read_to_string(at.path().join("out/table4.md")).unwrap();
    assert!(markdown.contains("PROTEINS, α = 0.5: seeds 1, 2 have not run."));
}

#[test]
fn all_runs_what_can_be_run() {
    let at = with_data();
    let line = GRID
        .replace("table4", "all")
        .replace("--data-sets PROTEINS", "");
    let ran = icl(at.path(), &split(&format!("{line} --seeds 1"))).succeeded();
    for note in [
        "imagenet-2: found no such folder",
        "mnist: found none of MNIST's four files",
        "REDDIT-BINARY.zip",
    ] {
        assert!(ran.stderr.contains(note), "{}", ran.stderr);
    }
    let pages = ["table4", "fig2", "fig3", "fig4"].map(|name| format!("out/{name}.html"));
    for page in &pages {
        assert!(ran.stdout.contains(page), "{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("table3") && !ran.stdout.contains("fig5"));
    // One cell serves all of them.
    assert_eq!(names(&at.path().join("out/cells")).len(), 1);
}

#[test]
fn a_run_with_other_options_is_left_alone() {
    let at = with_data();
    reproduce(at.path(), "--seeds 1");
    let before = contents(&at.path().join(CELL));
    let line = GRID.replace("--epochs 3", "--epochs 4");
    icl(at.path(), &split(&format!("{line} --seeds 1")))
        .rejected("PROTEINS-random-alpha0.5-seed0-table: found a run with epochs 3, expected 4");
    assert!(contents(&at.path().join(CELL)) == before);
}

#[test]
fn a_cell_that_fails_is_named_and_the_others_go_on() {
    let at = with_data();
    write_data(at.path(), "REDDIT-BINARY");
    let labels = at
        .path()
        .join("data/graphs/PROTEINS/PROTEINS_graph_labels.txt");
    fs::write(labels, "x\n").unwrap();
    let line = format!("{GRID} --data-sets REDDIT --seeds 1");
    let ran = icl(at.path(), &split(&line));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let name = "PROTEINS-random-alpha0.5-seed0-table";
    for message in [
        format!("{name}: error: data/graphs/PROTEINS/PROTEINS_graph_labels.txt, line 1: found"),
        format!("error: 1 of 2 cells failed: {name}; the same command continues"),
    ] {
        assert!(ran.stderr.contains(&message), "{message}: {}", ran.stderr);
    }
    let markdown = fs::read_to_string(at.path().join("out/table4.md")).unwrap();
    assert!(markdown.contains("PROTEINS, α = 0.5: seed 0 has not run."));
    assert!(markdown.contains("### REDDIT-BINARY, α = 0.5 · seed 0"));
}

/// The signal goes to the command alone, which passes it on to its cells.
#[cfg(unix)]
#[test]
fn an_interrupted_cell_goes_on() {
    use std::process::{Command, Stdio};

    let at = with_data();
    let line = format!(
        "{} --seeds 1 --stop never",
        GRID.replace("--epochs 3", "--epochs 40")
    );
    let child = crate::support::command(at.path(), &split(&line))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A state has been saved: the run is on its way.
    let work = at.path().join(CELL).join(".checkpoint");
    let has_state = || {
        let names = work.read_dir().into_iter().flatten();
        let mut names = names.map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().ends_with(".checkpoint"))
    };
    while !has_state() {
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &id]).status();
    assert!(killed.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("the same command continues with the missing ones in out/cells"));
    assert!(work.join("config.toml").exists(), "{stderr}");
    assert!(!at.path().join("out/table4.html").exists());

    icl(at.path(), &split(&line)).succeeded();
    assert!(!work.exists());
    let whole = with_data();
    icl(whole.path(), &split(&line)).succeeded();
    let [resumed, whole] = [&at, &whole].map(|at| crate::support::timeless(&at.path().join(CELL)));
    assert_eq!(resumed, whole);
}

/// Options for images that are small enough for a test.
const SMALL: &str = "--alphas 0.5 --seeds 1 --epochs 1 --stem standard --out out";

#[test]
fn the_table_of_images_on_digits() {
    let at = tempdir().unwrap();
    let digits = Digits {
        n: 16,
        side: 12,
        classes: [7, 1],
    };
    digits.write(&at.path().join("data"), "mnist");
    let line =
        format!("reproduce table3 --data-dir data --data-sets MNIST-2 --image-size 12 {SMALL}");
    icl(at.path(), &split(&line)).succeeded();
    let cell = at
        .path()
        .join("out/cells/MNIST-2-random-alpha0.5-seed0-table");
    let config = fs::read_to_string(cell.join("config.toml")).unwrap();
    for line in [
        "classes = \"1,7\"",
        "image-size = 12",
        "stem = \"standard\"",
    ] {
        assert!(config.contains(line), "{config}");
    }
    let markdown = fs::read_to_string(at.path().join("out/table3.md")).unwrap();
    assert!(
        markdown.contains("--image-size 12 --stem standard"),
        "{markdown}"
    );
    assert!(markdown.contains("ImageNet-2, left out."), "{markdown}");
    // The cell is there, so nothing is run again; another size is another run.
    let again = icl(at.path(), &split(&line)).succeeded();
    assert!(
        again.stderr.contains("1 of 1 cells are complete"),
        "{}",
        again.stderr
    );
    for (from, to, message) in [
        (
            "--image-size 12",
            "--image-size 10",
            "found a run with image-size 12, expected 10",
        ),
        (
            "--stem standard",
            "",
            "found a run with stem standard, expected absent",
        ),
        (
            "--stem standard",
            "--stem standard --limit 8",
            "found a run with limit absent, expected 8",
        ),
    ] {
        icl(at.path(), &split(&line.replace(from, to))).rejected(message);
    }
}

#[test]
fn the_table_of_images_on_photographs() {
    let data = std::env::var_os("ICL_DATA_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        Into::into,
    );
    if !data.join("photos/ants-bees-256.tar.gz").is_file() {
        eprintln!(
            "SKIPPED: found no photos/ants-bees-256.tar.gz in {}",
            data.display()
        );
        return;
    }
    let at = tempdir().unwrap();
    let line = format!("reproduce table3 --data-sets ImageNet-2 --image-size 16 --limit 8 {SMALL}");
    let output = crate::support::command(at.path(), &split(&line))
        .env("ICL_DATA_DIR", data.canonicalize().unwrap())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let photos = at.path().join("out/data/ants-bees/train");
    assert_eq!(names(&photos), ["ants", "bees"]);
    let cell = at
        .path()
        .join("out/cells/ImageNet-2-random-alpha0.5-seed0-table");
    assert_eq!(records(&cell).len(), 12);
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
        icl(at.path(), &split(&line)).rejected(message);
    }
    for (line, message) in [
        ("reproduce", "<TARGET>"),
        ("reproduce table9", "expected all or one of table3, table4"),
        (
            "reproduce table4 --stop exact-risk",
            "[possible values: training-loss, never]",
        ),
    ] {
        icl(at.path(), &split(line)).rejected_at_length(message);
    }
    assert_eq!(names(at.path()), ["data"]);
}
