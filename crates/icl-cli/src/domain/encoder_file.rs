//! Encoders of a domain in their files.

use std::path::Path;
use std::time::SystemTime;

use anyhow::anyhow;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Seed};
use icl_data::{ContentHash, Found};
use icl_models::{BURN_VERSION, DataOrigin, Origin, Parent, StoredEncoder};
use icl_train::TrainingSettings;
use time::OffsetDateTime;

use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::files::whole;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Key of the rule by which samples were held out from all training, with their share.
const HOLD_OUT: &str = "hold-out";

/// Key of the cost of retraining.
const PASSES_PER_SAMPLE: &str = "passes-per-sample";

/// Key of the temperature of the loss.
const TEMPERATURE: &str = "temperature";
/// Key of the number of negatives in the loss.
const NEGATIVES: &str = "negatives";
/// Key of the names of the classes, a JSON list.
pub const CLASSES: &str = "classes";

/// Facts about the training of an encoder.
#[derive(Debug, Clone, Copy)]
pub struct TrainedOn<'a> {
    /// Name of the data set.
    pub data: &'a str,
    /// Names of its classes.
    pub classes: &'a [String],
    /// Settings, of which the file holds the loss.
    pub settings: &'a TrainingSettings,
    /// The training.
    pub origin: &'a Origin,
    /// Encoders before it, the first one first.
    pub parents: &'a [Parent],
    /// Share of the samples that no training has seen, if it is known.
    pub hold_out: Option<f64>,
    /// Charged passes of the training from scratch that the encoder goes back to, divided by the number of its samples:
    /// the cost of retraining per sample, if it is known.
    pub passes_per_sample: Option<f64>,
}

/// Writes an encoder with its configuration, from which it can be rebuilt, and the facts about its training as
/// metadata. The same encoder of the same day gives the same bytes. Returns the digest of the file.
///
/// # Errors
/// If the file could not be read again, because a number is not finite, or cannot be written; an earlier file still
/// exists then.
pub fn save<D: Domain, B: Backend>(
    encoder: &D::Encoder<B>,
    domain: &D,
    trained_on: TrainedOn<'_>,
    path: &Path,
) -> Result<String, Failure> {
    let unwritable =
        |error: String| Failure::Other(anyhow!("{}: cannot be written: {error}", path.display()));
    let file =
        file_of(encoder, domain, trained_on).map_err(|error| unwritable(error.to_string()))?;
    // Nothing is written that could not be read: a variance may have overflowed.
    let file = EncoderFile::<D>::of(file).map_err(|error| {
        unwritable(format!(
            "found {}, expected {}, as the encoder must have it",
            error.found(),
            error.expected()
        ))
    })?;
    whole::write(path, file.stored.bytes())?;
    Ok(file.stored.digest().to_owned())
}

/// Returns the file of an encoder.
fn file_of<D: Domain, B: Backend>(
    encoder: &D::Encoder<B>,
    domain: &D,
    trained_on: TrainedOn<'_>,
) -> Result<StoredEncoder, Error> {
    let mut metadata = domain.describe().map_err(Error::message)?;
    let share = trained_on.hold_out;
    let rule = share.map(|share| format!("{}:{share}", ContentHash::RULE));
    metadata.extend(rule.map(|rule| (HOLD_OUT, rule)));
    let passes = trained_on.passes_per_sample;
    metadata.extend(passes.map(|passes| (PASSES_PER_SAMPLE, passes.to_string())));
    let settings = trained_on.settings;
    metadata.push((TEMPERATURE, settings.temperature.to_string()));
    metadata.push((NEGATIVES, settings.negatives.to_string()));
    if !trained_on.classes.is_empty() {
        let classes = serde_json::to_string(trained_on.classes);
        metadata.push((CLASSES, classes.map_err(Error::message)?));
    }
    let names = (D::ENCODER, trained_on.data);
    let origin = (trained_on.origin, trained_on.parents);
    StoredEncoder::with_origin(encoder, names, metadata, origin)
}

/// Returns a training of today by this program.
pub fn origin(command: &str, seed: u64, passes: f64, data: Vec<DataOrigin>) -> Origin {
    Origin {
        version: concat!("icl ", env!("CARGO_PKG_VERSION")).to_owned(),
        burn: BURN_VERSION.to_owned(),
        date: today(),
        command: command.to_owned(),
        seed,
        passes,
        data,
    }
}

