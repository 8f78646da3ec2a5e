//! Encoders for other programs: torchvision, PyTorch, NumPy and ONNX.

mod columns;
mod format;
mod network;
mod onnx;
mod proto;
mod state_dict;

use icl_core::{Error, Found};

use self::columns::Columns;
use self::format::KINDS;
use self::network::{convnet, image_mlp, resnet, table_mlp};
use crate::convnet::ConvNetConfig;
use crate::gcn::GcnConfig;
use crate::gin::GinConfig;
use crate::hidden_mixup::HiddenMixupConfig;
use crate::mlp::MlpConfig;
use crate::resnet::{ResNetConfig, Stem, torchvision_name};
use crate::stored_encoder::StoredEncoder;
use crate::stored_tensor::{StoredTensor, safetensors_bytes, with_counts};

pub use self::format::{Export, ExportFormat};

/// Metadata of an encoder's file that exported files repeat.
const REPEATED: [&str; 6] = [
    "channels",
    "config",
    "data",
    "schema",
    "temperature",
    "views",
];

impl StoredEncoder {
    /// Returns this encoder in a format of other programs. What is exported computes h, the embeddings that
    /// [`Encoder::embed`](icl_core::Encoder::embed) returns and `icl embed` writes, with the statistics of
    /// normalisation of the file. A projection head, which only the losses use, is left out. The same encoder gives the
    /// same bytes.
    ///
    /// | kind | formats |
    /// |---|---|
    /// | `resnet-18` | torchvision, ONNX |
    /// | `mlp`, `image-mlp`, `convnet` | ONNX, safetensors |
    /// | `gcn`, `gin`, `gcn-hidden`, `gin-hidden` | safetensors |
    ///
    /// **torchvision**: names and shapes of the state dict of `resnet18`. With the stem `small` or other than three
    /// channels, the convolution `conv1` has another shape than torchvision's own, and the note says how the network is
    /// changed. `fc` is there only for an encoder with classes.
    ///
    /// **safetensors**: weights of affine maps are `[out, in]`; the names are
    ///
    /// | kind | names |
    /// |---|---|
    /// | MLP | `layers.I.linear.weight`, `layers.I.norm.*` |
    /// | ConvNet | `layers.I.convolution.weight`, `layers.I.norm.*` |
    /// | GCN | `convolutions.I.lin.weight`, `norms.I.running_mean`, `norms.I.running_var` |
    /// | GIN | `layers.I.first.*`, `layers.I.second.*`, `layers.I.norm.*` |
    ///
    /// where a normalisation has the tensors of `BatchNorm1d` or `BatchNorm2d`. For tables there are `offset`, `mean`
    /// and `sd` `[d_input]` in double precision: feature x becomes x − offset, rounded to single precision, and then
    /// (x − mean)/sd.
    ///
    /// **ONNX**: the number of samples is free. Tables have the input `rows` `[batch, d_input]` in double precision,
    /// the features before they are standardised, which the model does. Images have the input `images`
    /// `[batch, channels, height, width]` in single precision, normalised as views of the encoder are. The output is
    /// `embeddings` `[batch, d]`.
    ///
    /// Metadata repeat `config`, `data`, `schema`, `views` and what else of the file describes the encoder; `kind` is
    /// its kind, `source-digest` the [digest](Self::digest) of its file, and `icl-version` that of this crate. For
    /// tables, `features` is a JSON list of the names of the features in their order: `COLUMN` of numbers,
    /// `COLUMN=TEXT` of categories and `COLUMN is missing` of indicators.
    ///
    /// # Errors
    /// If the kind cannot be exported or has not this format, the tensors are not those of the configuration, or the
    /// file would be larger than its format allows.
    pub fn export(&self, format: ExportFormat) -> Result<Export, Error> {
        let kind = self.kind()?;
        let Some((_, formats)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            let kinds: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            return Err(self.wrong(
                format!("an encoder of kind {}", Found::new(kind)),
                format!("one that can be exported: {}", kinds.join(", ")),
            ));
        };
        if !formats.contains(&format) {
            let names: Vec<&str> = formats.iter().map(|it| it.name()).collect();
            return Err(self.wrong(
                format!(
                    "an encoder of kind \"{kind}\", which has no format {}",
                    format.name()
                ),
                format!("the format {}", names.join(" or ")),
            ));
        }
        match kind {
            "resnet-18" => self.export_resnet(format),
            "convnet" => self.export_convnet(format),
            "mlp" | "image-mlp" => self.export_mlp(format),
            _ => self.export_graph_encoder(kind),
        }
    }

