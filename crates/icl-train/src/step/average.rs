//! The exponential moving average of an encoder's parameters.

use std::collections::HashMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{Tensor, TensorPrimitive};

use icl_kernels::lerp;

/// Exponential moving average of the parameters over the steps of a run.
///
/// ```text
/// θ̄ ← θ̄ + (1 − d)·(θ − θ̄)        d = min(decay, (1 + t)/(10 + t)) at step t
/// ```
///
/// The smaller decay of the first steps lets the average leave the start quickly. At a constant learning
/// rate the parameters keep moving around a minimum; the average is nearer to it, and its exact risk
/// varies less.
#[derive(Debug, Clone)]
pub(crate) struct WeightAverage<M> {
    /// Average; `None` only during an update, which changes tensors in place and needs the sole reference
    /// to them.
    average: Option<M>,
    decay: f64,
    n_steps: u64,
}

impl<M> WeightAverage<M> {
    /// Creates an average that starts at `start`. With a decay of 0 it equals the latest parameters.
    pub(crate) fn new(start: M, decay: f64) -> Self {
        Self {
            average: Some(start),
            decay,
            n_steps: 0,
        }
    }

    /// Updates the average with the parameters after one more step.
    pub(crate) fn push<B: AutodiffBackend>(&mut self, current: &M)
    where
        M: Module<B>,
    {
        self.n_steps += 1;
        let t = self.n_steps as f64;
        let decay = self.decay.min((1.0 + t) / (10.0 + t));
        let mut values = Values::<B>(HashMap::new());
        current.visit(&mut values);
        let mut mapper = Move::<B> {
            towards: values.0,
            weight: 1.0 - decay,
        };
        self.average = self.average.take().map(|average| average.map(&mut mapper));
    }

    /// Restores a saved average.
    pub(crate) fn resume(average: M, decay: f64, n_steps: u64) -> Self {
        Self {
            average: Some(average),
            decay,
            n_steps,
        }
    }

    /// Returns the number of steps that the average contains.
    pub(crate) fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Returns the average.
    pub(crate) fn get(&self) -> &M {
        self.average
            .as_ref()
            .expect("an average outside of an update")
    }
}

/// Values of the parameters by identity, of any rank and without their graph.
struct Values<B: AutodiffBackend>(HashMap<ParamId, TensorPrimitive<B::InnerBackend>>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Values<B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        self.0
            .insert(param.id, param.val().inner().into_primitive());
    }
}

/// Mapper that moves parameters towards others.
struct Move<B: AutodiffBackend> {
    towards: HashMap<ParamId, TensorPrimitive<B::InnerBackend>>,
    weight: f64,
}

impl<B: AutodiffBackend> ModuleMapper<B> for Move<B> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let Some(value) = self.towards.remove(&param.id) else {
            return param;
        };
        let value = Tensor::<B::InnerBackend, D>::from_primitive(value);
        let weight = self.weight;
        param.map(|average| {
            // Without this flag the parameter would never be trained again.
            let is_trained = average.is_require_grad();
            let moved = lerp(average.inner(), value, weight);
            Tensor::from_inner(moved).set_require_grad(is_trained)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
