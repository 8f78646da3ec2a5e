//! Pages in a real browser: Chromium without a window, at the widths of a telephone and a desk, in light and in dark.

#![cfg(test)]

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::fixture::{backends, comparison, first, map, stream, twenty_methods, update};
use crate::{
    Comparison, EmbeddingMap, RunRecord, backends_document, comparison_document, stream_document,
    training_document, update_document,
};

/// Page that opens the others in frames, and examines them.
const EXAMINE: &str = include_str!("examine.html");

/// Findings about a page at a width.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    page: String,
    width: u32,
    is_dark: bool,
    ground: String,
    ink: String,
    /// Number of folded lines that were shown by a click.
    n_folded: usize,
    /// Size of the smallest letters in a chart, in pixels.
    smallest_letters: f64,
    faults: Vec<String>,
}

/// Opens pages in Chromium, and returns its findings and what it wrote to its console; `None` without Chromium.
fn browse(folder: &Path, pages: &[String], is_dark: bool) -> Option<(Vec<Finding>, Vec<String>)> {
    let scheme = if is_dark { 0 } else { 1 };
    let address = format!(
        "file://{}?{}",
        folder.join("examine.html").display(),
        pages.join(",")
    );
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--allow-file-access-from-files", "--enable-logging=stderr"])
        // The pages wait for their own timers only, which this clock runs through.
        .arg("--virtual-time-budget=600000")
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!(
            "--user-data-dir={}",
            folder.join(format!("profile{scheme}")).display()
        ))
        .arg(address)
        .output()
        .ok()?;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let findings = text.split_once("<pre id=\"findings\">").unwrap().1;
    let findings = findings.split_once("</pre>").unwrap().0;
    let plain = findings
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let console = log
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .map(str::to_owned);
    Some((serde_json::from_str(&plain).unwrap(), console.collect()))
}

/// Writes a page of each kind. Returns their names.
fn write_pages(folder: &Path) -> Vec<String> {
    let compared = |records: &[RunRecord], map: Option<&EmbeddingMap>| {
        comparison_document(&Comparison::of(records)?, records, map)
    };
    let map = map(&["warm", "icl"], 40);
    let documents = [
        ("run", compared(&comparison(), Some(&map))),
        ("methods", compared(&twenty_methods(), None)),
        ("update", update_document(&update(2.8, 2.25, 0.1))),
        ("train", training_document(&first())),
        ("backends", backends_document(&backends())),
        ("first-experience", stream_document(&stream(1))),
        ("stream", stream_document(&stream(5))),
        ("long-stream", stream_document(&stream(40))),
    ];
    let mut names = Vec::new();
    for (name, document) in documents {
        let name = format!("{name}.html");
        std::fs::write(folder.join(&name), document.unwrap().html()).unwrap();
        names.push(name);
    }
    names
}

#[test]
fn pages_hold_in_a_browser() {
    let at = tempfile::tempdir().unwrap();
    std::fs::write(at.path().join("examine.html"), EXAMINE).unwrap();
    let pages = write_pages(at.path());
    let mut colours = Vec::new();
    for is_dark in [false, true] {
        let Some((findings, console)) = browse(at.path(), &pages, is_dark) else {
            eprintln!("skipped: no program `chromium` (Debian's package chromium)");
            return;
        };
        assert_eq!(console, [] as [&str; 0]);
        assert_eq!(findings.len(), 2 * pages.len());
        for finding in &findings {
            let place = format!("{} at {} px", finding.page, finding.width);
            assert_eq!(finding.faults, [] as [&str; 0], "{place}");
            assert_eq!(finding.is_dark, is_dark, "{place}");
            let letters = finding.smallest_letters;
            assert!(
                letters >= 12.0 || finding.width > 400,
                "{place}: {letters} px"
            );
        }
        let folded = findings
            .iter()
            .filter(|finding| finding.page == "methods.html");
        assert!(folded.clone().count() == 2 && folded.into_iter().all(|it| it.n_folded > 0));
        colours.push((findings[0].ground.clone(), findings[0].ink.clone()));
    }
    // Dark is another ground and another ink.
    assert_ne!(colours[0].0, colours[1].0);
    assert_ne!(colours[0].1, colours[1].1);
}

/// A page with every fault is found to have them.
#[test]
fn faults_of_a_page_are_found() {
    let at = tempfile::tempdir().unwrap();
    std::fs::write(at.path().join("examine.html"), EXAMINE).unwrap();
    let page = "<!DOCTYPE html><body><div style=\"width: 900px\">wide</div><a href=\"none.html\">x</a>\
                <figure><svg></svg><details class=\"fold\"><summary>more</summary>\
                <button aria-pressed=\"false\" data-series=\"a\">a</button></details></figure>\
                <script>console.error(\"told\"); none();</script></body>";
    std::fs::write(at.path().join("wrong.html"), page).unwrap();
    let Some((findings, console)) = browse(at.path(), &["wrong.html".to_owned()], false) else {
        eprintln!("skipped: no program `chromium` (Debian's package chromium)");
        return;
    };
    assert!(
        console.iter().any(|line| line.contains("told")),
        "{console:?}"
    );
    assert!(
        console.iter().any(|line| line.contains("none")),
        "{console:?}"
    );
    let faults = |width| &findings.iter().find(|it| it.width == width).unwrap().faults;
    for fault in [
        "beyond the right edge",
        "no heading",
        "a link to none.html",
        "no line of a",
    ] {
        let has = |width| faults(width).iter().any(|it| it.contains(fault));
        assert!(has(400), "{fault}: {findings:?}");
        assert_eq!(has(1300), fault != "beyond the right edge", "{fault}");
    }
}
