//! Copies of encoders.

use std::any::Any;
use std::collections::VecDeque;

use burn::module::{AutodiffModule, Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};

/// Copies an encoder so that training the copy leaves the original as it was, to the bit. Parameters keep their identity.
///
/// A clone shares the running statistics of Burn's normalisation layers with the original, and draws parameters again whose
/// initialisation Burn has deferred to their first use.
pub(crate) fn own<B: AutodiffBackend, M: AutodiffModule<B>>(encoder: &M) -> M {
    let copy = M::from_inner(encoder.valid());
    // On this way Burn forgets how a parameter is saved (`LinearLayout::Col` transposes it): each comes from the original.
    let mut parameters = Parameters::default();
    encoder.visit(&mut parameters);
    copy.map(&mut parameters)
}

/// Float parameters in the order of the module, of any rank.
#[derive(Default)]
struct Parameters(VecDeque<Box<dyn Any>>);

impl<B: Backend> ModuleVisitor<B> for Parameters {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        self.0.push_back(Box::new(param.clone()));
    }
}

impl<B: Backend> ModuleMapper<B> for Parameters {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let original = self.0.pop_front().map(<Box<dyn Any>>::downcast);
        match original {
            Some(Ok(original)) => *original,
            _ => param,
        }
    }
}

/// Returns `encoder` with its values that are not trained, such as statistics of normalisation, replaced by those of
/// `evaluated`, a copy without gradients.
pub(crate) fn with_statistics_of<B: AutodiffBackend, M: AutodiffModule<B>>(
    encoder: M,
    evaluated: &M::InnerModule,
) -> M {
    let mut values = Parameters::default();
    evaluated.visit(&mut values);
    encoder.map(&mut Untrained(values.0))
}

/// Float parameters of a copy without gradients, in the order of the module.
struct Untrained(VecDeque<Box<dyn Any>>);

impl<B: AutodiffBackend> ModuleMapper<B> for Untrained {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let value = self.0.pop_front();
        let value = value.map(<Box<dyn Any>>::downcast::<Param<Tensor<B::InnerBackend, D>>>);
        match value {
            Some(Ok(value)) if !param.val().is_require_grad() => {
                param.map(|_| Tensor::from_inner(value.val()))
            }
            _ => param,
        }
    }
}

/// Copies an encoder for the evaluation of a loss without gradients. The copy records no graph, which
/// only a backward pass would free, and shares no normalisation statistics with the original.
pub(crate) fn without_graph<B: AutodiffBackend, M: AutodiffModule<B>>(encoder: &M) -> M {
    M::from_inner(encoder.valid()).no_grad()
}
