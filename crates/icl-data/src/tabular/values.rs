//! Meaning of the text of a field: a number, a missing value, a word.

/// Returns `true` if a field stands for a missing value in every column.
pub(super) fn is_missing(text: &str) -> bool {
    text.is_empty() || text == "?" || text.eq_ignore_ascii_case("n/a")
}

/// Returns `true` if a field stands for a missing value next to numbers. In a column of texts it is a text, such as
/// `NA` for Namibia.
pub(super) fn is_word(text: &str) -> bool {
    const WORDS: [&str; 3] = ["na", "nan", "null"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns the number that a field holds, which may be infinite; `None` for text and missing values.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| !value.is_nan())
}
