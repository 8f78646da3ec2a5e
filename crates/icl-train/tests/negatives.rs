//! The number of negatives of training steps: schedules, forms, records and resumed runs.

use std::cell::Cell;
use std::sync::Arc;

use crate::toy::{
    Linear, corrected, increment, info_nce, meta, points, settings, start, timeless, train_on,
    trainer,
};
use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use icl_core::testing::{TestAutodiff, to_vec};
use icl_core::{Catalogue, Encoder, Mode, PairEmbeddings};
use icl_train::{
    Callbacks, MetaOrder, Method, NegativesForm, NegativesPeak, NegativesSchedule, NoiseSet,
    Outcome, Sampling, StepNegatives, StopRule, TrainError, TrainErrorKind, TrainingSettings,
    methods,
};

type Toy = Outcome<Linear<TestAutodiff>, TestAutodiff>;

fn with(step_negatives: StepNegatives) -> TrainingSettings {
    TrainingSettings {
        step_negatives,
        ..settings()
    }
}

fn ans(form: NegativesForm) -> StepNegatives {
    StepNegatives {
        schedule: NegativesSchedule::Ans,
        peak: NegativesPeak::Number(6.0),
        form,
        ..StepNegatives::default()
    }
}

fn weights(outcome: &Toy) -> Vec<f64> {
    to_vec(&outcome.trained.weight.val())
}

/// Trains with stops and without them, and asserts that both have the same bits. Returns the outcome.
fn resumed(method: &Method, settings: &TrainingSettings) -> Toy {
    let whole = train_on(&points(), method, settings, 4).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let (samples, increment) = (points(), increment());
    let mut n_stops = 0;
    let resumed = loop {
        let taken = Cell::new(0);
        let most = [5, 1, 17, 8][n_stops % 4];
        let mut callbacks = Callbacks::new().with_checkpoint(&path).stop_when(|| {
            taken.set(taken.get() + 1);
            taken.get() >= most
        });
        let trainer = trainer(&samples, &increment, settings, 4);
        match trainer.update_with(method, Linear::new(1), Some(Linear::new(1)), &mut callbacks) {
            Ok(outcome) => break outcome,
            Err(error) => {
                let is_stopped = matches!(error.kind(), TrainErrorKind::Interrupted { .. });
                assert!(is_stopped, "{}: {error}", method.name);
                n_stops += 1;
            }
        }
    };
    assert!(n_stops > 1, "{}", method.name);
    assert_eq!(weights(&resumed), weights(&whole), "{}", method.name);
    assert_eq!(timeless(resumed.record.clone()), timeless(whole.record));
    resumed
}

/// Every method of the registry trains under the schedule in both forms.
#[test]
fn every_method_resumes_to_the_bit_under_the_schedule() {
    for form in [NegativesForm::Weighted, NegativesForm::Drawn] {
        for method in methods().into_iter().filter(|it| it.loss.is_some()) {
            let outcome = resumed(&method, &with(ans(form)));
            assert!(outcome.record.step_negatives[0] > 1.0, "{}", method.name);
        }
    }
}

#[test]
fn numbers_that_evaluations_advise_resume_to_the_bit() {
    let auto = StepNegatives {
        peak: NegativesPeak::Auto,
        ..ans(NegativesForm::Drawn)
    };
    let stagewise = StepNegatives {
        schedule: NegativesSchedule::Stagewise,
        ..StepNegatives::default()
    };
    for method in [corrected(), info_nce(Sampling::Widening(Some(0.2)))] {
        let by_auto = resumed(&method, &with(auto));
        let ks = by_auto.record.step_negatives;
        // The peak lies in the second epoch; at most the number of samples without the anchor.
        assert!(ks.iter().all(|k| (1.0..90.0).contains(k)), "{ks:?}");
        let by_stage = resumed(&method, &with(stagewise));
        let ks = by_stage.record.step_negatives;
        // The evaluation before the first step has at most doubled K, which begins at 1.
        assert!((0.5..=2.0).contains(&ks[0]), "{ks:?}");
        assert!(
            ks.windows(2)
                .all(|pair| (0.5..=2.0).contains(&(pair[1] / pair[0])))
        );
    }
}

