//! An agent's decision.

use icl_rl::DdpgConfig;

use super::{TrainingBackend, Work};

const D_STATE: usize = 3;
const HISTORY: usize = 8;

/// The action of an actor with two LSTM layers for the last states, of which one is new. The action
/// is a number on the host, so the device has done its work.
pub fn decision<B: TrainingBackend>(device: &B::Device) -> Work {
    let config = DdpgConfig::new(D_STATE).with_history(HISTORY);
    let facts = format!(
        "{HISTORY} states of {D_STATE} numbers, 2 layers of {}",
        config.d_actor_hidden
    );
    let mut agent = config.init::<B>(0, device);
    let mut at = 0.0_f64;
    let repeat = move || {
        at += 1.0;
        std::hint::black_box(agent.act_greedily(&[at.sin(), at.cos(), 0.5]));
    };
    Work {
        facts,
        repeat: Box::new(repeat),
    }
}
