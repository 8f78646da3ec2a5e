//! The work of a case, written once for every backend.

mod agent;
mod graphs;
mod images;
mod losses;

use std::error::Error;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_models::{GraphBackend, ImageBackend};

use crate::case::Case;

/// A backend that every encoder runs on.
pub trait EncoderBackend: GraphBackend + ImageBackend {}

impl<B: GraphBackend + ImageBackend> EncoderBackend for B {}

/// A backend that every encoder can be trained on.
pub trait TrainingBackend: AutodiffBackend<InnerBackend: EncoderBackend> + EncoderBackend {}

impl<B: AutodiffBackend<InnerBackend: EncoderBackend> + EncoderBackend> TrainingBackend for B {}

/// Something to repeat.
pub struct Work {
    /// What shows that the other sides do the same: counts, or the value that comes out.
    pub facts: String,
    /// Does it once, to its end on the device.
    pub repeat: Box<dyn FnMut()>,
}

/// The work of a case, on a device.
///
/// # Errors
/// If the case needs data that cannot be read.
pub fn of<B: TrainingBackend>(case: &Case, device: &B::Device) -> Result<Work, Box<dyn Error>> {
    Ok(match *case {
        Case::Gcn { graphs, n_samples } => graphs::step::<B>(graphs, n_samples, device)?,
        Case::ResNet {
            stem,
            side,
            n_images,
        } => images::step::<B>(stem, side, n_images, device),
        Case::InfoNce { n, width } => losses::info_nce::<B>(n, width, device),
        Case::Risk { n } => losses::risk::<B::InnerBackend>(n, device),
        Case::Decision => agent::decision::<B>(device),
    })
}

/// Waits until the device has done all that it was told.
fn finish<B: Backend>(device: &B::Device) {
    B::sync(device).expect("the device did its work");
}

/// How many numbers of a module are trained.
fn n_trained<B: Backend>(module: &impl Module<B>) -> usize {
    struct Count(usize);

    impl<B: Backend> ModuleVisitor<B> for Count {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<B, D>>) {
            let value = parameter.val();
            if value.is_require_grad() {
                self.0 += value.shape().num_elements();
            }
        }
    }

    let mut count = Count(0);
    module.visit(&mut count);
    count.0
}
