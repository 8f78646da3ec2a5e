//! Work that is repeated, and the means to make it: backends, numbers, waiting for the device.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::beside_kernels;

/// Work to repeat.
pub struct Work {
    /// Counts or the resulting value, which show that the other sides do the same.
    pub facts: String,
    /// Does the work once, to its end on the device.
    pub repeat: Box<dyn FnMut()>,
}

/// Returns the work of a training step, done where the trainer does it, to its end on the device.
pub fn as_in_training<B: Backend>(
    device: &B::Device,
    mut step: impl FnMut() + Send + 'static,
) -> Box<dyn FnMut()> {
    let device = device.clone();
    Box::new(move || {
        beside_kernels::<B, _>(&mut step);
        B::sync(&device).expect("the device did its work");
    })
}

/// Counts the trained parameters of a module.
pub fn n_trained<B: Backend>(module: &impl Module<B>) -> usize {
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

/// Returns numbers in [0, 1) that both sides make alike: SplitMix64 (Steele, Lea and Flood, 2014),
/// its upper 24 bits.
pub fn hashed(stream: u64) -> impl Iterator<Item = f64> {
    (1_u64..).map(move |index| {
        let z = (stream << 32)
            .wrapping_add(index)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f64 / f64::from(1 << 24)
    })
}

/// Returns anchors and positives similar to them, both `[n, width]`.
pub fn embeddings<B: Backend>(n: usize, width: usize, device: &B::Device) -> [Tensor<B, 2>; 2] {
    let anchors: Vec<f64> = hashed(2).take(n * width).map(|x| x - 0.5).collect();
    let positives = anchors.iter().zip(hashed(3));
    let positives = positives
        .map(|(anchor, x)| 0.5 * anchor + 0.5 * (x - 0.5))
        .collect();
    [anchors, positives].map(|values| {
        let data = TensorData::new(values, [n, width]).convert::<f32>();
        Tensor::from_data(data, device)
    })
}
