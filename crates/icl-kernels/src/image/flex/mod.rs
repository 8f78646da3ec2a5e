//! Kernels of the operators on the default CPU backend, without intermediate tensors.
//!
//! Work is divided into parts whose bounds depend on shapes alone, and sums over parts are added in
//! order, so results are bitwise the same for any number of threads.

mod axis;
mod batch_norm;
mod batch_norm_gradient;
mod channels;
mod dense_product;
mod max_pool;
mod packing;
mod patches;
mod product;
mod sums;
mod weight;
mod weight_gradient;
mod winograd;

use burn::tensor::DType;
use burn_flex::Flex;

use super::kernels::{Image, Kernels};
use crate::backends::HasKernels;

impl HasKernels<Image> for Flex {
    fn kernels(dtype: DType) -> &'static Kernels<Self> {
        const SINGLE: &Kernels<Flex> = &Kernels {
            dense_product: Some(dense_product::dense_product),
            dense_product_input_gradient: Some(dense_product::input_gradient),
            dense_product_weight_gradient: Some(dense_product::by_weight),
            convolution: Some(product::convolution),
            convolution_input_gradient: Some(product::input_gradient),
            convolution_weight_gradient: Some(weight_gradient::weight_gradient),
            batch_norm_saving: Some(batch_norm::forward),
            batch_norm_backward: Some(batch_norm_gradient::backward),
            scale_shift: Some(batch_norm::scale_shift),
            select_maxima: Some(max_pool::select),
            scatter_maxima: Some(max_pool::scatter),
            ..Kernels::NONE
        };
        match dtype {
            DType::F32 => SINGLE,
            _ => &Kernels::NONE,
        }
    }
}
