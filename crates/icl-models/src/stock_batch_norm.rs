//! Re-estimation of the statistics that Burn's own batch normalisation layers store.

use burn::backend::Autodiff;
use burn::module::{AutodiffModule, HasAutodiffModule, Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use icl_core::{Batches, SampleError, host_values};

use crate::batch_norm::Moments;

/// Returns `encoder` with the running statistics of every [`burn::nn::BatchNorm`] in it
/// re-estimated over `batches`, at the current parameters.
///
/// Call it in [`Encoder::recalibrated`](icl_core::Encoder::recalibrated) of an encoder that is built of
/// Burn's stock layers. Without it, the exact risk would depend on the last batches of training:
///
/// ```
/// use burn::module::Module;
/// use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
/// use burn::tensor::{Tensor, backend::Backend};
/// use icl_core::{Batches, Encoder, Mode, SampleError};
/// use icl_models::recalibrate_batch_norm;
///
/// #[derive(Module, Debug)]
/// struct MyEncoder<B: Backend> {
///     linear: Linear<B>,
///     norm: BatchNorm<B>,
/// }
///
/// impl<B: Backend> Encoder<B> for MyEncoder<B> {
///     type Batch = Tensor<B, 2>;
///
///     fn encode(&self, batch: Tensor<B, 2>, _: Mode<'_>) -> Tensor<B, 2> {
///         self.norm.forward(self.linear.forward(batch))
///     }
///
///     fn recalibrated(self, batches: &Batches<'_, Tensor<B, 2>>) -> Result<Self, SampleError> {
///         recalibrate_batch_norm(self, batches, |encoder, batch| {
///             encoder.encode(Tensor::from_inner(batch), Mode::Evaluation)
///         })
///     }
/// }
///
/// # type B = burn::backend::Flex;
/// # let device = Default::default();
/// # let encoder = MyEncoder::<B> {
/// #     linear: LinearConfig::new(1, 1).init(&device),
/// #     norm: BatchNormConfig::new(1).init(&device),
/// # };
/// # let data = Tensor::<B, 2>::from_data([[1.0], [3.0]], &device);
/// # let expected = encoder.linear.forward(data.clone()).mean().into_scalar();
/// # let batches = Batches::new(1, |_| Ok(data.clone()));
/// # let encoder = encoder.recalibrated(&batches).unwrap();
/// # assert!((encoder.norm.running_mean.value().into_scalar() - expected).abs() < 1e-5);
/// ```
///
/// `forward` passes one batch through a copy of the encoder on the backend [`Autodiff<B>`], where
/// Burn's layer normalises by the batch's own statistics whatever the [`Mode`](icl_core::Mode), and
/// returns a tensor with one row for each sample. Batches move to that backend by
/// [`Tensor::from_inner`]; no graph is recorded, and memory is that of one batch.
///
/// # Statistic
///
/// Burn stores, for each channel, the mean and the biased variance over a batch and over all axes
/// but the channels'. From these this function computes, with nᵢ the number of rows that `forward`
/// returns for batch i and n = Σᵢ nᵢ,
///
/// ```text
/// running_mean = Σᵢ nᵢ·meanᵢ / n
/// running_var  = Σᵢ nᵢ·(varᵢ + (meanᵢ − running_mean)²) / n
/// ```
///
/// This is the mean and the biased variance of all inputs of the layer, pooled over the batches, if
/// every sample brings the same number of values to a channel, as vectors and images of one size do.
/// The statistics stored before, and the momentum, have no influence. Inputs of layers above the first
/// normalisation are normalised batch by batch, so the statistics of these layers depend on the
/// composition of the batches, as those of [`ResNet`](crate::ResNet) do. Izmailov et al. (2018)
/// re-estimate the statistics of averaged weights in a similar pass, which leaves out the distances
/// between the means of the batches.
///
/// # Method
///
/// The layer's input is out of reach, but its update is known:
///
/// ```text
/// running ← (1 − momentum)·running + momentum·statisticᵢ
/// ```
///
/// The running statistics are set to 0 before each batch, so that the update leaves
/// momentum·statisticᵢ behind; a second pass of the first batch from a large value K gives
/// 1 − momentum. The result has a relative error of about 10⁻⁷/momentum in single precision. Layers
/// are recognised by the names of Burn 0.21: fields `running_mean` and `running_var` of a struct
/// `BatchNorm`.
///
/// # Limits
///
/// - A layer that `forward` does not reach, or whose momentum is 0, keeps its statistics.
/// - A layer that is used twice in a pass gets an average over both uses in which the later counts
///   1/(1 − momentum) times as much.
/// - Burn's stock `Dropout` is active on [`Autodiff`] and draws from the backend's own generator; an
///   encoder that uses it gets statistics that vary between calls.
///
/// `encoder` and its clones keep their statistics: the result has running states of its own, unlike
/// a clone. Identities of parameters and whether they are trained stay.
///
/// # Errors
/// The first error among the batches.
///
/// # Panics
/// If there is such a layer and no batch, or a layer keeps its statistics in half precision, which
/// has too few digits for this method.
pub fn recalibrate_batch_norm<B, M, T, const D: usize>(
    encoder: M,
    batches: &Batches<'_, T>,
    mut forward: impl FnMut(&M::TrainModule, T) -> Tensor<Autodiff<B>, D>,
) -> Result<M, SampleError>
where
    B: Backend,
    M: Module<B> + HasAutodiffModule<Autodiff<B>>,
    T: Clone,
{
    let mut flags = GradientFlags::default();
    encoder.visit(&mut flags);
    let outer = encoder.train::<Autodiff<B>>();
    // Both have running states of their own from here on, which a clone would share.
    let own = outer.valid().map(&mut flags);
    let stored = Running::of::<B, M>(&own);
    if stored.0.is_empty() {
        return Ok(own);
    }

    let mut copy = outer.no_grad();
    let mut update = |batch: T, start: f64| {
        copy = copy.clone().map(&mut Assign::new(|n| vec![start; n]));
        let n_samples = forward(&copy, batch).dims()[0];
        (n_samples, Running::of::<B, M>(&copy.valid()))
    };
    let mut totals: Vec<LayerTotal> = Vec::new();
    for batch in batches.iter() {
        let batch = batch?;
        let (n_samples, scaled) = update(batch.clone(), 0.0);
        if totals.is_empty() {
            let start = scaled.far_beyond();
            let (_, from_start) = update(batch, start);
            let layers = from_start.0.into_iter().zip(stored.0.iter().cloned());
            totals = layers
                .map(|([mean, _], stored)| LayerTotal::new(&mean, start, stored))
                .collect();
        }
        for (total, scaled) in totals.iter_mut().zip(scaled.0) {
            total.add(n_samples as f64, scaled);
        }
    }

    assert!(!totals.is_empty(), "statistics need at least one batch");
    let mut values = totals.into_iter().flat_map(LayerTotal::statistics);
    let next = |_| values.next().expect("as many statistics as running states");
    Ok(own.map(&mut Assign::new(next)))
}

/// Mean and variance that each layer stores, in the order of the module tree.
#[derive(Debug, Default)]
struct Running(Vec<[Vec<f64>; 2]>);

impl Running {
    fn of<B: Backend, M: Module<B>>(module: &M) -> Self {
        let mut reader = Reader::default();
        module.visit(&mut reader);
        Self(reader.values.as_chunks().0.to_vec())
    }

    /// A power of two compared with which every value here is negligible.
    fn far_beyond(&self) -> f64 {
        let values = self.0.iter().flatten().flatten();
        let largest = values.fold(1.0, |largest: f64, value| largest.max(value.abs()));
        // 40 bits are more than the 24 of single precision, and a power of two divides without rounding.
        (largest.log2().ceil() + 40.0).exp2()
    }
}

/// Statistics of one layer over the batches so far.
struct LayerTotal {
    momentum: f64,
    moments: Moments,
    stored: [Vec<f64>; 2],
}

impl LayerTotal {
    /// A layer that stores `stored`, and whose running mean one update took from `start` to `updated`.
    fn new(updated: &[f64], start: f64, stored: [Vec<f64>; 2]) -> Self {
        Self {
            momentum: 1.0 - updated.iter().sum::<f64>() / updated.len() as f64 / start,
            moments: Moments::new(updated.len()),
            stored,
        }
    }

    /// Adds a batch whose mean and variance are `scaled`/momentum.
    fn add(&mut self, n_samples: f64, scaled: [Vec<f64>; 2]) {
        let [mean, variance] =
            scaled.map(|values| values.into_iter().map(|value| value / self.momentum));
        let mean: Vec<f64> = mean.collect();
        let squares: Vec<f64> = variance.map(|variance| variance * n_samples).collect();
        self.moments.merge(n_samples, &mean, &squares);
    }

    /// Mean and variance to be stored.
    fn statistics(self) -> [Vec<f64>; 2] {
        if self.momentum == 0.0 {
            self.stored
        } else {
            [self.moments.mean().to_vec(), self.moments.variance()]
        }
    }
}

/// Whether the field `name` of a module `container` is a running state of Burn's layer.
fn is_running_state(name: &str, container: &str) -> bool {
    container == "Struct:BatchNorm" && matches!(name, "running_mean" | "running_var")
}

/// Reads running states.
#[derive(Default)]
struct Reader {
    is_at_state: bool,
    values: Vec<Vec<f64>>,
}

impl<B: Backend> ModuleVisitor<B> for Reader {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.is_at_state = is_running_state(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.is_at_state = false;
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        if self.is_at_state {
            self.values.push(host_values(param.val()));
        }
    }
}

/// Sets each running state to what `values` returns for its number of elements.
struct Assign<F> {
    is_at_state: bool,
    values: F,
}

impl<F: FnMut(usize) -> Vec<f64>> Assign<F> {
    fn new(values: F) -> Self {
        Self {
            is_at_state: false,
            values,
        }
    }
}

impl<B: Backend, F: FnMut(usize) -> Vec<f64>> ModuleMapper<B> for Assign<F> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.is_at_state = is_running_state(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.is_at_state = false;
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        if !self.is_at_state {
            return param;
        }
        let old = param.val();
        assert!(
            !matches!(old.dtype(), DType::F16 | DType::BF16),
            "running statistics must have single or double precision, found {:?}",
            old.dtype()
        );
        let data = TensorData::new((self.values)(old.shape().num_elements()), old.shape());
        let new = Tensor::from_data(data, (&old.device(), old.dtype()));
        Param::initialized(param.id, new)
    }
}

