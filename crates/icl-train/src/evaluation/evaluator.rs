//! Evaluation of an encoder on fixed views: exact risk, embeddings and measurements on them.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::{
    Collate, Encoder, Error, ExactRisk, Group, HostRows, Increment, RiskRows, SampleError, Samples,
    Seed, Views, exact_nce_i_rows_of_group, exact_risk_of_group,
};
use rand::seq::SliceRandom;

use crate::error::{Place, TrainError, TrainErrorKind, nothing_new};
use crate::evaluation::evaluated::{Evaluated, Measured};
use crate::evaluation::fixed_views::FixedViews;
use crate::views::problem::Problem;

/// Evaluates encoders on one fixed pair of views of each sample, the same for every method and epoch.
///
/// Before each measurement the encoder's normalisation statistics are re-estimated over those views
/// ([`Encoder::recalibrated`]), unless they are frozen, so that the risk is a function of the parameters alone.
/// [`risk_as_given`](Self::risk_as_given) keeps the statistics of an encoder that was read from a file.
/// [`Trainer::evaluator`](crate::Trainer::evaluator) and [`Stream::evaluator`](crate::Stream::evaluator) create one,
/// and [`new`](Self::new) for any training loop.
///
/// # Errors
/// All methods return [`TrainError`]:
///
/// - [`Invalid`](TrainErrorKind::Invalid) for a setting that cannot be;
/// - [`Failed`](TrainErrorKind::Failed) for samples that do not exist, and if the encoder does not return one row for
///   each view;
/// - [`Sample`](TrainErrorKind::Sample) if a sample cannot be read;
/// - [`NonFinite`](TrainErrorKind::NonFinite), [`Collapsed`](TrainErrorKind::Collapsed) if no risk can be computed
///   from the embeddings;
/// - [`Group`](TrainErrorKind::Group) if members of a group evaluate something else, [`Left`](TrainErrorKind::Left)
///   if one has left.
#[derive(Debug)]
pub struct Evaluator<'a, B: Backend, S, V, C> {
    /// Data, views and collation.
    pub(crate) problem: Problem<'a, S, V, C>,
    /// Root seed of the run.
    pub(crate) root_seed: u64,
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
    /// Samples over which risks are computed, if not those of the increment, over which normalisation statistics are
    /// re-estimated all the same.
    pub(crate) validation: Option<&'a Increment>,
    /// Place in the run, for messages.
    pub(crate) at: Place,
}

/// Name of the exact risk in errors.
const EXACT_RISK: &str = "the exact risk";

/// Numbers of views that passed through an encoder in an evaluation.
struct Passed {
    /// Number of all of them.
    n_views: u64,
    /// Number of those that re-estimated its statistics.
    n_statistics_views: u64,
}

