//! Numbers in notations that are read as text: decimal commas, marks of thousands, currencies and percents.

use super::values::number;

/// Signs of currencies.
const CURRENCIES: [char; 12] = ['$', '€', '£', '¥', '₹', '₽', '₩', '₺', '₿', '₫', '₪', '¢'];
/// Codes of currencies.
const CODES: [&str; 8] = ["USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "US"];
/// Marks between thousands, other than commas and points.
const MARKS: [char; 7] = [' ', '\u{a0}', '\u{2009}', '\u{202f}', '\'', '’', '_'];

/// Rewrites a number in another notation so that it is read as a number; `None` if it is read as one already, or is no
/// number.
pub(super) fn plain_form(text: &str) -> Option<String> {
    if number(text).is_some() {
        return None;
    }
    let text = text.trim();
    let in_brackets = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    let text = stripped(in_brackets.unwrap_or(text));
    let (is_negative, digits) = match text.strip_prefix(['-', '−']) {
        Some(digits) => (true, stripped(digits)),
        None => (
            in_brackets.is_some(),
            text.strip_prefix('+').unwrap_or(text),
        ),
    };
    let is_only = |at: usize| digits.matches(&digits[at..=at]).count() == 1;
    let decimals = match (digits.rfind(','), digits.rfind('.')) {
        (Some(comma), Some(point)) => Some(comma.max(point)),
        (None, Some(point)) => Some(point).filter(|at| is_only(*at)),
        // One comma before three digits is that of thousands.
        (Some(comma), None) => Some(comma).filter(|at| is_only(*at) && digits.len() - at != 4),
        (None, None) => None,
    };
    let (whole, fraction) = match decimals {
        None => (digits, None),
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
    };
    // Marks between thousands are all the same.
    let is_mark = |it: &char| MARKS.contains(it) || matches!(it, ',' | '.');
    let mark = whole.chars().find(is_mark);
    if mark.is_some_and(|mark| !is_grouped(whole, mark)) {
        return None;
    }
    let whole: String = whole.chars().filter(|it| Some(*it) != mark).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(&whole) || !fraction.is_none_or(is_number) {
        return None;
    }
    let sign = if is_negative { "-" } else { "" };
    let fraction = fraction.map_or(String::new(), |fraction| format!(".{fraction}"));
    Some(format!("{sign}{whole}{fraction}"))
}

/// Returns a text without the currency or the percent around it.
fn stripped(text: &str) -> &str {
    let mut text = text.trim();
    for code in CODES {
        let before = text.strip_prefix(code);
        text = before.or_else(|| text.strip_suffix(code)).unwrap_or(text);
    }
    let around =
        |it: char| CURRENCIES.contains(&it) || matches!(it, '%' | '‰') || it.is_whitespace();
    text.trim_matches(around)
}

/// Returns `true` if a mark parts the digits in groups of three, of which the first may be shorter.
fn is_grouped(digits: &str, mark: char) -> bool {
    let mut groups = digits.split(mark);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_notations_have_a_plain_form() {
        for (text, expected) in [
            ("3,14", "3.14"),
            ("-3,14", "-3.14"),
            ("−5", "-5"),
            ("0,5", "0.5"),
            ("1,234", "1234"),
            ("1,234,567", "1234567"),
            ("1,234.50", "1234.50"),
            ("1.234,50", "1234.50"),
            ("1.234.567", "1234567"),
            ("1 234,5", "1234.5"),
            ("1\u{a0}234", "1234"),
            ("1'234.50", "1234.50"),
            ("$1,234.50", "1234.50"),
            ("-$1,234.50", "-1234.50"),
            ("$-3", "-3"),
            ("($1,234.50)", "-1234.50"),
            ("12 €", "12"),
            ("EUR 12,5", "12.5"),
            ("US$ 3", "3"),
            ("12.5%", "12.5"),
            ("12,5 %", "12.5"),
            ("+7%", "7"),
        ] {
            assert_eq!(plain_form(text).as_deref(), Some(expected), "{text}");
            assert!(number(expected).is_some());
        }
    }

    #[test]
    fn other_texts_have_none() {
        for text in [
            "",
            "1",
            "1e5",
            "-2.5",
            "inf",
            "$",
            "%",
            "-",
            "a",
            "12a",
            "a12",
            "1,2,3",
            "1.2.3",
            "31.01.2025",
            "192.168.1.1",
            "1-2",
            "12:30",
            "1,",
            ",5",
            "1,23.4,5",
            "1 23",
            "(a)",
            "12 km",
            "3,1,4",
            "1,234.56.7",
        ] {
            assert_eq!(plain_form(text), None, "{text}");
        }
    }
}
