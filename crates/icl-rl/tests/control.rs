//! The agent steers a point mass to the origin about as well as the best linear controller.

use crate::backend::TestAutodiff;
use icl_rl::{Ddpg, DdpgConfig, Feedback};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Time between two actions.
const DT: f64 = 0.25;
/// Number of steps until an episode is cut off.
const N_STEPS: usize = 40;
/// Costs of a distance, a speed and an acceleration of 1.
const COSTS: [f64; 3] = [0.25, 0.0625, 0.05];
/// Distance of the walls from the origin, and maximum speed.
const LIMIT: f64 = 1.5;

/// Takes a step of a double integrator between walls: the action is the acceleration.
fn step([x, v]: [f64; 2], action: f64) -> ([f64; 2], f64) {
    let cost = COSTS[0] * x * x + COSTS[1] * v * v + COSTS[2] * action * action;
    let next = [x + DT * v, v + DT * action].map(|s| s.clamp(-LIMIT, LIMIT));
    (next, -cost)
}

fn start(rng: &mut Pcg64) -> [f64; 2] {
    [2.0 * rng.random::<f64>() - 1.0, rng.random::<f64>() - 0.5]
}

/// Returns the mean return over 30 starts at which no training episode begins. The second argument of the
/// policy is whether a state is the first of its episode.
fn mean_return(mut policy: impl FnMut([f64; 2], bool) -> f64) -> f64 {
    let mut rng = Pcg64::seed_from_u64(999);
    let n_starts = 30;
    let mut total = 0.0;
    for _ in 0..n_starts {
        let mut state = start(&mut rng);
        for t in 0..N_STEPS {
            let (next, reward) = step(state, policy(state, t == 0));
            state = next;
            total += reward;
        }
    }
    total / f64::from(n_starts)
}

/// Returns the gain k of the optimal a = −k·s without walls and limits, by the Riccati recursion
/// P ← Q + Aᵀ P A − Aᵀ P B (R + Bᵀ P B)⁻¹ Bᵀ P A, element by element, until it converges.
fn optimal_gain() -> [f64; 2] {
    let [q_x, q_v, r] = COSTS;
    let (mut xx, mut xv, mut vv) = (q_x, 0.0, q_v);
    let mut gain = [0.0; 2];
    for _ in 0..2000 {
        // A = [[1, Δt], [0, 1]] and B = [0, Δt].
        let scale = r + DT * DT * vv;
        let b_p_a = [DT * xv, DT * (DT * xv + vv)];
        gain = b_p_a.map(|g| g / scale);
        let a_p_a = [xx, DT * xx + xv, DT * DT * xx + 2.0 * DT * xv + vv];
        xx = q_x + a_p_a[0] - b_p_a[0] * gain[0];
        xv = a_p_a[1] - b_p_a[0] * gain[1];
        vv = q_v + a_p_a[2] - b_p_a[1] * gain[1];
    }
    gain
}

fn trained(seed: u64) -> Ddpg<TestAutodiff> {
    let mut agent: Ddpg<TestAutodiff> = DdpgConfig::new(2)
        .with_discount(0.95)
        .with_actor_learning_rate(1e-3)
        .with_soft_update(1e-2)
        .with_warm_up(500)
        .init(seed, &Default::default());
    let mut rng = Pcg64::seed_from_u64(seed);
    for _ in 0..N_EPISODES {
        let mut state = start(&mut rng);
        for t in 1..=N_STEPS {
            let (next, reward) = step(state, agent.act(&state));
            state = next;
            agent.feedback(Feedback {
                reward,
                next_state: &state,
                terminated: false,
                truncated: t == N_STEPS,
            });
        }
    }
    agent
}
const N_EPISODES: usize = 150;

/// Asserts that the trained policy closes most of the gap between random actions and the optimal
/// controller.
///
/// After about 50 episodes the greedy policy closes between 0.92 and 0.999 of the gap, with every
/// history and batch size tried: the critic has ten rectifiers, and the noise continues. Doing nothing
/// closes 0.1 of it.
#[track_caller]
fn assert_solved(seed: u64) {
    let gain = optimal_gain();
    let linear = |s: [f64; 2]| (-gain[0] * s[0] - gain[1] * s[1]).clamp(-1.0, 1.0);
    let best = mean_return(|state, _| linear(state));
    let mut rng = Pcg64::seed_from_u64(5);
    let random = mean_return(|_, _| 2.0 * rng.random::<f64>() - 1.0);
    let idle = mean_return(|_, _| 0.0);

    let mut agent = trained(seed);
    let reached = mean_return(|state, is_first| {
        if is_first {
            agent.begin_episode();
        }
        agent.act_greedily(&state)
    });
    let closed = (reached - random) / (best - random);
    println!(
        "seed {seed}: random {random:.3}, idle {idle:.3}, trained {reached:.3}, linear {best:.3}: \
         {closed:.4} of the way"
    );
    assert!(idle < -10.0 && random < -10.0 && best > -1.0);
    assert!(closed > 0.9, "seed {seed}: {closed} of the way");
}

#[test]
fn the_optimal_gain_is_optimal() {
    let gain = optimal_gain();
    let of = |gain: [f64; 2]| mean_return(|s, _| -gain[0] * s[0] - gain[1] * s[1]);
    let best = of(gain);
    for change in [[0.2, 0.0], [-0.2, 0.0], [0.0, 0.2], [0.0, -0.2]] {
        assert!(of([gain[0] + change[0], gain[1] + change[1]]) < best);
    }
}

#[test]
fn it_solves_the_point_mass_with_seed_1() {
    assert_solved(1);
}

#[test]
fn it_solves_the_point_mass_with_seed_2() {
    assert_solved(2);
}

#[test]
fn it_solves_the_point_mass_with_seed_3() {
    assert_solved(3);
}
