//! The end of an episode, and rejected input.

use crate::backend::TestAutodiff;
use icl_rl::{Ddpg, DdpgConfig, Feedback, OuNoiseConfig};

type Agent = Ddpg<TestAutodiff>;

fn answer(reward: f64, next_state: &[f64]) -> Feedback<'_> {
    Feedback {
        reward,
        next_state,
        terminated: false,
        truncated: false,
    }
}

/// Returns the value that the critic learns in an environment with one state, a reward of 1 per step,
/// γ = 0.5, and episodes of one step that end in this way.
fn value_of_one_state(terminated: bool, truncated: bool) -> f64 {
    let mut agent: Agent = DdpgConfig::new(1)
        .with_history(2)
        .with_d_actor_hidden(3)
        .with_discount(0.5)
        .with_soft_update(0.05)
        .with_critic_learning_rate(1e-2)
        .with_warm_up(16)
        .init(4, &Default::default());
    let mut value = 0.0;
    for _ in 0..800 {
        agent.act(&[0.5]);
        let learned = agent.feedback(Feedback {
            terminated,
            truncated,
            ..answer(1.0, &[0.5])
        });
        value = learned.map_or(value, |learned| learned.mean_value);
    }
    value
}

#[test]
fn a_truncated_episode_keeps_its_value_and_a_terminated_one_loses_it() {
    // V = 1 + γ V for an episode that goes on, so 2; V = 1 for one that ends.
    let cases = [
        (false, false, 2.0),
        (false, true, 2.0),
        (true, false, 1.0),
        (true, true, 1.0),
    ];
    for (terminated, truncated, expected) in cases {
        let found = value_of_one_state(terminated, truncated);
        assert!(
            (found - expected).abs() < 0.05,
            "terminated {terminated}, truncated {truncated}: {found} for {expected}"
        );
    }
}

#[test]
fn the_end_of_an_episode_begins_the_window_anew() {
    let config = DdpgConfig::new(1).with_noise(OuNoiseConfig::new().with_sigma(0.0));
    let first: Agent = config.init(4, &Default::default());
    let fresh = first.clone().act(&[0.3]);
    for (terminated, truncated) in [(true, false), (false, true)] {
        let mut agent = first.clone();
        for state in [0.9, -0.4] {
            agent.act(&[state]);
            agent.feedback(answer(0.0, &[state]));
        }
        assert_ne!(agent.clone().act(&[0.3]), fresh, "the window counts");
        agent.act(&[0.1]);
        agent.feedback(Feedback {
            terminated,
            truncated,
            ..answer(0.0, &[0.2])
        });
        assert_eq!(agent.act(&[0.3]), fresh);
    }
    let mut left = first.clone();
    left.act(&[0.9]);
    left.begin_episode();
    assert_eq!(left.act(&[0.3]), fresh);
}

#[test]
fn without_noise_exploring_is_greedy_and_actions_keep_their_range() {
    let silent = DdpgConfig::new(2).with_noise(OuNoiseConfig::new().with_sigma(0.0));
    let agent: Agent = silent.init(9, &Default::default());
    let (mut one, mut other) = (agent.clone(), agent);
    for state in [[0.1, 0.2], [0.3, -0.2], [4.0, 5.0]] {
        assert_eq!(one.act(&state), other.act_greedily(&state));
    }

    let loud = DdpgConfig::new(1).with_noise(OuNoiseConfig::new().with_sigma(50.0));
    let mut agent: Agent = loud.init(9, &Default::default());
    let actions: Vec<f64> = (0..200).map(|_| agent.act(&[0.0])).collect();
    assert!(actions.iter().all(|a| (-1.0..=1.0).contains(a)));
    assert!(actions.contains(&1.0) && actions.contains(&-1.0));
}

#[test]
fn the_seed_fixes_everything() {
    let run = |seed: u64| -> Vec<f64> {
        let config = DdpgConfig::new(1).with_history(2).with_warm_up(4);
        let mut agent: Agent = config.init(seed, &Default::default());
        (0..30)
            .map(|t| {
                let state = [f64::from(t) / 30.0];
                let action = agent.act(&state);
                agent.feedback(answer(action, &state));
                action
            })
            .collect()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn it_learns_from_the_warm_up_on() {
    let mut agent: Agent = DdpgConfig::new(1)
        .with_history(1)
        .with_warm_up(5)
        .with_capacity(6)
        .init(1, &Default::default());
    for n in 1..=10 {
        agent.act(&[0.0]);
        assert_eq!(agent.feedback(answer(0.0, &[0.0])).is_some(), n >= 5);
    }
    assert_eq!(agent.n_updates(), 6);
}

fn plain() -> Agent {
    DdpgConfig::new(2).init(1, &Default::default())
}

#[test]
#[should_panic(expected = "state: found 1 numbers, expected 2")]
fn a_state_of_another_width_is_refused() {
    plain().act(&[0.0]);
}

#[test]
#[should_panic(expected = "state: found NaN at 1, expected finite numbers")]
fn a_state_that_is_no_number_is_refused() {
    plain().act_greedily(&[0.0, f64::NAN]);
}

#[test]
#[should_panic(expected = "state: found inf at 0, expected finite numbers")]
fn a_next_state_without_bounds_is_refused() {
    let mut agent = plain();
    agent.act(&[0.0, 0.0]);
    agent.feedback(answer(0.0, &[f64::INFINITY, 0.0]));
}

#[test]
#[should_panic(expected = "reward: found NaN, expected a finite number")]
fn a_reward_that_is_no_number_is_refused() {
    let mut agent = plain();
    agent.act(&[0.0, 0.0]);
    agent.feedback(answer(f64::NAN, &[0.0, 0.0]));
}

#[test]
#[should_panic(
    expected = "feedback: found no action since the last feedback, expected one before it"
)]
fn feedback_to_nothing_is_refused() {
    let mut agent = plain();
    agent.act(&[0.0, 0.0]);
    agent.feedback(answer(0.0, &[0.0, 0.0]));
    agent.feedback(answer(0.0, &[0.0, 0.0]));
}
