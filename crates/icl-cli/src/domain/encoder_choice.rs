//! The choice of a domain: by the data and the options for a new encoder, by its file for a stored one.

use std::path::Path;

use anyhow::anyhow;
use icl_data::{GraphDataset, ImageDataset, Outliers, RawTable, table_of_pixels};
use icl_models::{
    ConvNetConfig, GcnConfig, GinConfig, HiddenMixupConfig, ResNetConfig, StoredEncoder,
};

use crate::domain::convolutional::Convolutional;
use crate::domain::data::{Data, GRAPHS, IMAGES, INTERACTIONS, TABLES, TEXT_PAIRS};
use crate::domain::encoder_file::{EncoderFile, wrong_kind};
use crate::domain::graph_encoder::{GraphEncoder, PlainGraphEncoder};
use crate::domain::hidden_encoder::hidden;
use crate::domain::image_mlp::ImageMlp;
use crate::domain::tables::NOISES_OF_TABLES;
use crate::domain::{Codec, Domain, Graphs, NextItems, PairedTexts, Tables};
use crate::options::choice;
use crate::options::data::DataOptions;
use crate::options::encoder::{EncoderKind, EncoderOptions, MLP_SIDE};
use crate::options::noise::{Noise, NoiseOptions};
use crate::process::failure::Failure;

/// Work with a new encoder.
pub trait OnNewEncoder {
    /// Result of the work.
    type Output;

    /// Does the work.
    ///
    /// # Errors
    /// If it fails.
    fn run<D: Domain>(self, domain: &D, data: D::Data) -> Result<Self::Output, Failure>;
}

/// Reads the data, chooses the encoder and its views, and does the work.
///
/// # Errors
/// If an option or the data cannot be used, or the work fails.
pub fn with_new_encoder<W: OnNewEncoder>(
    data: &DataOptions,
    encoder: &EncoderOptions,
    noise: &NoiseOptions,
    work: W,
) -> Result<W::Output, Failure> {
    let read = Data::read(&data.name, &data.reading)?;
    with_new_encoder_of(read, data.reading.outliers, encoder, noise, work)
}

/// Chooses the encoder of data that have been read and its views, and does the work.
///
/// # Errors
/// If an option or the data cannot be used, or the work fails.
pub fn with_new_encoder_of<W: OnNewEncoder>(
    data: Data,
    outliers: Outliers,
    encoder: &EncoderOptions,
    noise: &NoiseOptions,
    work: W,
) -> Result<W::Output, Failure> {
    use EncoderKind::{Gcn, Gin, Mlp, TwoTower, WordTower};
    match data {
        Data::Graphs(graphs) => {
            let is_hidden = noise.kind(&NOISES_OF_GRAPHS, GRAPHS)? != Noise::Augment;
            let d_input = graphs.d_features();
            match (encoder.kind(&[Gcn, Gin], GRAPHS)?, is_hidden) {
                (Gin, false) => on_graphs(GinConfig::of(d_input, encoder)?, graphs, outliers, work),
                (_, false) => on_graphs(GcnConfig::of(d_input, encoder)?, graphs, outliers, work),
                (Gin, true) => {
                    let encoder = hidden::<GinConfig>(d_input, encoder, noise)?;
                    on_graphs(encoder, graphs, outliers, work)
                }
                (_, true) => {
                    let encoder = hidden::<GcnConfig>(d_input, encoder, noise)?;
                    on_graphs(encoder, graphs, outliers, work)
                }
            }
        }
        Data::Images(images) => on_images(images, outliers, encoder, noise, work),
        Data::Interactions(interactions) => {
            encoder.kind(&[TwoTower], INTERACTIONS)?;
            noise.kind(&[Noise::None], INTERACTIONS)?;
            let (domain, data) = NextItems::of(interactions, encoder)?;
            work.run(&domain, data)
        }
        Data::Tables(table) => {
            encoder.kind(&[Mlp], TABLES)?;
            on_table(table, outliers, encoder, noise, work)
        }
        Data::TextPairs(pairs) => {
            encoder.kind(&[WordTower], TEXT_PAIRS)?;
            noise.kind(&[Noise::None], TEXT_PAIRS)?;
            let (domain, data) = PairedTexts::of(pairs, encoder)?;
            work.run(&domain, data)
        }
    }
}

/// Noise of the views of graphs; the first is the default.
const NOISES_OF_GRAPHS: [Noise; 3] = [Noise::Augment, Noise::Hidden, Noise::HiddenGaussian];

/// Noise of the views of images for a perceptron; the first is the default. With any other, the pixels are the
/// columns of a table.
const NOISES_OF_PIXELS: [Noise; 10] = {
    let mut noises = NOISES_OF_TABLES;
    noises[0] = Noise::Augment;
    noises
};

fn on_images<W: OnNewEncoder>(
    images: ImageDataset,
    outliers: Outliers,
    encoder: &EncoderOptions,
    noise: &NoiseOptions,
    work: W,
) -> Result<W::Output, Failure> {
    use EncoderKind::{Convnet, Mlp, Resnet18};
    let is_small = images.common_side().is_some_and(|side| side <= MLP_SIDE);
    let possible = if is_small {
        [Mlp, Resnet18, Convnet]
    } else {
        [Resnet18, Convnet, Mlp]
    };
    match encoder.kind(&possible, IMAGES)? {
        Resnet18 => {
            let domain = Convolutional::<ResNetConfig>::of(&images, encoder, noise)?;
            return work.run(&domain, images);
        }
        Convnet => {
            let domain = Convolutional::<ConvNetConfig>::of(&images, encoder, noise)?;
            return work.run(&domain, images);
        }
        _ => {}
    }
    let kind = noise.kind(&NOISES_OF_PIXELS, IMAGES)?;
    if kind == Noise::Augment {
        return work.run(&ImageMlp::of(&images, encoder)?, images);
    }
    if let Some(found) = encoder.image_size {
        return Err(Failure::input(anyhow!(
            "image-size: found {found} with the encoder mlp and the noise {}, expected it with the noise augment \
             only",
            choice::name(&kind)
        )));
    }
    let table = table_of_pixels(&images).map_err(Failure::input)?;
    on_table(table, outliers, encoder, noise, work)
}