/// Returns the day (UTC), or that of the moment in the variable that makes builds reproducible, in seconds since 1970
/// (<https://reproducible-builds.org/docs/source-date-epoch/>).
fn today() -> String {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok();
    let given = given.and_then(|it| OffsetDateTime::from_unix_timestamp(it.parse().ok()?).ok());
    let moment = given.unwrap_or_else(|| SystemTime::now().into());
    moment.date().to_string()
}

/// Returns the temperature and the number of negatives of the training of the encoder in a file, where the file says.
///
/// # Errors
/// If the file cannot be read.
pub fn loss_of(path: &Path) -> Result<[Option<f64>; 2], Failure> {
    let stored = StoredEncoder::open(path).map_err(Failure::input)?;
    Ok([TEMPERATURE, NEGATIVES].map(|key| stored.get(key)?.parse().ok()))
}

/// Encoder that was read from a file and checked, for any backend.
#[derive(Debug)]
pub struct EncoderFile<D> {
    /// The file.
    pub stored: StoredEncoder,
    /// Configuration of the encoder and its views.
    pub domain: D,
    /// Name of the data set that the encoder was trained on.
    data: String,
}

impl<D: Domain> EncoderFile<D> {
    /// Reads an encoder.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged, holds another kind of encoder or no configuration, or its tensors are
    /// not exactly those of the configuration, in names, types and shapes, with finite numbers and no variance below 0.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let read = StoredEncoder::open(path).and_then(Self::of);
        read.map_err(Failure::input)
    }

    /// Reads an encoder from the content of its file.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), but for the first two.
    pub fn of(stored: StoredEncoder) -> Result<Self, Error> {
        let kind = stored.kind()?;
        if kind != D::ENCODER {
            let expected = format!(
                "one of kind \"{}\", which is for {}",
                D::ENCODER,
                <D::Data as DataSet>::SAMPLES
            );
            return Err(wrong_kind(&stored, kind, &expected));
        }
        let domain = D::from_file(&stored)?;
        let data = stored.data()?.to_owned();
        stored.tensors(&domain.encoder_name(), domain.tensors())?;
        Ok(Self {
            stored,
            domain,
            data,
        })
    }

    /// Returns the share of the samples that no training of this encoder has seen, by their
    /// [contents](ContentHash); `None` if the file does not say, or names another rule.
    pub fn hold_out(&self) -> Option<f64> {
        let (rule, share) = self.stored.get(HOLD_OUT)?.split_once(':')?;
        let share = share
            .parse()
            .ok()
            .filter(|share| (0.0..1.0).contains(share));
        share.filter(|_| rule == ContentHash::RULE)
    }

    /// Returns the cost of retraining per sample ([`TrainedOn::passes_per_sample`]); `None` if the file does not say.
    pub fn passes_per_sample(&self) -> Option<f64> {
        let passes: f64 = self.stored.get(PASSES_PER_SAMPLE)?.parse().ok()?;
        (passes.is_finite() && passes > 0.0).then_some(passes)
    }

    /// Reports if data that are given as those of its training differ from them.
    ///
    /// # Errors
    /// If the file's own account of its training cannot be read.
    pub fn tell_other_data(&self, option: &str, found: &DataOrigin) -> Result<(), Failure> {
        let Some(origin) = self.stored.origin().map_err(Failure::input)? else {
            return Ok(());
        };
        let names: Vec<_> = origin.data.iter().map(|data| &data.name[..]).collect();
        let (n, digest) = origin.samples();
        if let Some(n_old) = found.stands_for {
            let n = origin.n_represented();
            if n != n_old {
                tell(format_args!(
                    "note: {option}: a sample that stands for {n_old} {}, but the encoder was trained on {n} ({})",
                    <D::Data as DataSet>::SAMPLES,
                    names.join(", ")
                ));
            }
        } else if (n, digest) != (found.n_samples, found.digest) {
            tell(format_args!(
                "note: {option}: {} {} with the digest {}, but the encoder was trained on {n} with the digest \
                 {digest} ({})",
                found.n_samples,
                <D::Data as DataSet>::SAMPLES,
                found.digest,
                names.join(", ")
            ));
        }
        Ok(())
    }

    /// Returns the CRC-32 of the file, by which interrupted work recognises its encoder.
    pub fn checksum(&self) -> String {
        format!("{:08x}", crc32fast::hash(self.stored.bytes()))
    }

    /// Returns the encoder with the normalisation statistics of the file. Its parameters can be
    /// trained like those of a fresh encoder; its statistics cannot.
    ///
    /// # Errors
    /// If the configuration is not valid.
    pub fn encoder<B: AutodiffBackend>(
        &self,
        device: &B::Device,
    ) -> Result<D::Trained<B>, Failure> {
        let domain = &self.domain;
        // Its values are replaced.
        let shape = || domain.random::<B>(Seed::new(0), device);
        let encoder = self
            .stored
            .encoder(&domain.encoder_name(), domain.tensors(), shape);
        encoder.map_err(Failure::input)
    }

    /// Checks that the encoder can read these data.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check_data(&self, data: &D::Data) -> Result<(), Failure> {
        self.domain.check(data).map_err(|error| {
            Failure::input(anyhow!(
                "data set {}: found {}, expected {}, which {} was trained on ({})",
                Found::new(data.name()),
                error.found(),
                error.expected(),
                self.stored.path().display(),
                Found::new(&self.data)
            ))
        })
    }
}

