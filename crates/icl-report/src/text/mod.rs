//! Words and numbers as every format shows them.

pub(crate) mod escape;
pub mod number;
pub(crate) mod rich_text;
pub(crate) mod wrap;

pub use escape::escape;
pub use rich_text::RichText;

use icl_train::Answer;

/// Returns the words for the answer of a comparison.
pub(crate) fn answer_words(answer: Answer) -> &'static str {
    match answer {
        Answer::Better => "better",
        Answer::NoClearDifference => "no clear difference",
        Answer::Worse => "worse",
    }
}
