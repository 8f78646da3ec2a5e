//! The exponential moving average of a module's parameters.

use std::collections::VecDeque;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorPrimitive};

use icl_kernels::lerp;

/// Exponential moving average of the parameters of any Burn module over the steps of a training loop.
///
/// ```text
/// θ̄ ← θ̄ + (1 − d)·(θ − θ̄)        d = min(decay, (1 + t)/(w + t)) at step t = 1, 2, …
/// ```
///
/// The smaller decay of the first steps lets the average leave the start quickly: it is over a window of t/(w − 1)
/// steps until the decay limits it. At a constant learning rate the parameters keep moving around a minimum; the
/// average is nearer to it, and its risk varies less.
///
/// Values that are not trained, such as frozen parameters and the running statistics of normalisation, are those of
/// the last step. On a backend without gradients, where nothing shows what is trained, all are averaged.
///
/// ```
/// use burn::backend::{Autodiff, Flex};
/// use burn::module::AutodiffModule;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::optim::{AdamConfig, GradientsParams, Optimizer};
/// use burn::tensor::Tensor;
/// use icl_train::WeightAverage;
///
/// type B = Autodiff<Flex>;
///
/// let device = Default::default();
/// let mut model: Linear<B> = LinearConfig::new(2, 1).init(&device);
/// let mut optimizer = AdamConfig::new().init();
/// let mut average = WeightAverage::new(model.clone(), 0.99).with_window(5.0);
/// for _ in 0..10 {
///     let loss = model.forward(Tensor::<B, 2>::ones([4, 2], &device)).powi_scalar(2).mean();
///     let gradients = GradientsParams::from_grads(loss.backward(), &model);
///     model = optimizer.step(0.1, model, gradients);
///     average.push(&model);
/// }
/// let evaluated: Linear<Flex> = average.get().valid();
///
/// // Saved by any recorder of Burn, and loaded.
/// let record = average.into_record();
/// let resumed = WeightAverage::new(model, 0.99).with_window(5.0).load_record(record);
/// assert_eq!(resumed.n_steps(), 10);
/// # assert_eq!(evaluated.weight.val().to_data(), resumed.get().weight.val().to_data());
/// ```
#[derive(Debug, Clone)]
pub struct WeightAverage<M> {
    /// Average; `None` only during an update, which changes tensors in place and needs the sole reference
    /// to them.
    average: Option<M>,
    decay: f64,
    window: f64,
    n_steps: u64,
}

/// Default window w.
const WINDOW: f64 = 10.0;

impl<M> WeightAverage<M> {
    /// Creates an average that starts at `start` with the window 10. With a decay of 0 it equals the latest
    /// parameters to rounding, and with a decay of 1 the window alone decides.
    ///
    /// A clone of a module shares its running statistics, so that those of an average that starts at a clone are
    /// always the latest.
    ///
    /// # Panics
    /// If `decay` is not from 0 to 1.
    pub fn new(start: M, decay: f64) -> Self {
        assert!(
            (0.0..=1.0).contains(&decay),
            "found a decay of {decay}, expected a number from 0 to 1"
        );
        Self {
            average: Some(start),
            decay,
            window: WINDOW,
            n_steps: 0,
        }
    }

    /// Sets the window w of the first steps. The average is over about the last t/(w − 1) of t steps: a ninth by
    /// default, a quarter with 5. With 1 the decay alone decides from the first step, as for a momentum encoder.
    ///
    /// # Panics
    /// If `window` is below 1 or not finite.
    #[must_use]
    pub fn with_window(self, window: f64) -> Self {
        assert!(
            window.is_finite() && window >= 1.0,
            "found a window of {window}, expected a number of at least 1"
        );
        Self { window, ..self }
    }

    /// Updates the average with the parameters after one more step.
    ///
    /// # Panics
    /// If `current` has fewer parameters than the start, or parameters of other shapes.
    pub fn push<B: Backend>(&mut self, current: &M)
    where
        M: Module<B>,
    {
        self.n_steps += 1;
        let t = self.n_steps as f64;
        let decay = self.decay.min((1.0 + t) / (self.window + t));
        let mut values = Values::<B>(VecDeque::new());
        current.visit(&mut values);
        let mut mapper = Move::<B> {
            towards: values.0,
            weight: 1.0 - decay,
        };
        self.average = self.average.take().map(|average| average.map(&mut mapper));
    }

