//! Decisions of a stream, and the drift by which some are made.

use crate::stream::{arriving, stream};
use crate::toy::{Linear, points};
use burn::module::AutodiffModule;
use icl_core::Encoder;
use icl_core::drift::Verdict;
use icl_core::testing::TestAutodiff;
use icl_train::{Arriving, Keep, Policy, When};

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
