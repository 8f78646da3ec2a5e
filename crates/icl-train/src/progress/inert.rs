//! The check for inner loops that do nothing.

/// Mean relative move ‖θ′ − θ‖/‖θ‖ below which the inner loop counts as inert. At a move of 1e-4 the gradients at
/// θ and at θ′ are the same to four digits.
pub const INERT_MOVE: f64 = 1e-4;

/// Returns the mean relative move of the inner loops of a run if it is below [`INERT_MOVE`], from its mean in
/// each epoch ([`support_moves`](crate::TrainingRecord::support_moves)). Meta-optimization is then plain training
/// on the queries at a higher cost. `None` for a run that moves further, and for one without inner loops.
///
/// ```
/// assert_eq!(icl_train::inert_move(&[1e-6, 3e-6]), Some(2e-6));
/// assert_eq!(icl_train::inert_move(&[1e-6, 3e-2]), None);
/// assert_eq!(icl_train::inert_move(&[]), None);
/// ```
pub fn inert_move(support_moves: &[f64]) -> Option<f64> {
    let mean = support_moves.iter().sum::<f64>() / support_moves.len() as f64;
    (mean < INERT_MOVE).then_some(mean)
}