/// Returns the error of an encoder of another kind than is expected.
pub fn wrong_kind(stored: &StoredEncoder, kind: &str, expected: &str) -> Error {
    stored.wrong(format!("an encoder of kind {}", Found::new(kind)), expected)
}

#[cfg(feature = "flex")]
#[cfg(test)]
mod tests {
    use super::*;

    use burn::backend::{Autodiff, Flex};
    use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
    use burn::tensor::Tensor;
    use burn_store::ModuleSnapshot;
    use icl_core::{Collate, Encoder, Mode, Views, host_values};
    use icl_data::{GraphCollate, GraphViewsConfig, embedded};
    use icl_models::{Gcn, GcnConfig};
    use tempfile::tempdir;

    use crate::domain::{Codec, Graphs};

    type Trained = Autodiff<Flex>;

    /// An encoder for MUTAG whose statistics are not those of a fresh one.
    fn encoder() -> (Gcn<Flex>, GcnConfig) {
        let config = GcnConfig::new(7).with_d_hidden(5).with_n_layers(3);
        let fresh = config.init::<Flex>(Seed::new(3), &Default::default());
        let batches = icl_core::Batches::new(1, |_| Ok(batch::<Flex>(30)));
        (fresh.recalibrated(&batches).unwrap(), config)
    }

    fn batch<B: Backend>(n: usize) -> icl_core::graph::GraphBatch<B> {
        let views = GraphViewsConfig::new().init();
        let mutag = embedded::graphs("MUTAG").unwrap();
        let plain: Vec<_> = mutag.graphs()[..n].iter().map(|g| views.plain(g)).collect();
        GraphCollate.collate(&plain, &Default::default())
    }

    #[derive(Default)]
    struct Tensors(Vec<(bool, Vec<f64>)>);