    fn export_resnet(&self, format: ExportFormat) -> Result<Export, Error> {
        let config: ResNetConfig = self.parsed("config", "the configuration of a ResNet-18")?;
        self.check_config(config.check())?;
        let tensors = self.renamed("a ResNet-18", config.tensors(), torchvision_name)?;
        if format == ExportFormat::Onnx {
            return resnet(&config).export(self, tensors, &[]);
        }
        // PyTorch keeps ε in the module, not in its state dict: another value would be lost.
        let usual = 1e-5;
        if config.epsilon != usual {
            let found = format!("a normalisation with epsilon = {}", config.epsilon);
            return Err(self.wrong(found, format!("{usual}, that of torchvision")));
        }
        let channels = config.in_channels;
        let mut note = match config.n_classes {
            None => "for torchvision's resnet18 without fc".to_owned(),
            Some(n) => format!("for torchvision's resnet18 with {n} classes"),
        };
        match (config.stem, channels) {
            (Stem::Standard, 3) => {}
            (Stem::Standard, _) => {
                note += &format!(", with conv1 = Conv2d({channels}, 64, 7, 2, 3, bias=False)");
            }
            (Stem::Small, _) => {
                note += &format!(
                    ", with conv1 = Conv2d({channels}, 64, 3, 1, 1, bias=False) and maxpool = Identity()"
                );
            }
        }
        self.safetensors(tensors, &[], note)
    }

    fn export_convnet(&self, format: ExportFormat) -> Result<Export, Error> {
        let config: ConvNetConfig = self.parsed("config", "the configuration of a ConvNet")?;
        self.check_config(config.check())?;
        let name = |path: &str| {
            let name = state_dict::name(path)?;
            Some(name.replace(".linear.", ".convolution."))
        };
        let tensors = self.renamed("a ConvNet", config.tensors(), name)?;
        if format == ExportFormat::Onnx {
            return convnet(&config).export(self, tensors, &[]);
        }
        let note = "convolutions [out, in, 3, 3] of stride 2 and padding 1, without bias";
        self.safetensors(tensors, &[], note.to_owned())
    }

    fn export_mlp(&self, format: ExportFormat) -> Result<Export, Error> {
        let config: MlpConfig = self.parsed("config", "the configuration of an MLP")?;
        self.check_config(config.check())?;
        let mut tensors = self.renamed("an MLP", config.tensors(), state_dict::name)?;
        let is_table = self.kind()? == "mlp";
        let mut of_columns = Vec::new();
        if is_table {
            let columns = Columns::of(self, config.d_input)?;
            tensors.extend(columns.tensors());
            of_columns.push(("features", columns.names_as_json()?));
        }
        match (format, is_table) {
            (ExportFormat::Onnx, true) => table_mlp(&config).export(self, tensors, &of_columns),
            (ExportFormat::Onnx, false) => {
                let channels: usize = self.parsed("channels", "the number of channels")?;
                let side = config.d_input.checked_div(channels).unwrap_or(0).isqrt();
                if channels * side * side != config.d_input {
                    return Err(self.wrong(
                        format!("{channels} channels and d_input = {}", config.d_input),
                        "the pixels of a square",
                    ));
                }
                image_mlp(&config, channels, side).export(self, tensors, &of_columns)
            }
            _ => {
                let note = match is_table {
                    true => "weights [out, in], and offset, mean and sd of the features",
                    false => "weights [out, in]",
                };
                self.safetensors(tensors, &of_columns, note.to_owned())
            }
        }
    }

