//! A loaded agent continues bit by bit as the saved one; damaged bytes are an error.

use crate::backend::TestAutodiff;
use icl_rl::{Ddpg, DdpgConfig, Feedback, Learned, OuNoiseConfig};

type Agent = Ddpg<TestAutodiff>;

/// A small configuration that uses every part: the ring wraps around, gradients are clipped, the noise
/// decays.
fn config() -> DdpgConfig {
    DdpgConfig::new(2)
        .with_history(3)
        .with_d_actor_hidden(4)
        .with_d_critic_hidden(5)
        .with_actor_learning_rate(1e-2)
        .with_soft_update(0.1)
        .with_clip_norm(Some(0.5))
        .with_batch_size(4)
        .with_capacity(16)
        .with_warm_up(6)
        .with_noise(OuNoiseConfig::new().with_decay(0.99))
}

/// Returns the state before step `t` of an environment that ignores actions.
fn state(t: usize) -> [f64; 2] {
    let t = t as f64;
    [(0.7 * t).sin(), (0.3 * t).cos()]
}

fn feed(agent: &mut Agent, t: usize, action: f64) -> Option<Learned> {
    agent.feedback(Feedback {
        reward: -(action - state(t)[0]).powi(2),
        next_state: &state(t + 1),
        terminated: t % 11 == 10,
        truncated: t % 7 == 6,
    })
}

/// Runs some steps and returns actions and statistics of learning, as bits.
fn run(agent: &mut Agent, steps: std::ops::Range<usize>) -> Vec<[u64; 3]> {
    steps
        .map(|t| {
            let action = match t % 5 {
                0 => agent.act_greedily(&state(t)),
                _ => agent.act(&state(t)),
            };
            let learned = feed(agent, t, action);
            let [loss, value] = learned.map_or([0.0; 2], |learned| {
                [learned.critic_loss, learned.mean_value]
            });
            [action, loss, value].map(f64::to_bits)
        })
        .collect()
}

fn loaded(bytes: &[u8]) -> Agent {
    config()
        .load(bytes, &Default::default())
        .expect("the bytes of a saved agent")
}

#[test]
fn the_next_steps_are_the_same_to_the_bit() {
    // Before the first step, before learning, in the middle of an episode, after the ring's turn.
    for n_before in [0, 3, 12, 40] {
        let mut agent: Agent = config().init(5, &Default::default());
        run(&mut agent, 0..n_before);
        let mut again = loaded(&agent.save().unwrap());
        assert_eq!(again.n_updates(), agent.n_updates());
        let steps = n_before..n_before + 20;
        let expected = run(&mut agent, steps.clone());
        assert_eq!(run(&mut again, steps), expected, "after {n_before}");
        assert!(expected.iter().any(|[_, loss, _]| *loss != 0));
    }
}

#[test]
fn an_action_without_feedback_is_saved_too() {
    let mut agent: Agent = config().init(5, &Default::default());
    run(&mut agent, 0..25);
    let action = agent.act(&state(25));
    let mut again = loaded(&agent.save().unwrap());
    assert_eq!(feed(&mut again, 25, action), feed(&mut agent, 25, action));
    assert_eq!(run(&mut again, 26..46), run(&mut agent, 26..46));
}

#[test]
fn a_clone_leaves_the_original_alone() {
    let mut agent: Agent = config().init(5, &Default::default());
    run(&mut agent, 0..20);
    let mut expected = loaded(&agent.save().unwrap());
    run(&mut agent.clone(), 20..60);
    assert_eq!(run(&mut agent, 20..40), run(&mut expected, 20..40));
}

#[test]
fn damaged_bytes_are_an_error() {
    let mut agent: Agent = config().init(5, &Default::default());
    run(&mut agent, 0..20);
    let bytes = agent.save().unwrap();
    let load = |bytes: &[u8]| config().load::<TestAutodiff>(bytes, &Default::default());

    for length in (0..60).chain((60..bytes.len()).step_by(701)) {
        assert!(load(&bytes[..length]).is_err(), "cut at {length}");
    }
    for index in (0..60).chain((60..bytes.len()).step_by(701)) {
        let mut changed = bytes.clone();
        changed[index] ^= 0x10;
        assert!(load(&changed).is_err(), "changed at {index}");
    }
    let longer = [&bytes[..], &[0]].concat();
    let message = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
    assert!(message(&longer).starts_with("saved agent: found the checksum "));
    for foreign in [&b""[..], b"{}", b"a text of more than eight bytes"] {
        assert!(message(foreign).starts_with("saved agent: found the first bytes "));
    }
}

#[test]
fn another_configuration_is_an_error() {
    let agent: Agent = config().init(5, &Default::default());
    let bytes = agent.save().unwrap();
    let noise = OuNoiseConfig::new().with_decay(0.9);
    let others = [
        (config().with_history(4), "history"),
        (config().with_d_actor_hidden(8), "d_actor_hidden"),
        (config().with_clip_norm(None), "clip_norm"),
        (config().with_noise(noise), "noise.decay"),
    ];
    for (other, name) in others {
        match other.load::<TestAutodiff>(&bytes, &Default::default()) {
            Err(error) => {
                let start = format!("saved agent: found {name} = ");
                assert!(error.to_string().starts_with(&start), "{error}");
            }
            Ok(_) => panic!("{name}: accepted"),
        }
    }
}
