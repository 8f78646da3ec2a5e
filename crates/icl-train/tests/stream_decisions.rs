//! Decisions of a stream, the drift by which some are made, and updates that are rejected.

use crate::stream::{advance, arriving, stream, update};
use crate::toy::{Linear, points};
use burn::module::AutodiffModule;
use icl_core::Encoder;
use icl_core::drift::Verdict;
use icl_core::testing::TestAutodiff;
use icl_train::{Arriving, Callbacks, Experience, Keep, Live, Method, Policy, StreamState, When};

/// A decision remembers what it was, and is refused by a policy that cannot be.
#[test]
fn decisions_are_kept_with_their_experience() {
    let samples = points();
    let encoder = Linear::<TestAutodiff>::new(1).valid();
    let of = |at_latest| {
        let policy = Policy {
            when: When::Every(3),
            at_latest,
            ..Policy::default()
        };
        stream(&samples, Keep::All).policy(policy)
    };
    let mut state = of(None).adopt(&encoder, &arriving(0)).unwrap();
    assert_eq!(state.experiences()[0].decision, None);
    let refused = of(Some(0)).decide(&mut state, &encoder, &arriving(1));
    let refused = refused.unwrap_err().to_string();
    assert_eq!(refused, "at_latest: found 0, expected at least 1");
    let decision = of(Some(2)).decide(&mut state, &encoder, &arriving(1));
    let state = of(Some(2)).wait(state, &encoder, &arriving(1)).unwrap();
    let decision = decision.unwrap();
    assert!(!decision.update);
    assert_eq!(state.experiences()[1].decision, Some(decision));
}

/// The drift is that to all that is pending: none within a region, a clear one to another region.
#[test]
fn drift_is_measured_before_an_update() {
    let samples: Vec<[f32; 4]> = (0..400)
        .map(|at| {
            let angle = at as f32;
            match at < 300 {
                true => [angle.sin(), angle.cos(), 0.1, 0.0],
                false => [0.0, 0.1, angle.sin(), 5.0],
            }
        })
        .collect();
    let of = stream(&samples, Keep::All);
    let of_range = |name, range: std::ops::Range<usize>| Arriving {
        name,
        samples: range.collect(),
        held_out: None,
    };
    let encoder = Linear::<TestAutodiff>::new(1).valid();
    let state = of.adopt(&encoder, &of_range("a", 0..200)).unwrap();
    let (still, passes) = of
        .drift(&state, &encoder, &of_range("b", 200..300), 0.05)
        .unwrap();
    assert_eq!(still.verdict(), Verdict::Keep, "{}", still.reason());
    // Both views of 160 kept and of 80 new samples, forward.
    let share = <Linear<TestAutodiff> as Encoder<TestAutodiff>>::FORWARD_SHARE;
    assert!((passes - 2.0 * 240.0 * share).abs() < 1e-9, "{passes}");
    let far = of_range("c", 300..400);
    let (drift, _) = of.drift(&state, &encoder, &far, 0.05).unwrap();
    assert_eq!(drift.verdict(), Verdict::Update, "{}", drift.reason());
    // What waits counts with what arrives.
    let state = of.wait(state, &encoder, &far).unwrap();
    let (merged, passes) = of
        .drift(&state, &encoder, &of_range("b", 200..300), 0.05)
        .unwrap();
    assert_eq!(merged.verdict(), Verdict::Update, "{}", merged.reason());
    assert!((passes - 2.0 * 320.0 * share).abs() < 1e-9, "{passes}");
}

/// After an update that is rejected the experience waits as if there had been none, at the cost of the attempt.
#[test]
fn a_rejected_update_costs_what_it_cost_and_changes_nothing_else() {
    let samples = points();
    let method = Method::icl();
    let of = stream(&samples, Keep::Equal(15)).policy(Policy {
        when: When::Regret(1e-6),
        ..Policy::default()
    });
    let first = advance(&of, None, &method, arriving(0)).unwrap().live;
    let mut before = first.state.clone();
    // The drift that the decision measures costs passes, too.
    let decision = of.decide(&mut before, &first.encoder, &arriving(1));
    let decision = decision.unwrap();
    let live = Live {
        state: before.clone(),
        ..first.clone()
    };
    let mut callbacks = Callbacks::new();
    let tried = of.next(live, arriving(1), update(&method, &mut callbacks));
    let tried = tried.unwrap().live.state;
    let attempt = &tried.experiences()[1];
    let rejected = of.reject(before.clone(), &first.encoder, &arriving(1), attempt);
    let rejected = rejected.unwrap();
    let waiting = of.wait(before, &first.encoder, &arriving(1)).unwrap();
    assert_eq!(rejected.memory(), waiting.memory());
    assert_eq!(rejected.matrix(), waiting.matrix());
    assert_eq!(rejected.n_steps(), first.state.n_steps());
    let [of_rejected, of_waiting] = [&rejected, &waiting].map(|it| &it.experiences()[1]);
    assert_eq!(of_rejected.decision, Some(decision));
    let expected = Experience {
        is_rejected: true,
        n_old: attempt.n_old,
        n_new: attempt.n_new,
        epochs: attempt.epochs,
        n_steps: attempt.n_steps,
        stopped_by: attempt.stopped_by,
        cost: attempt.cost,
        ..of_waiting.clone()
    };
    assert_eq!(*of_rejected, expected);
    // The drift is in it once.
    assert!(of_waiting.cost.charged() > 0.0 && attempt.cost.training > 0.0);
    let charged = attempt.cost.training + of_waiting.cost.charged();
    assert!(attempt.cost.charged() >= charged);
    assert_eq!(rejected.charged_to_updates(), attempt.cost.charged());
    assert_eq!(rejected.cost_of_last_update(), attempt.cost.charged());
    // It ends the updates that a budget no longer pays for.
    let short = of.policy(Policy {
        budget_total: Some(attempt.cost.charged()),
        ..Policy::default()
    });
    let mut next = rejected.clone();
    let decision = short.decide(&mut next, &first.encoder, &arriving(2));
    let decision = decision.unwrap();
    assert!(!decision.update && decision.reason.contains("is used up"));

    // The next update has the samples of both, and a stored state continues in the same way.
    let text = serde_json::to_string(&rejected).unwrap();
    let stored: StreamState = serde_json::from_str(&text).unwrap();
    let [next, resumed] = [rejected, stored].map(|state| {
        let live = Live {
            state,
            ..first.clone()
        };
        let of = stream(&samples, Keep::Equal(15));
        let mut callbacks = Callbacks::new();
        of.next(live, arriving(2), update(&method, &mut callbacks))
            .unwrap()
    });
    assert_eq!(next.live.state, resumed.live.state);
    let experiences = next.live.state.experiences();
    let held_out = |at: usize| experiences[at].held_out.clone();
    let mut new = next.increment.new_data().to_vec();
    new.sort_unstable();
    let expected = (25..60).filter(|it| ![held_out(1), held_out(2)].concat().contains(it));
    assert_eq!(new, expected.collect::<Vec<_>>());
}
