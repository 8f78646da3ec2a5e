//! An encoder may ignore the mode: Burn's own layers see from the backend whether they train, and both always agree.

use icl::train::{Callbacks, Outcome, methods};

use super::*;

/// An encoder whose stock layers ignore the mode, and which checks that their backend says the same. It may forget to
/// re-estimate statistics.
#[derive(Module, Debug)]
struct Ignoring<B: Backend> {
    inner: Stock<B>,
    recalibrates: bool,
}

impl<B: Backend> Ignoring<B> {
    fn new(recalibrates: bool) -> Self {
        Self {
            inner: Stock::new(0.2),
            recalibrates,
        }
    }
}

impl<B: Backend> Encoder<B> for Ignoring<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        // By this, Burn's `BatchNorm` and `Dropout` decide whether they train.
        let layers_train = B::ad_enabled(&batch.device());
        assert_eq!(layers_train, matches!(mode, Mode::Training(_)));
        self.inner.forward(batch)
    }

    fn recalibrated(self, batches: &Batches<'_, Tensor<B, 2>>) -> Result<Self, SampleError> {
        if !self.recalibrates {
            return Ok(self);
        }
        let inner = self.inner.recalibrated(batches)?;
        Ok(Self { inner, ..self })
    }
}

/// Updates by a method, with shards of this size.
fn updated(method: &Method, recalibrates: bool, chunk: Option<usize>) -> Outcome<Ignoring<B>, B> {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let trainer = trainer.settings(TrainingSettings {
        chunk,
        ..settings()
    });
    let fresh = || Ignoring::new(recalibrates);
    let outcome = trainer.update_with(method, fresh(), Some(fresh()), &mut Callbacks::new());
    let outcome = outcome.unwrap_or_else(|error| panic!("{method}: {error}"));
    // What is returned is in evaluation: the same views have the same embeddings, and their risk is that of the record.
    let evaluator = trainer.evaluator();
    let risks = [(); 2].map(|()| evaluator.risk_as_given(&outcome.encoder).unwrap());
    assert_eq!(risks, [outcome.risk; 2], "{method}");
    outcome
}

#[test]
fn stock_layers_work_in_every_method() {
    let parsed = |point: &str| -> Method { point.parse().unwrap() };
    let teachers = [
        "sampling=stratified,loss=corrected+distillation,optimizer=meta:first",
        "sampling=stratified,loss=corrected+distillation,optimizer=meta:second",
        "sampling=stratified,loss=corrected+distillation",
        "start=shrink-perturb",
    ];
    let all = methods().into_iter().chain(teachers.map(parsed));
    let mut n_trained = 0;
    for method in all {
        for recalibrates in [true, false] {
            let outcome = updated(&method, recalibrates, None);
            let moved = outcome.parameter_change;
            assert!(moved.is_finite(), "{method}: {moved}");
            n_trained += usize::from(moved > 0.0);
            // Nobody trains under `inference`.
            let warns = !recalibrates && outcome.record.sample_passes > 0;
            let warnings = &outcome.record.warnings;
            assert_eq!(warnings.len(), usize::from(warns), "{method}: {warnings:?}");
        }
    }
    // All but `inference`.
    assert_eq!(n_trained, 2 * (methods().len() - 1 + teachers.len()));
}

#[test]
fn stock_layers_work_in_chunks() {
    for name in ["icl", "distillation"] {
        let outcome = updated(&Method::named(name).unwrap(), true, Some(8));
        assert!(outcome.parameter_change > 0.0, "{name}");
    }
}
