//! Copies of modules, and their preparation.

use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Bool, Int, Tensor};
use icl_meta::owned;

/// Draws every parameter whose random initialisation Burn has deferred to its first use. Without it, each
/// clone of the module would draw other values.
pub(crate) fn settle<B: Backend, M: Module<B>>(module: &M) {
    module.visit(&mut Touch);
}

struct Touch;

impl<B: Backend> ModuleVisitor<B> for Touch {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        param.val();
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<B, D, Int>>) {
        param.val();
    }

    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<B, D, Bool>>) {
        param.val();
    }
}

/// Copies an encoder for the evaluation of a loss without gradients. The copy records no graph, which
/// only a backward pass would free, and shares no normalisation statistics with the original.
pub(crate) fn without_graph<B: AutodiffBackend, M: AutodiffModule<B>>(encoder: &M) -> M {
    owned(encoder).no_grad()
}
