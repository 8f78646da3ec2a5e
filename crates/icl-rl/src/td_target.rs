//! What the critic learns.

use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

/// The target of temporal-difference learning.
///
/// ```text
/// y = r + γ · (1 − terminated) · Q′(s′, μ′(s′))
/// ```
///
/// `continues` is 1 − terminated. An episode that was only cut off (truncated) goes on in truth, so
/// its last state keeps its value (Pardo et al., 2018). All tensors are `[batch, 1]`.
///
/// Source: Lillicrap et al. (2016), who have no terminal states in the formula.
pub(crate) fn td_target<B: Backend>(
    rewards: Tensor<B, 2>,
    continues: Tensor<B, 2>,
    next_values: Tensor<B, 2>,
    discount: f64,
) -> Tensor<B, 2> {
    rewards + continues * next_values * discount
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minibatch::Minibatch;
    use crate::replay::Transition;
    use crate::testing::{TestAutodiff, assert_close, matrix, to_vec};

    #[test]
    fn only_termination_cuts_the_value_of_what_follows() {
        let cases = [
            // terminated, truncated, r, Q′, y = r + 0.9 Q′ unless terminated
            (false, false, 0.5, 2.0, 2.3),
            (true, false, 0.5, 2.0, 0.5),
            (false, true, 0.5, 2.0, 2.3),
            (true, true, -1.0, -4.0, -1.0),
            (false, true, -1.0, -4.0, -4.6),
        ];
        let transitions = cases.map(|(terminated, truncated, reward, _, _)| Transition {
            window: vec![0.25, 0.5],
            action: 0.125,
            reward,
            next_state: vec![0.75],
            terminated,
            truncated,
        });
        let references: Vec<&Transition> = transitions.iter().collect();
        let batch = Minibatch::<TestAutodiff>::new(&references, &Default::default());
        let next_values = matrix(&cases.map(|case| case.3), [5, 1]);
        let targets = td_target(batch.rewards, batch.continues, next_values, 0.9);
        assert_close(&to_vec(&targets), &cases.map(|case| case.4), 1e-6);
    }

    #[test]
    fn windows_are_laid_out_by_time() {
        let at = |offset: f64| Transition {
            window: (0..6).map(|k| offset + f64::from(k)).collect(),
            action: offset,
            reward: 0.0,
            next_state: vec![offset + 6.0, offset + 7.0],
            terminated: false,
            truncated: false,
        };
        let (a, b) = (at(0.0), at(100.0));
        let batch = Minibatch::<TestAutodiff>::new(&[&a, &b], &Default::default());
        let rows = |window: &[_]| window.iter().map(to_vec).collect::<Vec<_>>();
        assert_eq!(
            rows(&batch.window),
            [
                [0., 1., 100., 101.],
                [2., 3., 102., 103.],
                [4., 5., 104., 105.]
            ]
        );
        assert_eq!(
            rows(&batch.next_window),
            [
                [2., 3., 102., 103.],
                [4., 5., 104., 105.],
                [6., 7., 106., 107.]
            ]
        );
        assert_eq!(to_vec(&batch.states()), [4., 5., 104., 105.]);
        assert_eq!(to_vec(&batch.next_states()), [6., 7., 106., 107.]);
        assert_eq!(to_vec(&batch.actions), [0., 100.]);
    }
}
