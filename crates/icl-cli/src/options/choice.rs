//! Options whose values are the variants of an enumeration, by the names that serde gives them; suggestions for
//! misspelled names.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Trait of the enumerations that can be options.
pub trait Choice: DeserializeOwned + PartialEq + Clone + Send + Sync + 'static {}

impl<T: DeserializeOwned + PartialEq + Clone + Send + Sync + 'static> Choice for T {}

/// Returns the parser of an option that takes the name of any variant of `T`.
pub fn any<T: Choice>() -> impl TypedValueParser<Value = T> {
    among(names::<T>())
}

/// Returns the parser of an option that takes the name of one of these variants of `T`.
pub fn among<T: Choice>(names: &[&'static str]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(|name| parse::<T>(&name))
}

/// Returns the name of a variant.
pub fn name<T: Choice>(value: &T) -> &'static str {
    let is_own = |name: &&&str| parse::<T>(name).is_ok_and(|other| other == *value);
    names::<T>()
        .iter()
        .find(is_own)
        .copied()
        .unwrap_or_default()
}

fn parse<T: Choice>(name: &str) -> Result<T, Error> {
    T::deserialize(name.into_deserializer())
}

/// Returns the names of all variants, none if `T` is no enumeration.
fn names<T: Choice>() -> &'static [&'static str] {
    let mut names = &[][..];
    // Only the names are needed: there is no value.
    let _ = T::deserialize(Names(&mut names));
    names
}

/// Deserializer that notes the names of the variants that are expected.
struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no value"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = variants;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Smallest similarity of a name that is suggested, that of the parser of the command line.
const SIMILAR: f64 = 0.7;

/// Returns the suggestion of the known name that is nearest to one that was found, as the end of a message; empty where
/// none is near: by slips of the keyboard, or else by the similarity of Jaro.
pub fn suggestion<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let found = found.to_lowercase();
    // In a name of three letters, Jaro's similarity misses two that are swapped: 0.56 for `ilc` and `icl`.
    let most_slips = (found.chars().count() / 3).max(1);
    let rated = known.into_iter().map(|name| {
        let lower = name.to_lowercase();
        let slips = strsim::osa_distance(&found, &lower);
        (
            slips.min(most_slips + 1),
            strsim::jaro(&found, &lower),
            name,
        )
    });
    let nearest = rated.min_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    match nearest.filter(|(slips, similarity, _)| *slips <= most_slips || *similarity > SIMILAR) {
        Some((_, _, name)) => format!(" (did you mean {name}?)"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_train::{RateChoice, StopRule};

    #[test]
    fn names_are_those_of_serde() {
        assert_eq!(
            names::<StopRule>(),
            ["doubling", "slope", "exact-risk", "training-loss", "never"]
        );
        assert_eq!(name(&StopRule::TrainingLoss), "training-loss");
        assert_eq!(parse::<StopRule>("never").unwrap(), StopRule::Never);
        assert!(names::<usize>().is_empty());
    }

    #[test]
    fn a_rate_has_the_name_that_methods_give_it() {
        for name in names::<RateChoice>() {
            let rate: RateChoice = parse(name).unwrap();
            assert_eq!(rate.to_string(), *name);
        }
        assert_eq!(names::<RateChoice>().len(), 8);
    }

    #[test]
    fn the_most_similar_name_is_suggested() {
        let known = ["warm", "warm-sub", "icl", "retraining", "MUTAG"];
        let suggested = |found: &str| suggestion(found, known);
        assert_eq!(suggested("wram"), " (did you mean warm?)");
        assert_eq!(suggested("retrain"), " (did you mean retraining?)");
        assert_eq!(suggested("mutga"), " (did you mean MUTAG?)");
        assert_eq!(suggested("ilc"), " (did you mean icl?)");
        assert_eq!(suggested("warmsub"), " (did you mean warm-sub?)");
        assert_eq!(suggested("xyz"), "");
        assert_eq!(suggestion("warm", []), "");
    }
}
