//! Hypergradient descent on the learning rate (Baydin et al., 2018).

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{ElementConversion, Tensor, TensorPrimitive};
use std::collections::HashMap;

/// Maximum relative change of the rate in one step.
const STRENGTH: f64 = 0.02;

/// Multiplicative rule of hypergradient descent. The derivative of this step's loss with respect to the
/// last step's learning rate is minus the inner product of this gradient and the direction of the last
/// step, so the rate grows while both point the same way.
///
/// ```text
/// lr ← lr·(1 + 0.02·cos(∇L(θ_t), θ_{t−1} − θ_t))
/// ```
///
/// The direction is the step that the optimizer made of the gradient, so the rule also works with Adam.
/// The cosine instead of the inner product makes the rule independent of the scale of the loss, as in
/// the authors' normalised variant.
#[derive(Debug)]
pub(crate) struct Hypergradient<M> {
    pub(super) rate: f64,
    pub(super) earlier: Option<M>,
    /// Whether the rule follows every step, and not only [`follow`](Self::follow).
    pub(super) follows_steps: bool,
}

impl<M> Hypergradient<M> {
    pub(super) fn new(base: f64) -> Self {
        Self {
            rate: base,
            earlier: None,
            follows_steps: true,
        }
    }

    pub(super) fn choose<B: AutodiffBackend>(
        &mut self,
        encoder: &M,
        gradients: &GradientsParams,
    ) -> f64
    where
        M: Module<B>,
    {
        if let Some(earlier) = self.earlier.take() {
            self.follow::<B>(&earlier, encoder, gradients);
        }
        if self.follows_steps {
            self.earlier = Some(encoder.clone());
        }
        self.rate
    }

    /// Updates the rate after a step from `from` to `to`, where the gradient is `gradients`.
    pub(super) fn follow<B: AutodiffBackend>(
        &mut self,
        from: &M,
        to: &M,
        gradients: &GradientsParams,
    ) where
        M: Module<B>,
    {
        self.rate *= 1.0 + STRENGTH * alignment::<B, M>(from, to, gradients);
    }
}

/// Computes cos(g, from − to), or 0 if either vector is 0.
fn alignment<B: AutodiffBackend, M: Module<B>>(
    from: &M,
    to: &M,
    gradients: &GradientsParams,
) -> f64 {
    let mut start = Values::<B>(HashMap::new());
    from.visit(&mut start);
    let mut sums = Sums::<B> {
        from: start.0,
        gradients,
        sums: None,
    };
    to.visit(&mut sums);
    let [product, step, gradient] = sums.sums.map_or([0.0; 3], |sums| {
        sums.map(|sum| sum.into_scalar().elem::<f64>())
    });
    let lengths = (step * gradient).sqrt();
    if lengths > 0.0 {
        product / lengths
    } else {
        0.0
    }
}

/// Values of the parameters by identity, without their graph.
struct Values<B: AutodiffBackend>(HashMap<ParamId, TensorPrimitive<B::InnerBackend>>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Values<B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let value = param.val().inner().into_primitive();
        self.0.insert(param.id, value);
    }
}

/// Inner products ⟨g, s⟩, ⟨s, s⟩ and ⟨g, g⟩ of the gradient g and the step s.
struct Sums<'a, B: AutodiffBackend> {
    from: HashMap<ParamId, TensorPrimitive<B::InnerBackend>>,
    gradients: &'a GradientsParams,
    sums: Option<[Tensor<B::InnerBackend, 1>; 3]>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Sums<'_, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let gradient = self.gradients.get::<B::InnerBackend, D>(param.id);
        let (Some(from), Some(gradient)) = (self.from.remove(&param.id), gradient) else {
            return;
        };
        let step = Tensor::<B::InnerBackend, D>::from_primitive(from) - param.val().inner();
        let terms = [
            product(&gradient, &step),
            product(&step, &step),
            product(&gradient, &gradient),
        ];
        self.sums = Some(match self.sums.take() {
            None => terms,
            Some([a, b, c]) => {
                let [x, y, z] = terms;
                [a + x, b + y, c + z]
            }
        });
    }
}

fn product<B: Backend, const D: usize>(a: &Tensor<B, D>, b: &Tensor<B, D>) -> Tensor<B, 1> {
    (a.clone() * b.clone()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;
    use icl_core::testing::TestAutodiff;

    type One = Param<Tensor<TestAutodiff, 1>>;

    fn at(id: ParamId, values: [f64; 2]) -> One {
        let data = TensorData::new(values.to_vec(), [2]);
        let tensor = Tensor::from_data(data, &Default::default());
        Param::initialized(id, tensor.require_grad())
    }

    fn gradient(id: ParamId, values: [f64; 2]) -> GradientsParams {
        let data = TensorData::new(values.to_vec(), [2]);
        let mut gradients = GradientsParams::new();
        let tensor = Tensor::<<TestAutodiff as AutodiffBackend>::InnerBackend, 1>::from_data(
            data,
            &Default::default(),
        );
        gradients.register(id, tensor);
        gradients
    }

    #[test]
    fn the_rate_follows_the_cosine() {
        let id = ParamId::new();
        let mut policy = Hypergradient::new(0.1);
        let mut choose = |parameters, values| {
            policy.choose::<TestAutodiff>(&at(id, parameters), &gradient(id, values))
        };
        assert_eq!(choose([0.0, 0.0], [1.0, 0.0]), 0.1);
        // The step went along (3, 4), whose cosine with (1, 0) is 0.6.
        let second = choose([-3.0, -4.0], [2.0, 0.0]);
        assert!((second - 0.1 * (1.0 + 0.02 * 0.6)).abs() < 1e-7);
        // Now against the gradient.
        let third = choose([-3.0, -5.0], [0.0, -7.0]);
        assert!((third - second * (1.0 - 0.02)).abs() < 1e-7);
        // Without a step nothing changes.
        assert_eq!(choose([-3.0, -5.0], [1.0, 1.0]), third);
    }
}
