//! The work of a case, the same code for every backend.

mod graphs;
mod images;
mod losses;
pub mod repeated;

use std::error::Error;

use icl_rl::DdpgConfig;

use burn::tensor::backend::AutodiffBackend;

use crate::case::Case;
use crate::work::repeated::Work;

/// Number of values of a state, and number of states in an agent's history.
const D_STATE: usize = 3;
const HISTORY: usize = 8;

/// Returns the work of a case on a device.
///
/// # Errors
/// If the case needs data that cannot be read.
pub fn of<B: AutodiffBackend>(case: &Case, device: &B::Device) -> Result<Work, Box<dyn Error>> {
    Ok(match *case {
        Case::Gcn { graphs, n_samples } => graphs::step::<B>(graphs, n_samples, device)?,
        Case::ResNet {
            stem,
            side,
            n_images,
        } => images::resnet::<B>(stem, side, n_images, device),
        Case::ConvNet { n_images } => images::convnet::<B>(n_images, device),
        Case::Perceptron { n_rows } => images::perceptron::<B>(n_rows, device),
        Case::InfoNce { n, width } => losses::info_nce::<B>(n, width, device),
        Case::Risk { n } => losses::risk::<B::InnerBackend>(n, device),
        Case::Decision => decision::<B>(device),
    })
}

/// Returns the work of an actor with two LSTM layers: its action for the last states, of which one
/// is new. The action is a number on the host, so the device has finished.
fn decision<B: AutodiffBackend>(device: &B::Device) -> Work {
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
