//! The report of a comparison, and the comparison as a file.

use std::fs;

use super::run;
use crate::support::number;
use serde_json::Value;
use tempfile::tempdir;

/// Medians and ranges by a plain loop over the records, in the comparison and on the page.
#[test]
fn the_comparison_has_the_figures_of_the_report() {
    let at = tempdir().unwrap();
    let options = "--seeds 3 --epochs 2 --method retraining --method warm --protocol knn";
    let records = run(at.path(), options, "out");
    let read = |name: &str| fs::read_to_string(at.path().join("out").join(name)).unwrap();
    let comparison: Value = serde_json::from_str(&read("comparison.json")).unwrap();
    let html = read("report.html");
    assert_eq!(comparison["seeds"], serde_json::json!([0, 1, 2]));
    assert_eq!(comparison["protocol"], "k nearest neighbours");
    let methods = comparison["methods"].as_array().unwrap();
    for method in ["retraining", "warm"] {
        let of = methods.iter().find(|of| of["method"] == method).unwrap();
        let sorted = |place: &str| {
            let mut values = Vec::new();
            for record in records.iter().filter(|record| record["method"] == method) {
                values.push(record.pointer(place).unwrap().as_f64().unwrap());
            }
            values.sort_by(f64::total_cmp);
            values
        };
        let check = |of: &Value, values: &[f64]| {
            assert_eq!(values.len(), 3);
            assert_eq!((&of["n"], &of["n_never"]), (&3.into(), &0.into()));
            for (key, value) in [
                ("min", values[0]),
                ("median", values[1]),
                ("max", values[2]),
            ] {
                assert_eq!(number(of, key), value, "{method}: {key}");
            }
        };
        let (old, new) = (sorted("/held_out_risk/old"), sorted("/held_out_risk/new"));
        check(&of["quantities"]["held_out_risk.old"], &old);
        check(&of["quantities"]["held_out_risk.new"], &new);
        check(
            &of["quantities"]["charged_passes"],
            &sorted("/charged_passes"),
        );
        let accuracy = sorted("/knn/accuracy/all");
        check(&of["accuracies"]["k nearest neighbours"]["all"], &accuracy);
        let head = format!("{method}</th>");
        let row = html.split("</tr>").find(|row| row.contains(&head)).unwrap();
        for words in [
            format!("<td class=\"group\">{:.3} / {:.3}</td>", old[1], new[1]),
            format!("<td>{:.3}", accuracy[1]),
        ] {
            assert!(row.contains(&words), "{words} is missing in {row}");
        }
    }
}

#[test]
fn the_report_stands_by_itself() {
    let at = tempdir().unwrap();
    run(at.path(), "--seed 0 --epochs 2 --method warm", "out");
    let html = fs::read_to_string(at.path().join("out/report.html")).unwrap();
    assert!(html.to_lowercase().starts_with("<!doctype html>"));
    let lower = html.to_lowercase();
    for outside in [
        "src=",
        "<link",
        "<script src",
        "@import",
        "url(http",
        "url(//",
    ] {
        assert!(!lower.contains(outside), "{outside}");
    }
    // The names of XML's vocabularies are no addresses that are fetched.
    for address in lower.match_indices("http").map(|(at, _)| &lower[at..]) {
        assert!(address.starts_with("http://www.w3.org/"), "{address:.60}");
    }
}