    fn export_graph_encoder(&self, kind: &str) -> Result<Export, Error> {
        let expected = "the configuration of an encoder of graphs";
        let tensors = match kind {
            "gcn" => {
                let config: GcnConfig = self.parsed("config", expected)?;
                self.check_config(config.check())?;
                self.renamed("a GCN", config.tensors(), state_dict::name)?
            }
            "gin" => {
                let config: GinConfig = self.parsed("config", expected)?;
                self.check_config(config.check())?;
                self.renamed("a GIN", config.tensors(), state_dict::name)?
            }
            "gcn-hidden" => {
                let config: HiddenMixupConfig<GcnConfig> = self.parsed("config", expected)?;
                self.check_config(config.encoder.check())?;
                let all = config.tensors(config.encoder.tensors());
                self.renamed("a GCN with hidden noise", all, state_dict::name)?
            }
            _ => {
                let config: HiddenMixupConfig<GinConfig> = self.parsed("config", expected)?;
                self.check_config(config.encoder.check())?;
                let all = config.tensors(config.encoder.tensors());
                self.renamed("a GIN with hidden noise", all, state_dict::name)?
            }
        };
        self.safetensors(tensors, &[], "weights [out, in]".to_owned())
    }

    /// Reports a configuration that is not valid.
    fn check_config(&self, checked: Result<(), Error>) -> Result<(), Error> {
        checked.map_err(|error| {
            let found = format!("a configuration that is not valid ({error})");
            self.wrong(found, Self::EXPECTED)
        })
    }

    /// Returns the tensors of the file that have a name in the state dict, weights of affine maps as `[out, in]`.
    fn renamed(
        &self,
        of: &str,
        expected: impl IntoIterator<Item = (String, Vec<usize>)>,
        name: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<StoredTensor>, Error> {
        let mut tensors = Vec::new();
        for (path, data) in self.tensors(of, expected)? {
            let Some(name) = name(&path) else { continue };
            let shape = data.shape.to_vec();
            let values = data.into_vec::<f32>();
            let values = values.map_err(|error| Error::message(format!("{error:?}")))?;
            tensors.push(match shape[..] {
                [d_input, d_output] => {
                    let transposed = state_dict::transposed(&values, [d_input, d_output]);
                    StoredTensor::of_f32(name, vec![d_output, d_input], &transposed)
                }
                _ => StoredTensor::of_f32(name, shape, &values),
            });
        }
        Ok(tensors)
    }

    fn safetensors(
        &self,
        tensors: Vec<StoredTensor>,
        more: &[(&str, String)],
        note: String,
    ) -> Result<Export, Error> {
        let mut metadata = self.described(more)?;
        // The key by which the library `transformers` knows whose tensors these are; others ignore it.
        metadata.push(("format", "pt"));
        metadata.sort_unstable();
        let bytes = safetensors_bytes(&metadata, &with_counts(tensors))?;
        Ok(Export { bytes, note })
    }

    /// Returns the metadata of an exported file.
    fn described<'a>(
        &'a self,
        more: &'a [(&'a str, String)],
    ) -> Result<Vec<(&'a str, &'a str)>, Error> {
        let mut metadata = vec![
            ("icl-version", env!("CARGO_PKG_VERSION")),
            ("kind", self.kind()?),
            ("source-digest", self.digest()),
        ];
        let repeated = REPEATED
            .iter()
            .filter_map(|key| Some((*key, self.get(key)?)));
        metadata.extend(repeated);
        metadata.extend(more.iter().map(|(key, value)| (*key, &value[..])));
        metadata.sort_unstable();
        Ok(metadata)
    }
}
