//! Dates and times in other forms than ISO 8601, whose texts are not in the order of time.

use crate::instant::instant;

/// Names of the months, of which three letters or more stand for a month.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Beginnings of words that a date may hold next to the name of a month.
const BESIDE_MONTHS: [&str; 12] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "am", "pm", "utc", "gmt", "z",
];
/// First year of two digits that belongs to the 20th century, as in POSIX; those before it are of the 21st.
const LAST_CENTURY: u32 = 69;

/// Returns the form of ISO 8601 of a date or of a time of day; `None` if it has that form, or is neither.
pub(super) fn iso_form(text: &str) -> Option<String> {
    if instant(text).is_some() {
        return None;
    }
    if let Some(clock) = padded_clock(text) {
        return (clock != text).then_some(clock);
    }
    let (date, clock) = match text.split_once([' ', 'T']) {
        Some((date, clock)) if date.contains(|it: char| it.is_ascii_digit()) => (date, Some(clock)),
        _ => (text, None),
    };
    let with_clock = |date: String| match clock.map(str::trim).map(padded_clock) {
        None => Some(date),
        Some(clock) => clock.map(|clock| format!("{date}T{clock}")),
    };
    let numeric = iso_date(date).and_then(with_clock);
    numeric.or_else(|| with_named_month(text))
}

/// Returns the form of ISO 8601 of a date in digits, which may lack the day.
fn iso_date(date: &str) -> Option<String> {
    let separator = date.chars().find(|it| !it.is_ascii_digit())?;
    if !['.', '/', '-'].contains(&separator) {
        return None;
    }
    let parts: Vec<&str> = date.trim_end_matches('.').split(separator).collect();
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| number(part)).collect();
    match (&parts[..], &numbers?[..]) {
        // Year first and padded: the order of the texts is that of time, so that no other form is needed.
        ([year, month, day], _) if [year.len(), month.len(), day.len()] == [4, 2, 2] => None,
        ([year, _, _], &[y, m, d]) if year.len() == 4 => dated(y, m, Some(d)),
        ([_, year], &[m, y]) if year.len() == 4 => dated(y, m, None),
        ([first, _, year], &[a, b, y]) => {
            let y = match year.len() {
                4 => y,
                // Other numbers with points, such as versions, have fewer digits.
                2 if separator == '/' || first.len() == 2 => match y < LAST_CENTURY {
                    true => 2000 + y,
                    false => 1900 + y,
                },
                _ => return None,
            };
            // Slashes are of the United States, where the month comes first, unless the numbers say otherwise.
            let day_first = || dated(y, b, Some(a));
            let month_first = || dated(y, a, Some(b));
            match separator {
                '/' => month_first().or_else(day_first),
                _ => day_first().or_else(month_first),
            }
        }
        _ => None,
    }
}

fn dated(year: u32, month: u32, day: Option<u32>) -> Option<String> {
    let date = format!("{year:04}-{month:02}-{:02}", day.unwrap_or(1));
    instant(&date)?;
    Some(match day {
        Some(_) => date,
        None => date[..7].to_owned(),
    })
}

/// Returns the form of ISO 8601 of a date with the English name of a month.
fn with_named_month(text: &str) -> Option<String> {
    let (mut month, mut day, mut year) = (None, None, None);
    let words = text.split(|it: char| !it.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        let lower = word.to_ascii_lowercase();
        let is_name = |name: &&str| lower.len() >= 3 && name.starts_with(&lower);
        let plain = lower.trim_end_matches(|it: char| it.is_ascii_alphabetic());
        if let Some(at) = MONTHS.iter().position(is_name) {
            month = Some(at as u32 + 1);
        } else if plain.len() == 4 {
            year = year.or(number(plain));
        } else if (1..=2).contains(&plain.len()) {
            day = day.or(number(plain));
        } else if !BESIDE_MONTHS
            .iter()
            .any(|beginning| lower.starts_with(beginning))
        {
            return None;
        }
    }
    dated(year?, month?, day)
}

/// Returns a time of day with two digits for each number, on a clock of 24 hours.
fn padded_clock(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let (clock, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(clock), _) => (clock.trim_end(), Some(0)),
        (_, Some(clock)) => (clock.trim_end(), Some(12)),
        _ => (&*lower, None),
    };
    let (hour, rest) = match clock.split_once(':') {
        Some((hour, rest)) => (number(hour)?, rest),
        None => (half.and(number(clock))?, "00"),
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        None => hour,
        Some(_) => return None,
    };
    let clock = format!("{hour:02}:{rest}");
    // Any day has the times that are valid.
    instant(&format!("1970-01-01T{clock}")).map(|_| clock)
}

fn number(text: &str) -> Option<u32> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_their_iso_form() {
        for (text, expected) in [
            ("31.01.2025", "2025-01-31"),
            ("1.2.2025", "2025-02-01"),
            ("31.01.25", "2025-01-31"),
            ("01/31/2025", "2025-01-31"),
            ("1/2/2025", "2025-01-02"),
            ("31/01/2025", "2025-01-31"),
            ("12/31/99", "1999-12-31"),
            ("31-01-2025", "2025-01-31"),
            ("2025/1/31", "2025-01-31"),
            ("1/2/25", "2025-01-02"),
            ("01/2025", "2025-01"),
            ("31.01.2025 9:05", "2025-01-31T09:05"),
            ("01/31/2025 1:05:07 PM", "2025-01-31T13:05:07"),
            ("Jan 31, 2025", "2025-01-31"),
            ("31-Jan-2025", "2025-01-31"),
            ("Fri, 31 January 2025 10:00:00 GMT", "2025-01-31"),
            ("31st of", ""),
            ("May 2025", "2025-05"),
            ("Sept 3rd 2025", "2025-09-03"),
            ("9:05", "09:05"),
            ("12:30 AM", "00:30"),
            ("1pm", "13:00"),
        ] {
            let expected = (!expected.is_empty()).then(|| expected.to_owned());
            assert_eq!(iso_form(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_have_none() {
        for text in [
            "",
            "2025-01-31",
            "2025/01/31",
            "2025-1-31",
            "2025-01-31T10:00Z",
            "2025-01",
            "09:05",
            "31.02.2025",
            "1.2.3",
            "10.12.4",
            "192.168.1.1",
            "maybe 2025",
            "mayor",
            "3 of 2025",
            "q1 2025",
            "a/b/c",
            "é.1.2025",
            "25:00",
            "13:00 PM",
            "pm",
        ] {
            assert_eq!(iso_form(text), None, "{text}");
        }
    }
}
