//! The types of values of options.

use std::any::TypeId;

use clap::Arg;
use toml::de::DeValue;

use crate::options::classes::Classes;
use crate::options::loss::Negatives;

/// Type of the values of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Number,
    /// Numbers, or a word in their place.
    NumberOrWord,
    /// Whole numbers from 0 on.
    Count,
    /// Truth values.
    Boolean,
    /// Names of classes.
    Classes,
    /// Texts: names and paths.
    Text,
}

impl Kind {
    /// Returns the kind of an option.
    pub fn of(option: &Arg) -> Self {
        let value = option.get_value_parser().type_id();
        match () {
            () if value == TypeId::of::<f64>() => Self::Number,
            () if value == TypeId::of::<Negatives>() => Self::NumberOrWord,
            () if value == TypeId::of::<usize>() || value == TypeId::of::<u64>() => Self::Count,
            () if value == TypeId::of::<bool>() => Self::Boolean,
            () if value == TypeId::of::<Classes>() => Self::Classes,
            () => Self::Text,
        }
    }

    /// Returns what a file may hold, in words.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::NumberOrWord => "a number or a string",
            Self::Count => "a whole number, 0 or more",
            Self::Boolean => "true or false",
            Self::Classes => "a string or a list of class names",
            Self::Text => "a string",
        }
    }

    /// Returns a value as an argument has it; `None` for one of another kind.
    pub fn text(self, value: &DeValue<'_>) -> Option<String> {
        match (self, value) {
            (Self::Number | Self::NumberOrWord, DeValue::Float(number)) => {
                Some(number.as_str().replace('_', ""))
            }
            (Self::Number | Self::NumberOrWord, DeValue::Integer(_)) => {
                Some(integer(value)?.to_string())
            }
            (Self::Count, DeValue::Integer(_)) => {
                u64::try_from(integer(value)?).ok().map(|n| n.to_string())
            }
            (Self::Boolean, DeValue::Boolean(value)) => Some(value.to_string()),
            (Self::Text | Self::Classes | Self::NumberOrWord, DeValue::String(text)) => {
                Some(text.to_string())
            }
            (Self::Classes, DeValue::Array(names)) => {
                let names = names.iter().map(|name| match name.get_ref() {
                    DeValue::String(text) => Some(text.to_string()),
                    number => integer(number).map(|number| number.to_string()),
                });
                let names: Vec<String> = names.collect::<Option<_>>()?;
                Some(Classes::text(names.iter().map(String::as_str)))
            }
            _ => None,
        }
    }
}

fn integer(value: &DeValue<'_>) -> Option<i128> {
    let number = value.as_integer()?;
    i128::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
}
