//! A table in Markdown.

use std::fmt::Write;

/// Returns a table with an empty line after it. `rule` is the cell below each head after the first: `---`, or `--:` for
/// numbers that end at the right.
pub fn table<H: AsRef<str>>(head: &[H], rule: &str, rows: &[Vec<String>]) -> String {
    let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
    let mut text = format!("| {} |\n|---|", head.join(" | "));
    for _ in 1..head.len() {
        let _ = write!(text, "{rule}|");
    }
    text.push('\n');
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_below_their_head() {
        let rows = [vec!["warm".to_owned(), "0.5".to_owned()]];
        let expected = "| method | cost |\n|---|--:|\n| warm | 0.5 |\n\n";
        assert_eq!(table(&["method", "cost"], "--:", &rows), expected);
    }
}
