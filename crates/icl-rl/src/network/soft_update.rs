//! Target networks, which follow the online networks slowly.

use std::collections::HashMap;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorPrimitive};

/// Moves a target network towards the online network, with weight m = `rate`.
///
/// ```text
/// θ′ ← m θ + (1 − m) θ′
/// ```
///
/// Source: Lillicrap et al. (2016), algorithm 1.
///
/// # Panics
/// If a parameter of `target` (by its identity) is missing in `online`.
pub(crate) fn soft_update<B: Backend, M: Module<B>>(target: M, online: &M, rate: f64) -> M {
    let mut values = Values::<B>(HashMap::new());
    online.visit(&mut values);
    target.map(&mut Follow {
        online: values.0,
        rate,
    })
}

/// Parameters of a module by their identity.
struct Values<B: Backend>(HashMap<ParamId, TensorPrimitive<B>>);

impl<B: Backend> ModuleVisitor<B> for Values<B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        self.0.insert(param.id, param.val().into_primitive());
    }
}

struct Follow<B: Backend> {
    online: HashMap<ParamId, TensorPrimitive<B>>,
    rate: f64,
}

impl<B: Backend> ModuleMapper<B> for Follow<B> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let Some(online) = self.online.remove(&param.id) else {
            panic!(
                "soft update: found no parameter {}, expected one in both networks",
                param.id
            );
        };
        let online = Tensor::<B, D>::from_primitive(online);
        let rate = self.rate;
        // Algorithm 1 of Lillicrap et al. (2016)
        param.map(|target| online * rate + target * (1.0 - rate))
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers::Affine;
    use super::*;
    use crate::testing::TestBackend;
    use crate::testing::{TestAutodiff, assert_close, numbers, to_vec};
    use burn::module::AutodiffModule;

    fn values(affine: &Affine<TestBackend>) -> Vec<f64> {
        [to_vec(&affine.weight.val()), to_vec(&affine.bias.val())].concat()
    }

    #[test]
    fn it_is_the_recursion_that_it_says() {
        let device = Default::default();
        let mut online = Affine::<TestAutodiff>::new(numbers(6, 1), numbers(3, 2), &device);
        let mut target = online.valid();
        let mut expected = values(&target);
        for round in 0..4 {
            // The online network moves, as by an optimizer: same parameters, other values.
            online = online.map(&mut Shift);
            let now = values(&online.valid());
            target = soft_update(target, &online.valid(), 0.125);
            for (e, now) in expected.iter_mut().zip(now) {
                *e = 0.125 * now + 0.875 * *e;
            }
            assert_close(&values(&target), &expected, 1e-6);
            assert_ne!(values(&target), values(&online.valid()), "{round}");
        }
        let same = soft_update(target, &online.valid(), 1.0);
        assert_eq!(values(&same), values(&online.valid()));
    }

    struct Shift;

    impl ModuleMapper<TestAutodiff> for Shift {
        fn map_float<const D: usize>(
            &mut self,
            param: Param<Tensor<TestAutodiff, D>>,
        ) -> Param<Tensor<TestAutodiff, D>> {
            param.map(|x| (x * 1.5 + 1.0).detach().require_grad())
        }
    }

    #[test]
    #[should_panic(expected = "soft update: found no parameter")]
    fn strangers_do_not_mix() {
        let device = Default::default();
        let affine = |seed| Affine::<TestBackend>::new(numbers(2, seed), numbers(1, seed), &device);
        soft_update(affine(1), &affine(2), 0.5);
    }
}
