//! Words on inner loops that do nothing.

use icl_train::INERT_MOVE;

use crate::text::number::scientific;

/// Returns a sentence on a method whose inner loops hardly move the encoder: by `found`, relative to its size.
pub(crate) fn inert_sentence(method: &str, found: f64) -> String {
    format!(
        "The inner loop of {method} does almost nothing: ‖θ′ − θ‖/‖θ‖ is {} on average, below {}. A larger \
         --support-learning-rate makes it move.",
        scientific(found),
        scientific(INERT_MOVE),
    )
}