/// Flags of the tensors of a module that get gradients, in the order of the module tree. Leaving an
/// autodiff backend removes the property, also from tensors of an autodiff backend below it; mapping
/// restores it.
#[derive(Default)]
struct GradientFlags {
    flags: Vec<bool>,
    n_mapped: usize,
}

impl<B: Backend> ModuleVisitor<B> for GradientFlags {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        self.flags.push(param.val().is_require_grad());
    }
}

impl<B: Backend> ModuleMapper<B> for GradientFlags {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        self.n_mapped += 1;
        if self.flags[self.n_mapped - 1] {
            param.set_require_grad(true)
        } else {
            param
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
    use burn::nn::{BatchNorm, BatchNormConfig};
    use burn::tensor::activation::relu;
    use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};

    const WIDTH: usize = 3;

    /// A normalisation of images, then `last(relu(first(pixels)))`.
    #[derive(Module, Debug)]
    struct Stack<B: Backend> {
        image: BatchNorm<B>,
        weight: Param<Tensor<B, 2>>,
        rows: Vec<BatchNorm<B>>,
    }

    impl<B: Backend> Stack<B> {
        fn new(momentum: f64) -> Self {
            let device = Default::default();
            let norm = || {
                let config = BatchNormConfig::new(WIDTH).with_momentum(momentum);
                config.init(&device)
            };
            let weight = [[0.5, -1.0, 0.25], [2.0, 0.75, -0.5], [-0.25, 1.5, 1.0]];
            Self {
                image: norm(),
                weight: Param::from_tensor(Tensor::from_data(weight, &device)),
                rows: vec![norm(), norm()],
            }
        }

