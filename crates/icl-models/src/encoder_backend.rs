//! Backends with the operators of all encoders.

use crate::graph_ops::GraphBackend;
use crate::image_ops::ImageBackend;

/// A backend with the operators of all encoders. It is implemented for every backend that has both
/// traits.
///
/// Burn's derived modules take one bound on their backend, so an encoder that needs operators of both
/// traits is bounded by this one.
pub trait EncoderBackend: GraphBackend + ImageBackend {}

impl<B: GraphBackend + ImageBackend> EncoderBackend for B {}
