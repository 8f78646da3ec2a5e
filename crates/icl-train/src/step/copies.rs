//! Copies of modules, and what has to be done before one is made.

use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Bool, Int, Tensor};
use icl_meta::owned;

/// Draws every parameter that Burn has put off drawing until its first use. Clones of a module with
/// such parameters would each draw their own.
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

/// A copy to look at a loss with. It records nothing for a backward pass, since one that never comes
/// would never free it, and has normalisation statistics of its own.
pub(crate) fn without_graph<B: AutodiffBackend, M: AutodiffModule<B>>(encoder: &M) -> M {
    owned(encoder).no_grad()
}
