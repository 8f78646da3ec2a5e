//! Operators that tests and benches of this project call one by one: the backward passes of operators, and values that
//! they save. They may change in any release.

pub use crate::graph::convolution::graph_convolution_backward;
pub use crate::graph::norm_activation::norm_activation_backward;
pub use crate::graph::saved::NormActivationSaved;
pub use crate::image::batch_norm::{batch_norm_backward, batch_norm_saving};
pub use crate::image::convolution::{
    convolution_gradients, convolution_input_gradient, convolution_weight_gradient,
};
pub use crate::image::dense_product::{
    dense_product_input_gradient, dense_product_weight_gradient,
};
pub use crate::image::max_pool::{scatter_maxima, select_maxima};
pub use crate::image::saved::{BatchNormGradients, BatchNormSaved};
