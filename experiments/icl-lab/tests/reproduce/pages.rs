//! The pages that a grid writes, and that their numbers are those of the records of the cells.

use std::fs;

use super::{CELL, GRID, expected, reproduce, row_of_markdown, row_of_page, with_data, with_page};
use crate::support::{lab, names, number, records, split, text};

/// The protocol of the paper in a record.
const PROTOCOL: &str = "support vector machine";

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
        "icl-lab reproduce table4 --seeds 1",
        "α = 0.3, 0.7, left out.",
        "REDDIT-BINARY, left out.",
        "1 seed requested",
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
fn accuracies_and_floors_are_those_of_the_records() {
    let at = with_data();
    for (figure, part) in [("fig2", "old"), ("fig3", "new")] {
        let line = GRID.replace("table4", figure);
        lab(at.path(), &split(&format!("{line} --seeds 1"))).succeeded();
        let of_cell = records(&at.path().join(CELL));
        let whole = of_cell.iter().find(|r| text(r, "method") == "retraining");
        let whole = number(
            &whole.unwrap()["added_protocols"][PROTOCOL]["accuracy"],
            part,
        );
        let markdown = fs::read_to_string(at.path().join(format!("out/{figure}.md"))).unwrap();
        for record in &of_cell {
            let method = text(record, "method");
            let accuracy = number(&record["added_protocols"][PROTOCOL]["accuracy"], part);
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
            let expected = number(
                &of_cell[0]["added_protocols"][PROTOCOL]["floors"][floor],
                part,
            );
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
    lab(at.path(), &split(line)).succeeded();
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
    lab(at.path(), &split(&format!("{line} --seeds 1"))).succeeded();
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
