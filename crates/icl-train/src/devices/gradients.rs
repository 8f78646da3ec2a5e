//! Sums of gradients over the members of a group.

use std::marker::PhantomData;

use burn::module::{AutodiffModule, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor, TensorData};
use icl_core::{Error, Group};

use crate::devices::floats::{Float, elements};

/// Sums the gradients of a module's parameters over the members of a group. The result has the same bits at all members.
///
/// Parameters come in the order in which the module visits them. Their identifiers are random numbers of each process,
/// by which those of two processes would not match.
pub(crate) fn summed<B, M>(
    group: &dyn Group,
    module: &M,
    gradients: GradientsParams,
) -> Result<GradientsParams, Error>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    let mut precision = Precision(DType::F32);
    module.visit(&mut precision);
    match precision.0 {
        DType::F64 => summed_in::<f64, B, M>(group, module, gradients),
        _ => summed_in::<f32, B, M>(group, module, gradients),
    }
}

fn summed_in<F, B, M>(
    group: &dyn Group,
    module: &M,
    gradients: GradientsParams,
) -> Result<GradientsParams, Error>
where
    F: Float,
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    let mut flat = Flat {
        gradients,
        values: Vec::<F>::new(),
    };
    module.visit(&mut flat);
    F::sum(group, &mut flat.values)?;
    let mut apart = Apart {
        values: &flat.values,
        gradients: GradientsParams::new(),
        backend: PhantomData::<B>,
    };
    module.visit(&mut apart);
    Ok(apart.gradients)
}

/// Highest precision of a module's parameters.
struct Precision(DType);

impl<B: AutodiffBackend> ModuleVisitor<B> for Precision {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        if param.val().dtype() == DType::F64 {
            self.0 = DType::F64;
        }
    }
}

/// Gradients of a module as one list: of each parameter the number of members that have a gradient of it, and its elements.
struct Flat<F> {
    gradients: GradientsParams,
    values: Vec<F>,
}

impl<F: Float, B: AutodiffBackend> ModuleVisitor<B> for Flat<F> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        match self.gradients.remove::<B::InnerBackend, D>(param.id) {
            Some(gradient) => {
                // The sum of these counts the members with a gradient. Where it is 0, the parameter gets no gradient,
                // instead of one of zeros.
                self.values.push(F::from_elem(1.0));
                self.values
                    .extend(elements::<F, B::InnerBackend, D>(gradient));
            }
            None => {
                let n_zeros = 1 + param.val().shape().num_elements();
                let n = self.values.len() + n_zeros;
                self.values.resize(n, F::from_elem(0.0));
            }
        }
    }
}

/// The list back in gradients.
struct Apart<'a, F, B> {
    values: &'a [F],
    gradients: GradientsParams,
    backend: PhantomData<B>,
}

impl<F: Float, B: AutodiffBackend> ModuleVisitor<B> for Apart<'_, F, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let like = param.val();
        let (own, rest) = self.values.split_at(1 + like.shape().num_elements());
        self.values = rest;
        if own[0].elem::<f64>() > 0.0 {
            let data = TensorData::new(own[1..].to_vec(), like.shape());
            let place = (&like.device(), like.dtype());
            let gradient = Tensor::<B::InnerBackend, D>::from_data(data, place);
            self.gradients.register(param.id, gradient);
        }
    }
}