        /// `[n, 3, h, w]` → `[n, 3]`. The last layer is not reached.
        fn forward(&self, images: Tensor<B, 4>) -> Tensor<B, 2> {
            let x = relu(self.image.forward(images));
            let x = x.mean_dim(3).mean_dim(2).flatten(1, 3);
            self.rows[0].forward(x.matmul(self.weight.val()))
        }
    }

    fn images<B: Backend>(n: usize, seed: usize) -> Tensor<B, 4> {
        let shape = [n, WIDTH, 2, 2];
        let values: Vec<f32> = (0..n * WIDTH * 4)
            .map(|at| ((at * 37 + seed * 101) % 53) as f32 / 10.0 + (at / 4 % WIDTH * 40) as f32)
            .collect();
        Tensor::from_data(TensorData::new(values, shape), &Default::default())
    }

    const SIZES: [usize; 3] = [5, 2, 4];

    fn recalibrated<B: Backend>(encoder: Stack<B>) -> Stack<B> {
        let batches = Batches::new(SIZES.len(), |at| Ok(images::<B>(SIZES[at], at)));
        recalibrate_batch_norm(encoder, &batches, |encoder, batch| {
            encoder.forward(Tensor::from_inner(batch))
        })
        .unwrap()
    }

    /// Mean and biased variance of each column over all rows, and for each batch by itself.
    fn moments(rows: &[[f64; WIDTH]]) -> [[f64; WIDTH]; 2] {
        let (mut mean, mut variance) = ([0.0; WIDTH], [0.0; WIDTH]);
        for row in rows {
            for column in 0..WIDTH {
                mean[column] += row[column] / rows.len() as f64;
            }
        }
        for row in rows {
            for column in 0..WIDTH {
                variance[column] += (row[column] - mean[column]).powi(2) / rows.len() as f64;
            }
        }
        [mean, variance]
    }