    /// Returns the average with its number of steps as a record of Burn, which any recorder saves.
    pub fn into_record<B: Backend>(self) -> (M::Record, u64)
    where
        M: Module<B>,
    {
        let n_steps = self.n_steps;
        (self.into_inner().into_record(), n_steps)
    }

    /// Restores a saved average, from which further steps give the same bits as without the interruption. Its decay
    /// and its window are those of `self`.
    #[must_use]
    pub fn load_record<B: Backend>(self, (average, n_steps): (M::Record, u64)) -> Self
    where
        M: Module<B>,
    {
        let (decay, window) = (self.decay, self.window);
        Self {
            average: Some(self.into_inner().load_record(average)),
            decay,
            window,
            n_steps,
        }
    }

    /// Returns the average after `n_steps` steps, whose module has been loaded.
    pub(crate) fn after_steps(self, n_steps: u64) -> Self {
        Self { n_steps, ..self }
    }

    /// Returns the number of steps that the average contains.
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Returns the average.
    pub fn get(&self) -> &M {
        self.average.as_ref().expect(OUTSIDE)
    }

    /// Returns the average and drops the rest.
    pub fn into_inner(self) -> M {
        self.average.expect(OUTSIDE)
    }
}

const OUTSIDE: &str = "an average outside of an update";

/// Value of a parameter of any rank without its graph, and whether it is averaged.
type Value<B> = (TensorPrimitive<B>, bool);

/// Values of the float parameters in the order of the module. Their identities may differ from those of the average:
/// some ways to load a module draw them again.
struct Values<B: Backend>(VecDeque<Value<B>>);

impl<B: Backend> ModuleVisitor<B> for Values<B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let value = param.val();
        let is_averaged = value.is_require_grad() || !B::ad_enabled(&value.device());
        // Detached values still require gradients if they did before.
        let value = value.detach().set_require_grad(false).into_primitive();
        self.0.push_back((value, is_averaged));
    }
}

/// Mapper that moves parameters towards others.
struct Move<B: Backend> {
    towards: VecDeque<Value<B>>,
    weight: f64,
}

impl<B: Backend> ModuleMapper<B> for Move<B> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let (value, is_averaged) = self.towards.pop_front().expect("as many parameters");
        let value = Tensor::<B, D>::from_primitive(value);
        let weight = self.weight;
        param.map(|average| {
            // Without this flag the parameter would never be trained again.
            let is_trained = average.is_require_grad();
            let moved = match is_averaged {
                true => lerp(average.detach().set_require_grad(false), value, weight),
                false => value,
            };
            moved.set_require_grad(is_trained)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::ParamId;
    use burn::tensor::TensorData;
    use icl_core::testing::{TestAutodiff, assert_close, to_vec};

    type One = Param<Tensor<TestAutodiff, 1>>;

    fn with(id: ParamId, value: f64) -> One {
        let data = TensorData::new(vec![value], [1]);
        let tensor = Tensor::from_data(data, &Default::default());
        Param::initialized(id, tensor.require_grad())
    }

    #[test]
    fn it_is_the_recursion_that_it_says() {
        let id = ParamId::new();
        let mut average = WeightAverage::new(with(id, 5.0), 0.5);
        let mut expected = 5.0;
        for (step, value) in [1.0, -2.0, 4.0, 8.0, 8.0].into_iter().enumerate() {
            average.push::<TestAutodiff>(&with(id, value));
            let t = step as f64 + 1.0;
            let decay = f64::min(0.5, (1.0 + t) / (10.0 + t));
            expected = decay * expected + (1.0 - decay) * value;
        }
        assert_close(&to_vec(&average.get().val().inner()), &[expected], 1e-6);
        assert!(average.get().val().is_require_grad());
    }

    #[test]
    fn what_it_began_with_is_left_alone() {
        let start = with(ParamId::new(), 5.0);
        let mut average = WeightAverage::new(start.clone(), 0.0);
        average.push::<TestAutodiff>(&with(start.id, 3.0));
        assert_eq!(to_vec(&start.val().inner()), [5.0]);
        assert_eq!(to_vec(&average.get().val().inner()), [3.0]);
    }

    #[test]
    fn without_decay_it_is_the_last() {
        let id = ParamId::new();
        let mut average = WeightAverage::new(with(id, 5.0), 0.0);
        average.push::<TestAutodiff>(&with(id, 3.0));
        assert_eq!(to_vec(&average.get().val().inner()), [3.0]);
    }
}