/// A run that never stops by itself pays for no evaluation but the one that chooses K: two views of all 90 samples, with
/// those of the statistics. The same run without the choice pays for none.
#[test]
fn the_choice_of_the_number_is_charged() {
    let auto = StepNegatives {
        peak: NegativesPeak::Auto,
        ..ans(NegativesForm::Weighted)
    };
    let method = info_nce(Sampling::All);
    let plain = train_on(&points(), &method, &with(ans(NegativesForm::Weighted)), 1).unwrap();
    let chosen = train_on(&points(), &method, &with(auto), 1).unwrap();
    assert_eq!(plain.record.cost.monitoring, 0.0);
    let n_evaluations = chosen.record.evaluations.len() as f64;
    assert_eq!(plain.record.evaluations.len() as f64, n_evaluations);
    // All evaluations cost the same: the first one is charged, the others and the risk at both ends are not.
    let one = chosen.record.cost.monitoring;
    assert!(one > 0.0);
    assert!((plain.record.cost.measuring - chosen.record.cost.measuring - one).abs() < 1e-9);
    assert!(one * n_evaluations <= plain.record.cost.measuring);
    // What the first step has cost before it, the first evaluation shows.
    assert_eq!(chosen.record.evaluations[0].charged_passes, 0.0);
    assert_eq!(
        chosen.record.evaluations[1].charged_passes - plain.record.evaluations[1].charged_passes,
        one
    );
}

/// The samples that stagewise K holds out are not trained on, but belong to the risk of the result.
#[test]
fn stagewise_holds_out_a_twentieth() {
    let stagewise = StepNegatives {
        schedule: NegativesSchedule::Stagewise,
        ..StepNegatives::default()
    };
    let outcome = train_on(&points(), &info_nce(Sampling::All), &with(stagewise), 1).unwrap();
    let plain = train_on(&points(), &info_nce(Sampling::All), &settings(), 1).unwrap();
    // 3 of 60 old samples and 2 of 30 new ones, in two views and twelve epochs.
    assert_eq!(plain.record.sample_passes, 12 * 2 * 90);
    assert_eq!(outcome.record.sample_passes, 12 * 2 * 85);
    assert_eq!(outcome.first_risk, plain.first_risk);
}

/// K(t) of the record is the mean of the schedule over each epoch's steps, and the exact risk keeps its own K.
#[test]
fn the_record_has_the_number_of_each_epoch() {
    let (n_epochs, n_steps) = (12, 72);
    let outcome = train_on(
        &points(),
        &info_nce(Sampling::All),
        &with(ans(NegativesForm::Weighted)),
        1,
    )
    .unwrap();
    assert_eq!(outcome.record.n_steps, n_steps);
    // A plain loop over the formula of the course.
    let k = |step: u64| {
        let t = step as f64 / (n_steps - 1) as f64;
        match t <= 0.1 {
            true => 1.0 + 5.0 * t / 0.1,
            false => 6.0 - 5.0 * (t - 0.1) / 0.9,
        }
    };
    for epoch in 0..n_epochs {
        let expected = (0..6).map(|at| k(6 * epoch as u64 + at)).sum::<f64>() / 6.0;
        let found = outcome.record.step_negatives[epoch];
        assert!(
            (found - expected).abs() < 1e-12,
            "{epoch}: {found} {expected}"
        );
    }
    let fixed = train_on(&points(), &info_nce(Sampling::All), &settings(), 1).unwrap();
    assert_eq!(fixed.record.step_negatives, vec![31.0; n_epochs]);
    // Before the first step both have the same encoder, and the same risk of it.
    assert_eq!(
        outcome.record.evaluations[0].risk,
        fixed.record.evaluations[0].risk
    );
    assert_ne!(weights(&outcome), weights(&fixed));
}

/// The peak alone, without a course, is another number in the losses than in the exact risk.
#[test]
fn a_fixed_peak_is_the_number_of_all_steps() {
    let peak = StepNegatives {
        peak: NegativesPeak::Number(4.0),
        ..StepNegatives::default()
    };
    let four = TrainingSettings {
        negatives: 4.0,
        ..settings()
    };
    let method = corrected();
    let by_peak = train_on(&points(), &method, &with(peak), 2).unwrap();
    let by_reference = train_on(&points(), &method, &four, 2).unwrap();
    assert_eq!(weights(&by_peak), weights(&by_reference));
    assert_ne!(by_peak.risk.all, by_reference.risk.all);
}

/// A batch of 16 has 15 noise samples: drawing all of them is the weighted loss with K = 15, up to rounding.
#[test]
fn drawing_all_negatives_trains_as_weighting_them() {
    let with_form = |form| TrainingSettings {
        epochs: 2,
        negatives: 15.0,
        ..with(StepNegatives {
            form,
            ..StepNegatives::default()
        })
    };
    let even: Vec<[f32; 4]> = points()[..80].to_vec();
    let increment = icl_core::Increment::try_new((0..60).collect(), (60..80).collect()).unwrap();
    let train = |form| {
        let settings = with_form(form);
        let method = info_nce(Sampling::All);
        trainer(&even, &increment, &settings, 3)
            .update(&method, start())
            .unwrap()
    };
    let [weighted, drawn] = [NegativesForm::Weighted, NegativesForm::Drawn].map(train);
    icl_core::testing::assert_close(&weights(&drawn), &weights(&weighted), 1e-4);
}