    /// The statistics of both layers by plain loops in double precision.
    fn expected(weight: &[f64]) -> [[[f64; WIDTH]; 2]; 2] {
        let (mut all_pixels, mut all_rows) = (Vec::new(), Vec::new());
        for (at, &n) in SIZES.iter().enumerate() {
            let values = to_vec(&images::<TestBackend>(n, at));
            let pixel = |image: usize, pixel: usize| {
                [0, 1, 2].map(|channel| values[(image * WIDTH + channel) * 4 + pixel])
            };
            let pixels: Vec<_> = (0..n * 4).map(|i| pixel(i / 4, i % 4)).collect();
            let [mean, variance] = moments(&pixels);
            for image in 0..n {
                let mut pooled = [0.0; WIDTH];
                for at in 0..4 {
                    for (channel, value) in pixel(image, at).into_iter().enumerate() {
                        let normal = (value - mean[channel]) / (variance[channel] + 1e-5).sqrt();
                        pooled[channel] += normal.max(0.0) / 4.0;
                    }
                }
                let mut row = [0.0; WIDTH];
                for column in 0..WIDTH {
                    for (channel, pooled) in pooled.iter().enumerate() {
                        row[column] += pooled * weight[channel * WIDTH + column];
                    }
                }
                all_rows.push(row);
            }
            all_pixels.extend(pixels);
        }
        [moments(&all_pixels), moments(&all_rows)]
    }

    fn stored<B: Backend>(norm: &BatchNorm<B>) -> [Vec<f64>; 2] {
        [&norm.running_mean, &norm.running_var].map(|state| to_vec(&state.value()))
    }

