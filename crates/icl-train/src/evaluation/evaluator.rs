//! Evaluation of an encoder on fixed views: exact risk, embeddings and judgements.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::{
    Collate, Encoder, ExactRisk, Group, GroupError, HostRows, Increment, Judge, PanelRisk,
    RiskRows, SampleError, Samples, Seed, Views, exact_nce_i_rows_of_group, exact_risk_of_group,
    host_values, panel_nce_i, panel_risk,
};
use rand::seq::SliceRandom;

use crate::evaluation::evaluated::{Evaluated, Measured};
use crate::evaluation::fixed_views::{CHUNK, FixedViews, collated};
use crate::trainer::problem::Problem;

/// Evaluates encoders on one fixed pair of views of each sample, the same for every method and epoch.
///
/// Before each measurement the encoder's normalisation statistics are re-estimated over those views
/// ([`Encoder::recalibrated`]), so that the risk is a function of the parameters alone.
/// [`Trainer::evaluator`](crate::Trainer::evaluator) creates one.
#[derive(Debug)]
pub struct Evaluator<'a, B: Backend, S, V, C> {
    /// Data, views and collation.
    pub(crate) problem: Problem<'a, S, V, C>,
    /// Seed of the fixed views, one for each run.
    pub(crate) seed: Seed,
    /// Temperature τ.
    pub(crate) temperature: f64,
    /// Number of negatives K in the formulas.
    pub(crate) negatives: f64,
    /// Device of the evaluation.
    pub(crate) device: B::Device,
    /// Members that evaluate together.
    pub(crate) group: &'a dyn Group,
    /// Maximum number of samples over which an exact risk is computed.
    pub(crate) max_samples: usize,
    /// Maximum number of samples over which statistics are re-estimated.
    pub(crate) max_statistics: usize,
    /// Whether partners are drawn from the old data alone.
    pub(crate) has_old_partners: bool,
}

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Draws the partners of views from the old data X alone. By default they come from all samples over
    /// which a risk is computed: views of old samples may then hold shares of new ones, so that f⁺ of an
    /// old anchor changes when data arrive. The difference of the two risks is what this contributes.
    #[must_use]
    pub fn with_old_partners(self) -> Self {
        Self {
            has_old_partners: true,
            ..self
        }
    }

    /// Computes exact risks over at most `n` samples, drawn at random with the growth ratio of the data, so that an
    /// evaluation costs the same however large the data are. The noise expectation and the normalisation
    /// statistics are over these samples, too. The draw depends on the seed alone.
    ///
    /// # Panics
    /// If an encoder is evaluated with `n` below 4.
    #[must_use]
    pub fn with_at_most(self, n: usize) -> Self {
        Self {
            max_samples: n,
            max_statistics: n,
            ..self
        }
    }

    /// Computes the exact risk of an encoder over X′, also over its old and its new part.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read; it holds a [`GroupError`](icl_core::GroupError) if a member has left.
    pub fn evaluate<M>(&self, encoder: M) -> Result<Evaluated<M, ExactRisk>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let panel = self.panel(self.problem.increment, self.max_samples);
        let of_statistics = self
            .panel(self.problem.increment, self.max_statistics)
            .all();
        let (encoder, [anchors, positives], n_views) =
            self.views_of(encoder, &panel.all(), &of_statistics)?;
        let n_old = panel.old().len();
        let (temperature, negatives) = (self.temperature, self.negatives);
        let (risk, rows) = exact_risk_of_group(
            self.group,
            anchors,
            positives,
            n_old,
            temperature,
            negatives,
        )?;
        Ok(Evaluated {
            encoder,
            risk,
            losses: rows.losses,
            ranks: rows.ranks,
            held_out: None,
            n_old,
            n_views,
        })
    }

    /// Computes the exact risk of an encoder over X′ exactly as it is given, with the normalisation statistics that it has.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read; it holds a [`GroupError`](icl_core::GroupError) if a member has left.
    pub fn risk_as_given<M>(&self, encoder: &M) -> Result<ExactRisk, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let panel = self.panel(self.problem.increment, self.max_samples);
        let views = self.fixed_views(&panel.all(), self.problem.increment);
        let [anchors, positives] = views.embeddings(encoder)?;
        let (n_old, temperature) = (panel.old().len(), self.temperature);
        let (risk, _) = exact_risk_of_group(
            self.group,
            anchors,
            positives,
            n_old,
            temperature,
            self.negatives,
        )?;
        Ok(risk)
    }

    /// Computes the exact risk of an encoder over the old data X alone.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read; it holds a [`GroupError`](icl_core::GroupError) if a member has left.
    pub fn evaluate_old<M>(&self, encoder: M) -> Result<Evaluated<M, f64>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let old = self.problem.increment.without_new();
        let panel = self.panel(&old, self.max_samples);
        let of_statistics = self.panel(&old, self.max_statistics);
        let (encoder, [anchors, positives], n_views) =
            self.views_of(encoder, panel.old(), of_statistics.old())?;
        let RiskRows { losses, ranks } = self.rows_of(anchors, positives)?;
        Ok(Evaluated {
            encoder,
            risk: losses.iter().sum::<f64>() / losses.len() as f64,
            n_old: losses.len(),
            losses,
            ranks,
            held_out: None,
            n_views,
        })
    }

    /// Computes the losses and ranks of one population.
    fn rows_of(
        &self,
        anchors: Tensor<B, 2>,
        positives: Tensor<B, 2>,
    ) -> Result<RiskRows, GroupError> {
        let (temperature, negatives) = (self.temperature, self.negatives);
        exact_nce_i_rows_of_group(self.group, anchors, positives, temperature, negatives)
    }

    /// Adds the ranks over a panel of samples that are not trained on to an evaluation, if there is a panel.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read; it holds a [`GroupError`](icl_core::GroupError) if a member has left.
    pub(crate) fn with_held_out<M, R>(
        &self,
        mut evaluated: Evaluated<M, R>,
        panel: Option<&Increment>,
    ) -> Result<Evaluated<M, R>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let Some(panel) = panel else {
            return Ok(evaluated);
        };
        let views = self.fixed_views(&panel.all(), panel);
        let [anchors, positives] = views.embeddings(&evaluated.encoder)?;
        evaluated.held_out = Some(self.rows_of(anchors, positives)?.ranks);
        evaluated.n_views += views.n_views();
        Ok(evaluated)
    }

    /// Re-estimates the normalisation statistics of an encoder over old and new samples. Returns it with the number of
    /// views that have passed through it.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read; it holds a [`GroupError`](icl_core::GroupError) if a member has left.
    pub fn with_statistics<M>(&self, encoder: M) -> Result<(M, u64), SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let samples = self
            .panel(self.problem.increment, self.max_statistics)
            .all();
        let views = self.fixed_views(&samples, self.problem.increment);
        Ok((views.recalibrated(encoder)?, views.n_views()))
    }

    /// Returns at most `n` samples of an increment.
    pub(crate) fn panel(&self, of: &Increment, n: usize) -> Increment {
        of.at_most(n, self.seed.child("panel"))
    }

    /// Computes the embeddings `[n, d]` of the samples' plain views ([`Views::plain`]), with the
    /// normalisation statistics that the encoder has.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    pub fn embed<M>(&self, encoder: &M, samples: &[usize]) -> Result<Tensor<B, 2>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let chunks = samples.chunks(CHUNK).map(|chunk| {
            let plain = |_, sample: &S::Sample| Ok(self.problem.views.plain(sample));
            let batch = collated::<B, _, _, _>(self.problem, &self.device, chunk, plain)?;
            Ok(encoder.embed(batch))
        });
        let chunks: Vec<Tensor<B, 2>> = chunks.collect::<Result<_, SampleError>>()?;
        Ok(Tensor::cat(chunks, 0))
    }

    /// Computes the embeddings of [`embed`](Self::embed) and returns them as numbers in host memory, row
    /// by row, with their width d.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    pub fn embed_to_host<M>(&self, encoder: &M, samples: &[usize]) -> Result<HostRows, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let embeddings = self.embed(encoder, samples)?;
        let [_, width] = embeddings.dims();
        Ok((host_values(embeddings), width))
    }

    /// Measures an encoder: its exact risk, and the judgement of a protocol on the embeddings of all
    /// samples. `untrained` is the encoder before any training, whose embeddings give the judgement a
    /// floor. The normalisation statistics of both are re-estimated first.
    ///
    /// # Errors
    /// If a sample cannot be read, a member has left, or the judge returns an error.
    pub fn measure<M, J>(
        &self,
        judge: &J,
        encoder: M,
        untrained: M,
    ) -> Result<Measured<M, J::Judgement>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
        J: Judge,
    {
        let samples: Vec<usize> = (0..self.problem.samples.n_samples()).collect();
        let untrained = self.evaluate(untrained)?.encoder;
        let untrained = self.embed_to_host(&untrained, &samples)?;
        let Evaluated { encoder, risk, .. } = self.evaluate(encoder)?;
        let embeddings = self.embed_to_host(&encoder, &samples)?;
        let judgement = judge.judge(self.problem.increment, embeddings, untrained)?;
        Ok(Measured {
            encoder,
            risk,
            judgement,
        })
    }

    /// Computes the risk of an encoder over a panel of samples that it was not trained on, on one fixed pair
    /// of views of each, with the normalisation statistics that the encoder has: nothing of the panel enters
    /// the encoder. Partners of views, if they have any, come from the panel.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read; it holds a [`GroupError`](icl_core::GroupError) if a member has left.
    ///
    /// # Panics
    /// If the panel has no new samples.
    pub fn panel_risk<M>(&self, encoder: &M, panel: &Increment) -> Result<PanelRisk, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let views = self.fixed_views(&panel.all(), panel);
        let [anchors, positives] = views.embeddings(encoder)?;
        let n_old = panel.old().len();
        Ok(panel_risk(
            self.group,
            anchors,
            positives,
            n_old,
            self.temperature,
            self.negatives,
        )?)
    }

    /// Computes the same risk before any new data arrive, over the old samples of a panel.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read; it holds a [`GroupError`](icl_core::GroupError) if a member has left.
    pub fn panel_risk_old<M>(
        &self,
        encoder: &M,
        panel: &Increment,
    ) -> Result<PanelRisk<Option<f64>>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let views = self.fixed_views(panel.old(), panel);
        let [anchors, positives] = views.embeddings(encoder)?;
        Ok(panel_nce_i(
            self.group,
            anchors,
            positives,
            self.temperature,
            self.negatives,
        )?)
    }

    /// Re-estimates the statistics of an encoder over both fixed views of some samples, and computes its
    /// embeddings of the first and of the second views of `samples`, in their order; also the number of views that
    /// passed through it.
    fn views_of<M>(
        &self,
        encoder: M,
        samples: &[usize],
        of_statistics: &[usize],
    ) -> Result<(M, [Tensor<B, 2>; 2], u64), SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let views = self.fixed_views(of_statistics, self.problem.increment);
        let encoder = views.recalibrated(encoder)?;
        if samples == of_statistics {
            let embeddings = views.embeddings(&encoder)?;
            return Ok((encoder, embeddings, views.n_views()));
        }
        let n_views = views.n_views();
        let views = self.fixed_views(samples, self.problem.increment);
        let embeddings = views.embeddings(&encoder)?;
        Ok((encoder, embeddings, n_views + views.n_views()))
    }

    /// Returns the fixed views of some samples of an increment.
    pub(super) fn fixed_views<'e>(
        &'e self,
        samples: &[usize],
        increment: &Increment,
    ) -> FixedViews<'e, B, S, V, C> {
        let order = self.problem.views.mixes_in_batch().then(|| {
            let mut order: Vec<usize> = (0..samples.len()).collect();
            order.shuffle(&mut self.seed.child("order").rng());
            order
        });
        let population = match self.has_old_partners {
            true => increment.old(),
            false => samples,
        };
        let of = (self.problem, self.seed, &self.device, self.group);
        FixedViews::new(of, samples, order, population)
    }
}
