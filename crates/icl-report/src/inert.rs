//! Words on inner loops that do nothing.

use icl_train::{INERT_MOVE, inert_move};

use crate::text::number::scientific;

/// Returns a sentence on a method whose inner loops hardly move the encoder; `None` for others. `support_moves`
/// are the mean relative moves of each epoch.
pub(crate) fn inert_sentence(method: &str, support_moves: &[f64]) -> Option<String> {
    let found = inert_move(support_moves)?;
    Some(format!(
        "The inner loop of {method} does almost nothing: ‖θ′ − θ‖/‖θ‖ is {} on average, below {}. A larger \
         --support-learning-rate makes it move.",
        scientific(found),
        scientific(INERT_MOVE),
    ))
}
