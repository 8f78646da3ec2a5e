//! An encoder of graphs with noise on its output, and a projection head behind the noise.

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::Seed;
use icl_core::mixup::MixingRange;
use icl_data::{GraphCollate, GraphViews};
use icl_models::{
    HiddenCollate, HiddenMixup, HiddenMixupConfig, HiddenNoise, HiddenViews, ProjectionHead,
    ProjectionHeadConfig,
};

use crate::domain::graph_encoder::{GraphEncoder, PlainGraphEncoder};
use crate::options::bounds::check_weights;
use crate::options::encoder::EncoderOptions;
use crate::options::noise::{Noise, NoiseOptions};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Number of layers of the head, the DACL paper's.
const HEAD_LAYERS: usize = 3;

/// Returns the configuration for node features of this width. Without a width of the projection head it
/// has that of the embeddings.
///
/// # Errors
/// If an option is not valid.
pub fn hidden<E: PlainGraphEncoder>(
    d_input: usize,
    options: &EncoderOptions,
    noise: &NoiseOptions,
) -> Result<HiddenMixupConfig<E>, Failure> {
    let encoder = E::of(
        d_input,
        &EncoderOptions {
            projection: None,
            ..options.clone()
        },
    )?;
    let width = encoder.d_embedding();
    let head = ProjectionHeadConfig::new(width, options.projection.unwrap_or(width))
        .with_n_layers(HEAD_LAYERS)
        .with_norm(true);
    head.check().map_err(Failure::input)?;
    check_weights(encoder.tensors().chain(head.tensors()))?;
    let noise = match noise.noise {
        Noise::HiddenGaussian => HiddenNoise::Gaussian {
            sigma: noise.sigma(),
        },
        _ => {
            let range = MixingRange::try_new(noise.alpha_mix()).map_err(Failure::input)?;
            if let Some(note) = range.note() {
                tell(format_args!("note: {note}"));
            }
            HiddenNoise::Mixup { range }
        }
    };
    noise.check().map_err(Failure::input)?;
    Ok(HiddenMixupConfig {
        encoder,
        head,
        noise,
    })
}

impl<E: PlainGraphEncoder> GraphEncoder for HiddenMixupConfig<E> {
    const COLLATE: HiddenCollate<GraphCollate> = HiddenCollate::new(GraphCollate);
    const NAME: &'static str = E::HIDDEN_NAME;
    const TITLE: &'static str = E::HIDDEN_TITLE;

    type Views = HiddenViews<GraphViews>;
    type Collate = HiddenCollate<GraphCollate>;
    type Module<B: Backend> = HiddenMixup<B, E::Module<B>, ProjectionHead<B>>;
    type Trained<B: AutodiffBackend> = HiddenMixup<B, E::Trained<B>, ProjectionHead<B>>;

    fn views(&self) -> Result<HiddenViews<GraphViews>, anyhow::Error> {
        Ok(HiddenViews::try_new(self.encoder.views()?, self.noise)?)
    }

    fn try_init<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, anyhow::Error> {
        let encoder = self.encoder.try_init::<B>(seed, device)?;
        let d_embedding = self.encoder.d_embedding();
        Ok(self.try_init(encoder, d_embedding, seed, device)?)
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.tensors(self.encoder.tensors())
    }

    fn d_input(&self) -> usize {
        self.encoder.d_input()
    }

    fn n_layers(&self) -> usize {
        self.encoder.n_layers()
    }
}