fn on_graphs<E: GraphEncoder, W: OnNewEncoder>(
    encoder: E,
    graphs: GraphDataset,
    outliers: Outliers,
    work: W,
) -> Result<W::Output, Failure> {
    let domain = Graphs::with(encoder, outliers).map_err(Failure::Input)?;
    work.run(&domain, graphs)
}

fn on_table<W: OnNewEncoder>(
    table: RawTable,
    outliers: Outliers,
    encoder: &EncoderOptions,
    noise: &NoiseOptions,
    work: W,
) -> Result<W::Output, Failure> {
    let (domain, data) = Tables::of(&table, outliers, encoder, noise)?;
    work.run(&domain, data)
}

/// Work with an encoder in a file, on one or several data sets.
pub trait OnStoredEncoder<const N: usize> {
    /// Result of the work.
    type Output;

    /// Does the work.
    ///
    /// # Errors
    /// If it fails.
    fn run<D: Domain>(
        self,
        encoder: &EncoderFile<D>,
        data: [D::Data; N],
    ) -> Result<Self::Output, Failure>;
}

/// Reads the encoder in a file, checks that the data are of its kind, and does the work.
///
/// # Errors
/// If the file cannot be read, the data are of another kind, or the work fails.
pub fn with_stored_encoder<W: OnStoredEncoder<N>, const N: usize>(
    path: &Path,
    data: [Data; N],
    outliers: Outliers,
    work: W,
) -> Result<W::Output, Failure> {
    let kinds = data.each_ref().map(Data::kind);
    let [first, others @ ..] = &kinds[..] else {
        unreachable!("work with an encoder is on at least one data set");
    };
    if let Some(found) = others.iter().find(|kind| *kind != first) {
        return Err(Failure::input(anyhow!(
            "new: found {found}, expected the same kind of data as the old data"
        )));
    }
    let file = StoredEncoder::open(path).map_err(Failure::input)?;
    let (kind, samples) = (file.kind().map_err(Failure::input)?.to_owned(), *first);
    on_kind(&kind, samples, file, data, outliers, work)
}

/// Lists the kinds of encoders, each with the samples that it takes.
macro_rules! kinds {
    ($($samples:ident: $domain:ty),+ $(,)?) => {
        /// Kinds of encoders, each with the samples that it takes.
        const KINDS: &[(&str, &str)] = &[$((<$domain>::ENCODER, $samples)),+];

        /// Does the work with an encoder of a kind on data of these samples.
        fn on_kind<W: OnStoredEncoder<N>, const N: usize>(
            kind: &str,
            samples: &str,
            file: StoredEncoder,
            data: [Data; N],
            outliers: Outliers,
            work: W,
        ) -> Result<W::Output, Failure> {
            $(if (kind, samples) == (<$domain>::ENCODER, $samples) {
                return on_stored::<$domain, W, N>(file, data, outliers, work);
            })+
            let of_samples = KINDS.iter().filter(|(_, of)| *of == samples);
            let expected: Vec<String> = of_samples.map(|(kind, _)| format!("\"{kind}\"")).collect();
            let expected = format!("one for {samples}: {}", expected.join(" or "));
            Err(Failure::input(wrong_kind(&file, kind, &expected)))
        }
    };
}

kinds! {
    GRAPHS: Graphs<GcnConfig>,
    GRAPHS: Graphs<GinConfig>,
    GRAPHS: Graphs<HiddenMixupConfig<GcnConfig>>,
    GRAPHS: Graphs<HiddenMixupConfig<GinConfig>>,
    IMAGES: Convolutional<ResNetConfig>,
    IMAGES: Convolutional<ConvNetConfig>,
    IMAGES: ImageMlp,
    INTERACTIONS: NextItems,
    IMAGES: Tables,
    TABLES: Tables,
    TEXT_PAIRS: PairedTexts,
}

fn on_stored<D: Domain, W: OnStoredEncoder<N>, const N: usize>(
    file: StoredEncoder,
    data: [Data; N],
    outliers: Outliers,
    work: W,
) -> Result<W::Output, Failure> {
    let encoder = EncoderFile::<D>::of(file).map_err(Failure::input)?;
    // Either may be the wrong one: the data, which are named, or the encoder.
    let with_file = |failure| match failure {
        Failure::Input(_) => Failure::input(anyhow!(
            "{failure} (encoder {})",
            encoder.stored.path().display()
        )),
        other => other,
    };
    let prepared = data
        .into_iter()
        .map(|data| encoder.domain.prepared(data, outliers).map_err(with_file));
    let prepared: Option<Vec<D::Data>> = prepared.collect::<Result<_, _>>()?;
    match prepared.and_then(|data| data.try_into().ok()) {
        Some(data) => work.run(&encoder, data),
        None => unreachable!("the kind of the data is that of the encoder"),
    }
}
