//! Suggestions for names that nothing has.

/// Smallest similarity of a name that is suggested, that of the parser of the command line.
const SIMILAR: f64 = 0.7;

/// Returns the suggestion of the known name that is most similar to one that was found, as the end of a message;
/// empty where none is similar.
pub fn suggestion<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let found = found.to_lowercase();
    let similarity = |name: &str| strsim::jaro(&found, &name.to_lowercase());
    let rated = known.into_iter().map(|name| (similarity(name), name));
    let nearest = rated.max_by(|one, other| one.0.total_cmp(&other.0));
    match nearest.filter(|(similarity, _)| *similarity > SIMILAR) {
        Some((_, name)) => format!(" (did you mean {name}?)"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_suggested() {
        let known = ["warm", "warm-sub", "retraining", "MUTAG"];
        let suggested = |found: &str| suggestion(found, known);
        assert_eq!(suggested("wram"), " (did you mean warm?)");
        assert_eq!(suggested("retrain"), " (did you mean retraining?)");
        assert_eq!(suggested("mutga"), " (did you mean MUTAG?)");
        assert_eq!(suggested("xyz"), "");
        assert_eq!(suggestion("warm", []), "");
    }
}
