//! Sums of the parameters of two encoders.

use std::collections::VecDeque;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{Tensor, TensorPrimitive};

/// Returns `encoder` with keep·θ + share·θ_fresh as the value of each parameter that is trained. All others stay those of
/// `encoder`.
///
/// # Errors
/// The first parameter of the fresh encoder and of `encoder` in words, if their shapes differ.
pub(super) fn blended<B: AutodiffBackend, M: Module<B>>(
    encoder: M,
    fresh: &M,
    (keep, share): (f64, f64),
) -> Result<M, [String; 2]> {
    let of = |encoder: &M| {
        let mut values = Values::<B>(VecDeque::new());
        encoder.visit(&mut values);
        values.0
    };
    let (fresh, own) = (of(fresh), of(&encoder));
    let shape = |of: &Parameters<B>, at: usize| {
        let parameter = of.get(at);
        parameter.map_or("no parameter".to_owned(), |(shape, _)| {
            format!("a parameter of shape {shape:?}")
        })
    };
    for at in 0..fresh.len().max(own.len()) {
        let shapes = [&fresh, &own].map(|of| shape(of, at));
        if shapes[0] != shapes[1] {
            return Err(shapes);
        }
    }
    Ok(encoder.map(&mut Blend { fresh, keep, share }))
}

/// Shapes and values of the float parameters of an encoder, in the order of the module and without their graph.
type Parameters<B> = VecDeque<(
    Vec<usize>,
    TensorPrimitive<<B as AutodiffBackend>::InnerBackend>,
)>;

/// Reader of the parameters of an encoder.
struct Values<B: AutodiffBackend>(Parameters<B>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Values<B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let value = param.val().inner();
        self.0
            .push_back((value.dims().to_vec(), value.into_primitive()));
    }
}

/// Mapper that adds the parameters of a fresh encoder, in the order of the module.
struct Blend<B: AutodiffBackend> {
    fresh: Parameters<B>,
    keep: f64,
    share: f64,
}

impl<B: AutodiffBackend> ModuleMapper<B> for Blend<B> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let Some((_, fresh)) = self.fresh.pop_front() else {
            return param;
        };
        let fresh = Tensor::<B::InnerBackend, D>::from_primitive(fresh);
        param.map(|value| {
            if !value.is_require_grad() {
                return value;
            }
            let blended = value.inner() * self.keep + fresh * self.share;
            Tensor::from_inner(blended).require_grad()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
    use burn::tensor::backend::Backend;
    use icl_core::host_values;
    use icl_core::testing::TestAutodiff;

    #[derive(Module, Debug)]
    struct Layers<B: Backend> {
        layers: Vec<Linear<B>>,
        norm: BatchNorm<B>,
        frozen: Linear<B>,
    }

    fn layers(width: usize) -> Layers<TestAutodiff> {
        let device = Default::default();
        let layer = |d_in, d_out| LinearConfig::new(d_in, d_out).init(&device);
        Layers {
            layers: vec![layer(2, width), layer(width, 4)],
            norm: BatchNormConfig::new(4).init(&device),
            frozen: layer(4, 1).no_grad(),
        }
    }

    /// Values of all float tensors and whether each is trained.
    struct Read(Vec<(bool, Vec<f64>)>);

    impl ModuleVisitor<TestAutodiff> for Read {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<TestAutodiff, D>>) {
            let value = param.val();
            self.0.push((value.is_require_grad(), host_values(value)));
        }
    }

    fn read(module: &Layers<TestAutodiff>) -> Vec<(bool, Vec<f64>)> {
        let mut read = Read(Vec::new());
        module.visit(&mut read);
        read.0
    }

    #[test]
    fn trained_parameters_are_the_sums_of_a_plain_loop() {
        let (old, fresh) = (layers(3), layers(3));
        let [before, of_fresh] = [&old, &fresh].map(read);
        let found = read(&blended::<TestAutodiff, _>(old.clone(), &fresh, (0.4, 0.1)).unwrap());
        assert_eq!(found.len(), before.len());
        let mut n_trained = 0;
        for ((found, before), fresh) in found.iter().zip(&before).zip(&of_fresh) {
            assert_eq!(found.0, before.0);
            let (is_trained, values) = found;
            for (at, found) in values.iter().enumerate() {
                let (before, fresh) = (before.1[at], fresh.1[at]);
                if *is_trained {
                    n_trained += 1;
                    assert!((found - (0.4 * before + 0.1 * fresh)).abs() < 1e-6);
                } else {
                    assert_eq!(*found, before);
                }
            }
        }
        // Both layers with their biases, γ and β.
        assert_eq!(n_trained, 6 + 3 + 12 + 4 + 4 + 4);
        assert_eq!(read(&old), before);
    }

    #[test]
    fn another_architecture_is_refused() {
        let [of_fresh, of_trained] =
            blended::<TestAutodiff, _>(layers(3), &layers(5), (0.4, 0.1)).unwrap_err();
        assert_eq!(of_fresh, "a parameter of shape [2, 5]");
        assert_eq!(of_trained, "a parameter of shape [2, 3]");
    }
}
