//! The update for one experience of a stream.

use std::collections::HashSet;

use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Collate, Encoder, Increment, Samples, Seed, Views};

use crate::error::TrainError;
use crate::evaluation::evaluator::Evaluator;
use crate::method::Method;
use crate::progress::Callbacks;
use crate::progress::Cost;
use crate::stream::advanced::{Advanced, Arriving};
use crate::stream::error::StreamError;
use crate::stream::keep::Keep;
use crate::stream::state::{Experience, StreamState};
use crate::trainer::Trainer;
use crate::trainer::settings::TrainingSettings;

/// A stream of increments: an encoder that is updated for one experience after the other.
///
/// An experience is an increment: X is what [`Keep`] has kept of the experiences before, ΔX what has arrived, less a share
/// that is held out. After each update the encoder is measured on the held-out panels of the experiences so far, each
/// panel with its own samples as noise, so that the risks of a column of the matrix can be compared.
///
/// State in, state out: [`first`](Self::first) and [`next`](Self::next) return the state, with which the stream goes on,
/// also in another process. All random draws of an experience depend on the root seed and on its name: a later
/// experience changes no earlier one. The optimizer begins anew at each experience, as in TiC-CLIP (Garg et al., 2024).
///
/// The growth ratio of an update is that of the samples that it has: with a bounded buffer new data weigh more than
/// their share of all data that have come.
///
/// ```
/// use burn::backend::{Autodiff, Flex};
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::{Tensor, backend::Backend};
/// use icl_core::{Augment, Encoder, Mode, Stack};
/// use icl_train::{Arriving, Callbacks, Keep, Method, Stream, TrainingSettings};
/// use rand::RngExt;
///
/// #[derive(Module, Debug)]
/// struct Mine<B: Backend> {
///     layer: Linear<B>,
/// }
///
/// impl<B: Backend> Encoder<B> for Mine<B> {
///     type Batch = Tensor<B, 2>;
///     fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
///         self.layer.forward(batch)
///     }
/// }
///
/// let samples: Vec<[f32; 2]> = (0..90).map(|i| [(i as f32).sin(), (i as f32).cos()]).collect();
/// let views = Augment::new(|x: &[f32; 2], rng| x.map(|x| x + 0.1 * rng.random::<f32>()));
/// let stream = Stream::<Autodiff<Flex>, _, _, _>::new(&samples, views, Stack::new())
///     .settings(TrainingSettings { epochs: 3, ..Default::default() })
///     .keep(Keep::Equal(30))
///     .seed(7);
/// let arriving = |name, from: usize| Arriving { name, samples: (from..from + 30).collect() };
/// let encoder = Mine { layer: LinearConfig::new(2, 8).init(&Default::default()) };
/// let monday = stream.first(encoder, arriving("monday", 0), &mut Callbacks::new())?;
/// let tuesday = stream.next(
///     monday.state,
///     &monday.encoder,
///     monday.trained,
///     &Method::icl(),
///     arriving("tuesday", 30),
///     &mut Callbacks::new(),
/// )?;
/// let risks = tuesday.state.matrix();
/// assert!(risks[1].iter().all(Option::is_some));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stream<'a, B: AutodiffBackend, S, V, C> {
    samples: &'a S,
    views: V,
    collate: C,
    settings: TrainingSettings,
    keep: Keep,
    hold_out: f64,
    panel: usize,
    seed: u64,
    device: B::Device,
}

impl<'a, B: AutodiffBackend, S, V, C> Stream<'a, B, S, V, C> {
    /// Creates a stream over these samples with the default settings of training: it keeps all samples, holds out a tenth of
    /// each experience and measures panels of at most 512 samples; seed 0, default device.
    pub fn new(samples: &'a S, views: V, collate: C) -> Self {
        Self {
            samples,
            views,
            collate,
            settings: TrainingSettings::default(),
            keep: Keep::All,
            hold_out: 0.1,
            panel: 512,
            seed: 0,
            device: B::Device::default(),
        }
    }

    /// Sets the settings of every update.
    #[must_use]
    pub fn settings(self, settings: TrainingSettings) -> Self {
        Self { settings, ..self }
    }