    #[test]
    fn statistics_are_those_of_plain_loops_over_all_batches() {
        for (momentum, tolerance) in [(0.1, 1e-5), (0.9, 1e-5), (1.0, 1e-5), (0.01, 1e-5)] {
            let encoder = recalibrated(Stack::<TestBackend>::new(momentum));
            let expected = expected(&to_vec(&encoder.weight.val()));
            for (norm, expected) in [&encoder.image, &encoder.rows[0]].into_iter().zip(expected) {
                for (found, expected) in stored(norm).iter().zip(expected) {
                    assert_close(found, &expected, tolerance);
                }
            }
            // By these statistics it normalises in evaluation.
            let x = images::<TestBackend>(2, 9);
            let [[mean, variance], _] = expected;
            let y = to_vec(&encoder.image.forward(x.clone()));
            for (at, (x, y)) in to_vec(&x).iter().zip(y).enumerate() {
                let channel = at / 4 % WIDTH;
                let expected = (x - mean[channel]) / (variance[channel] + 1e-5).sqrt();
                // A mean of 83, which is 55 deviations, is off by as many times the last digits.
                assert_close(&[y], &[expected], 10.0 * tolerance);
            }
        }
    }

    #[test]
    fn earlier_statistics_have_no_influence_and_stay_with_their_owner() {
        let fresh = Stack::<TestAutodiff>::new(0.1);
        let encoder = Stack::<TestAutodiff>::new(0.1);
        encoder.forward(images(5, 77));
        encoder.forward(images(5, 78));
        let encoder = encoder.valid();
        let before = stored(&encoder.image);
        let once = recalibrated(encoder.clone());
        assert_eq!(stored(&encoder.image), before);
        assert_ne!(stored(&once.image), before);
        let again = recalibrated(once.clone());
        let of_fresh = recalibrated(fresh.valid());
        for other in [again, of_fresh] {
            assert_eq!(stored(&other.image), stored(&once.image));
            assert_eq!(stored(&other.rows[0]), stored(&once.rows[0]));
        }
    }

    #[test]
    fn layers_out_of_reach_or_without_momentum_keep_their_statistics() {
        let encoder = recalibrated(Stack::<TestBackend>::new(0.1));
        assert_eq!(stored(&encoder.rows[1]), [[0.0; WIDTH], [1.0; WIDTH]]);
        let encoder = recalibrated(Stack::<TestBackend>::new(0.0));
        assert_eq!(stored(&encoder.image), [[0.0; WIDTH], [1.0; WIDTH]]);
    }

    #[test]
    fn parameters_stay_what_they_were() {
        let encoder = Stack::<TestAutodiff>::new(0.1);
        let (id, frozen) = (encoder.weight.id, encoder.image.beta.val());
        let encoder = Stack {
            image: BatchNorm {
                beta: Param::initialized(encoder.image.beta.id, frozen.set_require_grad(false)),
                ..encoder.image
            },
            ..encoder
        };
        // On a backend with gradients, and on the one below it and back.
        let on_inner = recalibrated(encoder.valid());
        let trained = on_inner.train::<Autodiff<TestBackend, NoCheckpointing>>();
        for encoder in [recalibrated(encoder), trained] {
            assert_eq!(encoder.weight.id, id);
            assert!(encoder.weight.is_require_grad());
            assert!(!encoder.image.beta.is_require_grad());
            let loss = encoder.forward(images(4, 1)).powi_scalar(3).sum();
            let gradients = loss.backward();
            assert!(encoder.weight.val().grad(&gradients).is_some());
        }
    }

    #[test]
    fn a_module_without_such_layers_is_not_passed() {
        let linear = burn::nn::LinearConfig::new(2, 2).init::<TestBackend>(&Default::default());
        let before = to_vec(&linear.weight.val());
        let batches = Batches::new(0, |_| -> Result<(), SampleError> { unreachable!() });
        let after = recalibrate_batch_norm(linear, &batches, |_, ()| {
            unreachable!() as Tensor<Autodiff<TestBackend>, 2>
        });
        assert_eq!(to_vec(&after.unwrap().weight.val()), before);
    }

    #[test]
    #[should_panic(expected = "at least one batch")]
    fn no_batch_is_an_error() {
        let batches = Batches::new(0, |_| Ok(images::<TestBackend>(1, 1)));
        let encoder = Stack::<TestBackend>::new(0.1);
        drop(recalibrate_batch_norm(
            encoder,
            &batches,
            |encoder, batch| encoder.forward(Tensor::from_inner(batch)),
        ));
    }
}
