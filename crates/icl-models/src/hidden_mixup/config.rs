//! The configuration of an encoder with hidden noise.

use burn::tensor::backend::Backend;
use icl_core::{Encoder, Error, Seed};
use serde::{Deserialize, Serialize};

use super::encoder::HiddenMixup;
use super::noise::HiddenNoise;
use crate::head::{ProjectionHead, ProjectionHeadConfig};

/// Configuration of a [`HiddenMixup`] of an encoder of configuration `C`, and of the noise of its views.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HiddenMixupConfig<C> {
    /// The encoder before the noise.
    pub encoder: C,
    /// The projection head behind the noise.
    pub head: ProjectionHeadConfig,
    /// The noise.
    pub noise: HiddenNoise,
}

impl<C> HiddenMixupConfig<C> {
    /// Returns the names and shapes of all tensors, given those of the encoder before the noise.
    pub fn tensors(
        &self,
        of_encoder: impl Iterator<Item = (String, Vec<usize>)>,
    ) -> impl Iterator<Item = (String, Vec<usize>)> {
        let within = |module: &'static str| {
            move |(name, shape): (String, Vec<usize>)| (format!("{module}.{name}"), shape)
        };
        let of_head = self.head.tensors().map(within("head"));
        of_encoder.map(within("encoder")).chain(of_head)
    }

    /// Creates the encoder from the one before the noise, whose embeddings have a width of `d_embedding`, and a head with
    /// weights drawn from `seed`.
    ///
    /// # Errors
    /// If the head takes another width, or its configuration is not valid.
    pub fn try_init<B: Backend, E: Encoder<B>>(
        &self,
        encoder: E,
        d_embedding: usize,
        seed: Seed,
        device: &B::Device,
    ) -> Result<HiddenMixup<B, E, ProjectionHead<B>>, Error> {
        let found = self.head.d_input;
        Error::unless(
            found == d_embedding,
            "head",
            format!("d_input = {found}"),
            format!("{d_embedding}, the width of the embeddings"),
        )?;
        let head = self.head.try_init(seed.child("head"), device)?;
        Ok(HiddenMixup::new(encoder, head))
    }
}