    impl<B: Backend> ModuleVisitor<B> for Tensors {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            let tensor = param.val();
            self.0.push((tensor.is_require_grad(), host_values(tensor)));
        }
    }

    fn tensors<B: Backend>(module: &impl Module<B>) -> Vec<(bool, Vec<f64>)> {
        let mut tensors = Tensors::default();
        module.visit(&mut tensors);
        tensors.0
    }

    /// Writes with an encoder the facts about a training.
    fn trained<T>(data: &str, work: impl FnOnce(TrainedOn<'_>) -> T) -> T {
        let origin = origin(
            "icl train",
            0,
            61.5,
            vec![DataOrigin::new("all", data, [1, 2])],
        );
        work(TrainedOn {
            data,
            classes: &["0".to_owned(), "1".to_owned()],
            settings: &TrainingSettings::default(),
            origin: &origin,
            parents: &[],
            hold_out: Some(0.1),
            passes_per_sample: Some(61.5),
        })
    }

    /// Writes an encoder, with whatever configuration.
    fn save_with(config: &GcnConfig, encoder: &Gcn<Flex>, path: &Path) {
        let domain = Graphs::with(config.clone(), Default::default()).unwrap();
        let file = trained("MUTAG", |on| file_of(encoder, &domain, on)).unwrap();
        std::fs::write(path, file.bytes()).unwrap();
    }

    fn read(path: &Path) -> Result<EncoderFile<Graphs<GcnConfig>>, Failure> {
        EncoderFile::open(path)
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (encoder, config) = encoder();
        save_with(&config, &encoder, &path);
        let first = std::fs::read(&path).unwrap();
        let file = read(&path).unwrap();
        assert_eq!((&*file.data, file.hold_out()), ("MUTAG", Some(0.1)));
        let description = Graphs::with(config, Default::default())
            .unwrap()
            .describe()
            .unwrap();
        assert_eq!(file.domain.describe().unwrap(), description);
        let again = file
            .encoder::<Trained>(&Default::default())
            .unwrap()
            .valid();
        assert_eq!(tensors(&again), tensors(&encoder));
        trained(&file.data, |on| save(&again, &file.domain, on, &path)).unwrap();
        assert!(std::fs::read(&path).unwrap() == first);
        // The module's own list of tensors is the one that is compared.
        let n_tensors = encoder.collect(None, None, false).len();
        assert_eq!(file.domain.tensors().count(), n_tensors);
    }

    #[test]
    fn it_can_be_trained_further() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (original, config) = encoder();
        save_with(&config, &original, &path);
        let file = read(&path).unwrap();
        let encoder = file.encoder::<Trained>(&Default::default()).unwrap();
        let fresh = config.init::<Trained>(Seed::new(0), &Default::default());
        let trainable = |encoder: &Gcn<Trained>| -> Vec<bool> {
            tensors(encoder).iter().map(|tensor| tensor.0).collect()
        };
        assert_eq!(trainable(&encoder), trainable(&fresh));
        assert_eq!(trainable(&encoder).iter().filter(|is| **is).count(), 3);
        // The statistics come along, for use without gradients.
        assert_eq!(tensors(&encoder.valid()), tensors(&original));

        // Every weight has a gradient that is not zero.
        let mut rng = Seed::new(1).rng();
        let loss = encoder
            .encode(batch(30), Mode::Training(&mut rng))
            .powi_scalar(2)
            .mean();
        let gradients = loss.backward();
        struct Gradients<'a>(
            &'a <Trained as burn::tensor::backend::AutodiffBackend>::Gradients,
            usize,
        );
        impl ModuleVisitor<Trained> for Gradients<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Trained, D>>) {
                if let Some(gradient) = param.val().grad(self.0) {
                    assert!(host_values(gradient).iter().any(|value| *value != 0.0));
                    self.1 += 1;
                }
            }
        }
        let mut found = Gradients(&gradients, 0);
        encoder.visit(&mut found);
        assert_eq!(found.1, 3);
    }

    #[test]
    fn a_configuration_beyond_all_memory_is_an_error() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (encoder, config) = encoder();
        for (config, message) in [
            (
                config.clone().with_d_hidden(1 << 40),
                "found shape [7, 5] of tensor \"convolutions.0.weight\", expected [7, 1099511627776]",
            ),
            (
                config.clone().with_n_layers(usize::MAX),
                "found no tensor \"convolutions.3.weight\", expected it with shape [5, 5]",
            ),
            (
                config.clone().with_n_layers(2),
                "found tensor \"convolutions.2.weight\", expected only those of a GCN with n_layers = 2",
            ),
        ] {
            save_with(&config, &encoder, &path);
            let error = read(&path).unwrap_err().to_string();
            assert!(error.ends_with(message), "{error}");
        }
        save_with(&config.with_dropout(1.0), &encoder, &path);
        let error = read(&path).unwrap().encoder::<Trained>(&Default::default());
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("(dropout: found 1, expected a number from 0 to below 1)"),
            "{error}"
        );
    }

    /// Whatever byte is changed: an encoder or one line, never a panic.
    #[test]
    fn no_changed_byte_makes_it_panic() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (encoder, config) = encoder();
        save_with(&config, &encoder, &path);
        let whole = std::fs::read(&path).unwrap();
        let parse = |bytes: &[u8]| {
            let stored = StoredEncoder::of_bytes(&path, bytes.to_vec())?;
            EncoderFile::<Graphs<GcnConfig>>::of(stored)
        };
        let check = |bytes: &[u8]| match parse(bytes) {
            Ok(file) => drop(file.encoder::<Trained>(&Default::default())),
            Err(error) => assert!(!error.to_string().contains('\n')),
        };
        for index in 0..whole.len() {
            for with in [0, b'"', b'\n', b'9', 0xff, whole[index] ^ 1] {
                let mut changed = whole.clone();
                changed[index] = with;
                check(&changed);
            }
            assert!(parse(&whole[..index]).is_err());
        }
    }
}
