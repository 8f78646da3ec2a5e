//! Makes a module hold its parameters.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor};

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
