//! Gradients of a module as vectors: sums and lengths.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{ElementConversion, Tensor};

/// Computes the linear combination Σ kᵢ·gᵢ of gradients, for every parameter of `module` that occurs in
/// any of them. A gradient without that parameter counts as 0.
pub(super) fn combine<B: AutodiffBackend, M: Module<B>>(
    module: &M,
    terms: &[(f64, &GradientsParams)],
) -> GradientsParams {
    let mut visitor = Combine {
        terms,
        sum: GradientsParams::new(),
    };
    module.visit(&mut visitor);
    visitor.sum
}

/// Computes the Euclidean length of gradients.
pub(super) fn length<B: AutodiffBackend, M: Module<B>>(module: &M, of: &GradientsParams) -> f64 {
    let mut visitor = Squares::<B> { of, sum: None };
    module.visit(&mut visitor);
    scalar(visitor.sum).sqrt()
}

/// Computes the Euclidean length of the parameters that have a gradient.
pub(super) fn parameter_length<B: AutodiffBackend, M: Module<B>>(
    module: &M,
    with: &GradientsParams,
) -> f64 {
    let mut visitor = ParameterSquares::<B> { with, sum: None };
    module.visit(&mut visitor);
    scalar(visitor.sum).sqrt()
}

fn scalar<B: Backend>(sum: Option<Tensor<B, 1>>) -> f64 {
    sum.map_or(0.0, |sum| sum.into_scalar().elem())
}

struct Combine<'a> {
    terms: &'a [(f64, &'a GradientsParams)],
    sum: GradientsParams,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Combine<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let terms = self.terms.iter().filter_map(|(factor, gradients)| {
            let gradient = gradients.get::<B::InnerBackend, D>(param.id)?;
            Some(gradient * *factor)
        });
        if let Some(sum) = terms.reduce(|sum, term| sum + term) {
            self.sum.register::<B::InnerBackend, D>(param.id, sum);
        }
    }
}

struct Squares<'a, B: AutodiffBackend> {
    of: &'a GradientsParams,
    sum: Option<Tensor<B::InnerBackend, 1>>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Squares<'_, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        if let Some(gradient) = self.of.get::<B::InnerBackend, D>(param.id) {
            add(&mut self.sum, (gradient.clone() * gradient).sum());
        }
    }
}

struct ParameterSquares<'a, B: AutodiffBackend> {
    with: &'a GradientsParams,
    sum: Option<Tensor<B::InnerBackend, 1>>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for ParameterSquares<'_, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        if self.with.get::<B::InnerBackend, D>(param.id).is_some() {
            add(&mut self.sum, param.val().inner().powi_scalar(2).sum());
        }
    }
}

fn add<B: Backend>(sum: &mut Option<Tensor<B, 1>>, term: Tensor<B, 1>) {
    *sum = Some(match sum.take() {
        Some(sum) => sum + term,
        None => term,
    });
}