    /// Sets the old samples that are kept.
    #[must_use]
    pub fn keep(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// Sets the share of each experience that is held out, above 0 and below 1.
    #[must_use]
    pub fn hold_out(self, share: f64) -> Self {
        Self {
            hold_out: share,
            ..self
        }
    }

    /// Sets the maximum number of samples of the panel of an experience.
    #[must_use]
    pub fn panel(self, n: usize) -> Self {
        Self { panel: n, ..self }
    }

    /// Sets the root seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the device.
    #[must_use]
    pub fn device(self, device: B::Device) -> Self {
        Self { device, ..self }
    }

    /// Returns the seed of an experience.
    fn seed_of(&self, name: &str) -> Seed {
        Seed::new(self.seed).child("stream").child(name)
    }

    fn trainer<'t>(
        &'t self,
        increment: &'t Increment,
        seed: u64,
    ) -> Trainer<'t, B, S, &'t V, &'t C> {
        Trainer::new(self.samples, &self.views, &self.collate, increment)
            .settings(self.settings.clone())
            .seed(seed)
            .device(self.device.clone())
    }
}

impl<B, S, V, C> Stream<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Trains an encoder on the first experience, as [`Trainer::pretrain`] does.
    ///
    /// # Errors
    /// [`StreamError`] if the experience has too few samples, or its training fails.
    pub fn first<M>(
        &self,
        encoder: M,
        arriving: Arriving<'_>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Advanced<M, B>, StreamError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        let state = StreamState::default();
        let [training, panel] = self.divided(&state, &arriving)?;
        let increment = Increment::before(training).map_err(|source| StreamError::Division {
            experience: arriving.name.to_owned(),
            source,
        })?;
        let trainer = self.trainer(&increment, self.seed_of(arriving.name).value());
        let outcome = trainer.pretrain_with(encoder, callbacks);
        let outcome = outcome.map_err(|source| of_training(&arriving, source))?;
        let cost = outcome.record.cost;
        let state = self.after(
            state,
            &outcome.encoder,
            arriving,
            (panel, None, cost),
            increment.old(),
        )?;
        Ok(Advanced {
            trained: outcome.trained,
            encoder: outcome.encoder,
            state,
            increment,
            parameter_change: outcome.parameter_change,
        })
    }

    /// Updates for the next experience by a method, as [`Trainer::update`] does. `live` is the encoder that was in use when the
    /// data came; `start` the one from which the method starts: the same, or a fresh encoder if the method's start is
    /// [`Start::Scratch`](crate::Start::Scratch).
    ///
    /// # Errors
    /// [`StreamError`] if the name or a sample has come before, the experience has too few samples, or its training fails.
    pub fn next<M>(
        &self,
        state: StreamState,
        live: &M::InnerModule,
        start: M,
        method: &Method,
        arriving: Arriving<'_>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Advanced<M, B>, StreamError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        let [training, panel] = self.divided(&state, &arriving)?;
        let served = self.panel_risk(live, &panel)?;
        let kept = state.buffer.kept().iter().map(|kept| kept.sample).collect();
        let increment =
            Increment::try_new(kept, training).map_err(|source| StreamError::Division {
                experience: arriving.name.to_owned(),
                source,
            })?;
        let trainer = self.trainer(&increment, self.seed_of(arriving.name).value());
        let outcome = trainer.update_with(method, start, callbacks);
        let outcome = outcome.map_err(|source| of_training(&arriving, source))?;
        let mut cost = outcome.record.cost;
        cost.measuring += measuring::<M::InnerModule, B::InnerBackend>(panel.len());
        let of_panel = (panel, Some(served), cost);
        let state = self.after(
            state,
            &outcome.encoder,
            arriving,
            of_panel,
            increment.new_data(),
        )?;
        Ok(Advanced {
            trained: outcome.trained,
            encoder: outcome.encoder,
            state,
            increment,
            parameter_change: outcome.parameter_change,
        })
    }

    /// Computes the risks of any encoder on all panels of a stream so far: an untrained one as the reference of forward
    /// transfer, or a retrained one as a control.
    ///
    /// # Errors
    /// [`StreamError::Sample`] if a sample cannot be read.
    pub fn risks<M>(&self, encoder: &M, state: &StreamState) -> Result<Vec<f64>, StreamError>
    where
        M: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        let panels = state.experiences.iter().map(|it| &it.panel);
        panels
            .map(|panel| self.panel_risk(encoder, panel))
            .collect()
    }

    /// Divides what has arrived into training samples and a panel.
    fn divided(
        &self,
        state: &StreamState,
        arriving: &Arriving<'_>,
    ) -> Result<[Vec<usize>; 2], StreamError> {
        let experience = || arriving.name.to_owned();
        if state.experiences.iter().any(|it| it.name == arriving.name) {
            return Err(StreamError::Repeated {
                found: experience(),
            });
        }
        let n_samples = self.samples.n_samples();
        if let Some(&sample) = arriving.samples.iter().find(|it| **it >= n_samples) {
            return Err(StreamError::Absent {
                experience: experience(),
                sample,
                n_samples,
            });
        }
        let panels = state.experiences.iter().flat_map(|it| &it.panel);
        let kept = state.buffer.kept().iter().map(|kept| &kept.sample);
        let known: HashSet<&usize> = panels.chain(kept).collect();
        if let Some(&sample) = arriving.samples.iter().find(|it| known.contains(it)) {
            return Err(StreamError::Known {
                experience: experience(),
                sample,
            });
        }
        let wrong = |source| StreamError::Division {
            experience: experience(),
            source,
        };
        let all = Increment::before(arriving.samples.clone()).map_err(wrong)?;
        let seed = self.seed_of(arriving.name);
        let (training, panel) = all
            .hold_out(self.hold_out, seed.child("held out"))
            .map_err(wrong)?;
        let panel = panel.at_most(self.panel.max(4), seed.child("panel"));
        Ok([training.old().to_vec(), panel.old().to_vec()])
    }

    /// Returns the state after an experience.
    fn after<M>(
        &self,
        mut state: StreamState,
        encoder: &M,
        arriving: Arriving<'_>,
        (panel, served, cost): (Vec<usize>, Option<f64>, Cost),
        training: &[usize],
    ) -> Result<StreamState, StreamError>
    where
        M: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        let n = state.experiences.len() + 1;
        state
            .buffer
            .add(self.keep, training, self.seed_of(arriving.name));
        let mut experience = Experience {
            name: arriving.name.to_owned(),
            n_samples: arriving.samples.len(),
            panel,
            served,
            risks: vec![None; n],
            cost,
        };
        for at in StreamState::measured(n) {
            let earlier = state.experiences.get(at);
            let panel = earlier.map_or(&experience.panel, |it| &it.panel);
            experience.risks[at] = Some(self.panel_risk(encoder, panel)?);
            experience.cost.measuring += measuring::<M, B::InnerBackend>(panel.len());
        }
        state.experiences.push(experience);
        Ok(state)
    }

    /// Computes the exact NCE-I of a panel, with its own samples as noise, on one fixed pair of views of each.
    fn panel_risk<M>(&self, encoder: &M, panel: &[usize]) -> Result<f64, StreamError>
    where
        M: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        let panel = Increment::before(panel.to_vec()).map_err(|source| StreamError::Division {
            experience: "panel".to_owned(),
            source,
        })?;
        let trainer = self.trainer(&panel, self.seed);
        let evaluator: Evaluator<'_, B::InnerBackend, S, &V, &C> = trainer.evaluator();
        let risk = evaluator.panel_risk_old(encoder, &panel);
        let risk = risk.map_err(StreamError::Sample)?.mean.all;
        Ok(risk.expect("a panel has old samples"))
    }
}

fn of_training(arriving: &Arriving<'_>, source: TrainError) -> StreamError {
    StreamError::Training {
        experience: arriving.name.to_owned(),
        source,
    }
}

/// Returns the passes of a measured panel: both views of each sample, forward.
fn measuring<M: Encoder<B>, B: Backend>(n: usize) -> f64 {
    2.0 * n as f64 * M::FORWARD_SHARE
}