impl<'a, B, S, V, C> Evaluator<'a, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Returns the samples over which risks are computed.
    fn measured(&self) -> &'a Increment {
        self.validation.unwrap_or(self.problem.increment)
    }

    /// Draws the partners of views from the old data X alone. By default they come from all samples over which a risk
    /// is computed: views of old samples may then hold shares of new ones, so that f⁺ of an old anchor changes when
    /// data arrive. The difference of the two risks shows how much.
    #[must_use]
    pub fn with_old_partners(self) -> Self {
        Self {
            has_old_partners: true,
            ..self
        }
    }

    /// Computes exact risks over at most `n` samples, drawn at random with the growth ratio of the data, so that an
    /// evaluation costs the same however large the data are. The noise expectation and the normalisation statistics are
    /// over these samples, too. The draw depends on the seed alone. An evaluation with `n` below 4 is an error.
    #[must_use]
    pub fn with_at_most(self, n: usize) -> Self {
        Self {
            max_samples: n,
            max_statistics: n,
            ..self
        }
    }

    /// Sets the place in the run that messages name.
    pub(crate) fn at(self, at: Place) -> Self {
        Self { at, ..self }
    }

    /// Computes the exact risk of an encoder over X′, also over its old and its new part.
    ///
    /// # Errors
    /// [`TrainError`], also if the increment has no new samples.
    pub fn evaluate<M>(&self, encoder: M) -> Result<Evaluated<M, ExactRisk>, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        self.check()?;
        if self.measured().new_data().is_empty() {
            return Err(nothing_new());
        }
        let subset = self.subset(self.measured(), self.max_samples);
        let samples = subset.all();
        let of_statistics = self.subset(self.problem.increment, self.max_statistics);
        let before = encoder.clone();
        let (encoder, embeddings, passed) = self.views_of(encoder, &subset, &of_statistics)?;
        let n_old = subset.old().len();
        let (temperature, negatives) = (self.temperature, self.negatives);
        let [anchors, positives] = embeddings.clone();
        let (risk, rows) = exact_risk_of_group(
            self.group,
            anchors,
            positives,
            (n_old, subset.old_weight()),
            temperature,
            negatives,
        )?;
        self.check_risk((EXACT_RISK, risk.all), &before, &samples, embeddings)?;
        Ok(Evaluated {
            encoder,
            risk,
            losses: rows.losses,
            ranks: rows.ranks,
            held_out: None,
            n_old,
            n_views: passed.n_views,
            n_statistics_views: passed.n_statistics_views,
        })
    }

    /// Computes the exact risk over X′ of an encoder with the normalisation statistics that it has.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn risk_as_given<M>(&self, encoder: &M) -> Result<ExactRisk, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        self.check()?;
        let subset = self.subset(self.measured(), self.max_samples);
        let samples = subset.all();
        let population = subset.all_counted(self.max_samples);
        let [anchors, positives] = self
            .fixed_views(&samples, &population, self.measured())?
            .embeddings(encoder)?;
        let (risk, _) = exact_risk_of_group(
            self.group,
            anchors,
            positives,
            (subset.old().len(), subset.old_weight()),
            self.temperature,
            self.negatives,
        )?;
        self.check_finite((EXACT_RISK, risk.all), encoder, &samples)?;
        Ok(risk)
    }

    /// Computes the exact risk of an encoder over the old data X alone.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn evaluate_old<M>(&self, encoder: M) -> Result<Evaluated<M, f64>, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        self.check()?;
        let [measured, trained] =
            [self.measured(), self.problem.increment].map(Increment::without_new);
        let subset = self.subset(&measured, self.max_samples);
        let of_statistics = self.subset(&trained, self.max_statistics);
        let before = encoder.clone();
        let (encoder, embeddings, passed) = self.views_of(encoder, &subset, &of_statistics)?;
        let RiskRows { losses, ranks } = self.rows_of(embeddings.clone())?;
        let risk = losses.iter().sum::<f64>() / losses.len() as f64;
        self.check_risk((EXACT_RISK, risk), &before, subset.old(), embeddings)?;
        Ok(Evaluated {
            encoder,
            risk,
            n_old: losses.len(),
            losses,
            ranks,
            held_out: None,
            n_views: passed.n_views,
            n_statistics_views: passed.n_statistics_views,
        })
    }

    /// Computes the losses and ranks of one population.
    fn rows_of(&self, [anchors, positives]: [Tensor<B, 2>; 2]) -> Result<RiskRows, Error> {
        let (temperature, negatives) = (self.temperature, self.negatives);
        exact_nce_i_rows_of_group(self.group, anchors, positives, temperature, negatives)
    }

    /// Adds the ranks over held-out samples to an evaluation, if there are any.
    ///
    /// # Errors
    /// [`TrainError`].
    pub(crate) fn with_held_out<M, R>(
        &self,
        mut evaluated: Evaluated<M, R>,
        held_out: Option<&Increment>,
    ) -> Result<Evaluated<M, R>, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let Some(held_out) = held_out else {
            return Ok(evaluated);
        };
        let views = self.fixed_views(
            &held_out.all(),
            &held_out.all_counted(self.max_samples),
            held_out,
        )?;
        let embeddings = views.embeddings(&evaluated.encoder)?;
        evaluated.held_out = Some(self.rows_of(embeddings)?.ranks);
        evaluated.n_views += views.n_views();
        Ok(evaluated)
    }

    /// Re-estimates the normalisation statistics of an encoder over old and new samples. Returns it with the number of
    /// views that have passed through it.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn with_statistics<M>(&self, encoder: M) -> Result<(M, u64), TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        self.check()?;
        let subset = self.subset(self.problem.increment, self.max_statistics);
        let samples = subset.all_counted(self.max_statistics);
        let views = self.fixed_views(&samples, &samples, self.problem.increment)?;
        Ok((views.recalibrated(encoder)?, views.n_views()))
    }

    /// Returns at most `n` samples of an increment.
    pub(crate) fn subset(&self, of: &Increment, n: usize) -> Increment {
        // The random stream keeps its first name: another would draw other samples than earlier records have.
        of.at_most(n, self.seed.child("panel"))
    }

    /// Measures an encoder: its exact risk, and what `protocol` returns for the embeddings of all samples. `untrained`
    /// is the encoder before any training, whose embeddings give the result a floor. The normalisation statistics of
    /// both are re-estimated first, unless they are frozen. `protocol` gets the increment, the embeddings and the
    /// untrained embeddings, a row for each sample of the data set.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and [`TrainErrorKind::Failed`] if `protocol` returns an error.
    pub fn measure<M, T, E>(
        &self,
        protocol: impl FnOnce(&Increment, HostRows, HostRows) -> Result<T, E>,
        encoder: M,
        untrained: M,
    ) -> Result<Measured<M, T>, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
        E: Into<SampleError>,
    {
        let samples: Vec<usize> = (0..self.problem.samples.n_samples()).collect();
        let untrained = self.evaluate(untrained)?.encoder;
        let untrained = self.embed_to_host(&untrained, &samples)?;
        let Evaluated { encoder, risk, .. } = self.evaluate(encoder)?;
        let embeddings = self.embed_to_host(&encoder, &samples)?;
        let result = protocol(self.problem.increment, embeddings, untrained);
        Ok(Measured {
            encoder,
            risk,
            result: result.map_err(|error| {
                TrainError::message("the protocol on the embeddings")
                    .with_source(error.into())
                    .with_kind(TrainErrorKind::Failed)
            })?,
        })
    }

    /// Re-estimates the statistics of an encoder over both fixed views of the samples of `of_statistics`, an old one as
    /// often as it counts, and computes its embeddings of the first and of the second views of those of `subset`, in
    /// their order; also the number of views that passed through it, and of those for its statistics.
    fn views_of<M>(
        &self,
        encoder: M,
        subset: &Increment,
        of_statistics: &Increment,
    ) -> Result<(M, [Tensor<B, 2>; 2], Passed), TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let samples = subset.all();
        let counted = of_statistics.all_counted(self.max_statistics);
        let views = self.fixed_views(&counted, &counted, self.problem.increment)?;
        let encoder = views.recalibrated(encoder)?;
        let n_statistics_views = views.n_views();
        let passed = |n_views| Passed {
            n_views,
            n_statistics_views,
        };
        if samples == counted {
            let embeddings = views.embeddings(&encoder)?;
            return Ok((encoder, embeddings, passed(views.n_views())));
        }
        let views = self.fixed_views(
            &samples,
            &subset.all_counted(self.max_samples),
            self.measured(),
        )?;
        let embeddings = views.embeddings(&encoder)?;
        let n_views = n_statistics_views + views.n_views();
        Ok((encoder, embeddings, passed(n_views)))
    }

    /// Returns the fixed views of some samples of an increment, which the members of the group share, with partners from
    /// `population`.
    ///
    /// # Errors
    /// [`TrainErrorKind::Group`] if the members ask for other views.
    pub(super) fn fixed_views<'e>(
        &'e self,
        samples: &[usize],
        population: &[usize],
        increment: &Increment,
    ) -> Result<FixedViews<'e, B, S, V, C>, TrainError> {
        self.check_members(samples, increment)?;
        Ok(self.views_by(self.group, samples, population, increment))
    }

    /// Returns the fixed views of some samples of an increment for some members.
    pub(super) fn views_by<'e>(
        &'e self,
        group: &'e dyn Group,
        samples: &[usize],
        population: &[usize],
        increment: &Increment,
    ) -> FixedViews<'e, B, S, V, C> {
        // In the order of the increment, chunks would mix old samples with old ones alone.
        let order = self.problem.views.mixes_in_batch().then(|| {
            let mut order: Vec<usize> = (0..samples.len()).collect();
            order.shuffle(&mut self.seed.child("order").rng());
            order
        });
        let population = match self.has_old_partners {
            true => increment.old(),
            false => population,
        };
        let of = (self.problem, self.seed, &self.device, group);
        FixedViews::new(of, samples, order, population)
    }
}