#[test]
fn second_order_meta_optimization_differentiates_drawn_losses() {
    let settings = TrainingSettings {
        meta_order: MetaOrder::Second,
        ..with(ans(NegativesForm::Drawn))
    };
    let outcome = train_on(&points(), &meta(corrected()), &settings, 1).unwrap();
    assert!(outcome.parameter_change > 0.0 && outcome.risk.all.is_finite());
    assert!(outcome.risk.theorem1_residual < 1e-5);
}

/// A linear encoder that scores its anchors against the positives of the batch as a catalogue.
#[derive(Module, Debug)]
struct WithCatalogue<B: Backend> {
    inner: Linear<B>,
}

impl<B: Backend> Encoder<B> for WithCatalogue<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.inner.encode(batch, mode)
    }

    fn encode_pairs(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> PairEmbeddings<B> {
        let pairs = PairEmbeddings::of_halves(self.encode(batch, mode));
        let n = pairs.anchors.dims()[0] as u32;
        let excluded = (0..n).map(|row| vec![row]).collect();
        let catalogue = Catalogue::new(pairs.positives.clone(), Arc::new(excluded));
        PairEmbeddings {
            catalogue: Some(catalogue),
            ..pairs
        }
    }

    fn has_catalogue(&self) -> bool {
        true
    }
}

/// A catalogue of the other positives is the noise of the batch; a loss that separates old noise from new refuses one.
#[test]
fn a_catalogue_is_noise_of_nce_i_alone() {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        epochs: 3,
        negatives: 15.0,
        ..settings()
    };
    let train = |method: &Method| {
        let encoder = WithCatalogue { inner: start() };
        trainer(&samples, &increment, &settings, 1).update(method, encoder)
    };
    let method = info_nce(Sampling::All);
    let over_catalogue = train(&method).unwrap();
    let in_batch = train_on(&samples, &method, &settings, 1).unwrap();
    let found = to_vec(&over_catalogue.trained.inner.weight.val());
    icl_core::testing::assert_close(&found, &weights(&in_batch), 1e-4);
    let error = train(&corrected()).map(drop).unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::Invalid);
    assert!(
        error
            .found()
            .starts_with("a catalogue of candidates for the negatives with ")
    );
}

/// The evaluations that move K are charged, whatever ends the run.
#[test]
fn evaluations_that_steer_the_negatives_are_charged() {
    let stagewise = StepNegatives {
        schedule: NegativesSchedule::Stagewise,
        ..StepNegatives::default()
    };
    let cost = |settings: &TrainingSettings| {
        train_on(&points(), &info_nce(Sampling::All), settings, 1)
            .unwrap()
            .record
            .cost
    };
    assert_eq!(cost(&settings()).monitoring, 0.0);
    assert!(cost(&with(stagewise)).monitoring > 0.0);
}

#[test]
fn choices_that_do_not_fit_are_refused() {
    let refused = |settings: TrainingSettings| {
        let method = info_nce(Sampling::All);
        let trained = train_on(&points(), &method, &settings, 1);
        let error: TrainError = trained.map(drop).unwrap_err();
        assert_eq!(error.kind(), TrainErrorKind::Invalid);
        error.to_string()
    };
    let drawn = with(StepNegatives {
        form: NegativesForm::Drawn,
        ..StepNegatives::default()
    });
    let both = TrainingSettings {
        noise_set: NoiseSet::BothViews,
        ..drawn
    };
    let expected = "negatives form: found drawn with the noise set both, expected the noise set other, or weighted";
    assert_eq!(refused(both), expected);
    let moving = TrainingSettings {
        stop: StopRule::TrainingLoss,
        ..with(ans(NegativesForm::Weighted))
    };
    let expected = "negatives schedule: found one under which K moves with the stopping rule training-loss, which \
                    would follow K, expected fixed, or another rule";
    assert_eq!(refused(moving), expected);
    for (peak, schedule, turn, field) in [
        (0.5, NegativesSchedule::Ans, 0.1, "step_negatives.peak"),
        (
            f64::INFINITY,
            NegativesSchedule::Up,
            0.1,
            "step_negatives.peak",
        ),
        (0.0, NegativesSchedule::Fixed, 0.1, "step_negatives.peak"),
        (9.0, NegativesSchedule::Ans, 1.0, "step_negatives.turn"),
    ] {
        let settings = with(StepNegatives {
            schedule,
            peak: NegativesPeak::Number(peak),
            turn,
            ..StepNegatives::default()
        });
        assert_eq!(settings.check().unwrap_err().place(), field);
    }
}
