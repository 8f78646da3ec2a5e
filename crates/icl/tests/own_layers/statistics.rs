//! Running statistics: a training leaves those of the caller alone, and warns if nobody re-estimates them.

use icl::train::{Arriving, Callbacks, NextUpdate, Stream};

use super::*;

#[test]
fn the_caller_s_encoder_stays_as_it_was() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let mine = Stock::<B>::new(0.1);
    let before = values(&mine);
    let first = trainer.pretrain(mine.clone()).unwrap();
    assert_eq!(values(&mine), before);

    let theta0 = first.trained;
    let before_updates = values(&theta0);
    let distillation = Method::named("distillation").unwrap();
    for method in [
        Method::icl(),
        distillation,
        Method::named("inference").unwrap(),
    ] {
        trainer.update(&method, theta0.clone()).unwrap();
        assert_eq!(values(&theta0), before_updates, "{method}");
    }
    for method in ["start=scratch", "start=shrink-perturb"] {
        let method = method.parse().unwrap();
        let (trained, fresh) = (theta0.clone(), Some(mine.clone()));
        let outcome = trainer.update_with(&method, trained, fresh, &mut Callbacks::new());
        assert!(outcome.unwrap().parameter_change > 0.0);
        assert_eq!(
            (values(&theta0), values(&mine)),
            (before_updates.clone(), before.clone())
        );
    }

    let stream = Stream::<B, _, _, _>::new(&samples, jitter(0.3), Stack).settings(settings());
    let arriving = |name, from: usize| Arriving {
        name,
        samples: (from..from + 30).collect(),
        held_out: None,
    };
    let none = &mut Callbacks::new();
    let monday = stream
        .first(mine.clone(), arriving("monday", 0), none)
        .unwrap();
    assert_eq!(values(&mine), before);
    let theta = monday.live.trained.clone();
    let served = values(&theta);
    let update = NextUpdate {
        method: &Method::icl(),
        fresh: Some(mine.clone()),
        callbacks: none,
    };
    let tuesday = arriving("tuesday", 30);
    stream.next(monday.live, tuesday, update).unwrap();
    assert_eq!((values(&theta), values(&mine)), (served, before));
}

/// Burn keeps how a parameter is saved next to its value.
#[test]
fn a_trained_layer_is_saved_as_its_layout_says() {
    use burn::nn::LinearLayout;
    use burn::record::Record;

    #[derive(Module, Debug)]
    struct Columns<B: Backend> {
        layer: Linear<B>,
    }
    impl<B: Backend> Encoder<B> for Columns<B> {
        type Batch = Tensor<B, 2>;
        fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
            self.layer.forward(batch)
        }
    }
    let config = LinearConfig::new(4, 3).with_layout(LinearLayout::Col);
    let (samples, increment) = (points(1), increment());
    let fresh = || Columns::<B> {
        layer: config.init(&Default::default()),
    };
    let trained = trainer(&samples, &increment)
        .pretrain(fresh())
        .unwrap()
        .trained;
    let saved = trained.clone().into_record();
    let loaded = fresh().load_record(saved);
    assert_eq!(values(&loaded), values(&trained));
    fn _is_record<R: Record<B>>(_: R) {}
}

/// Normalises, and forgets to re-estimate.
#[derive(Module, Debug)]
struct Forgetful<B: Backend> {
    inner: Stock<B>,
}

impl<B: Backend> Encoder<B> for Forgetful<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        self.inner.forward(batch)
    }
}

#[test]
fn statistics_that_nobody_re_estimates_are_warned_of() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let with = trainer.pretrain(Stock::new(0.0)).unwrap();
    assert!(with.record.warnings.is_empty());
    let update = trainer.update(&Method::icl(), with.trained).unwrap();
    assert!(update.record.warnings.is_empty());

    let forgetful = Forgetful {
        inner: Stock::new(0.0),
    };
    let without = trainer.pretrain(forgetful).unwrap();
    let [warning] = &without.record.warnings[..] else {
        panic!("{:?}", without.record.warnings);
    };
    assert!(
        warning.contains("`Encoder::recalibrated` left as they were")
            && warning.contains("recalibrate_batch_norm"),
        "{warning}"
    );
    let update = trainer.update(&Method::icl(), without.trained).unwrap();
    assert_eq!(&update.record.warnings, &without.record.warnings);
}

/// The passes of an inner loop move the statistics of its copies alone.
#[test]
fn statistics_of_before_the_training_are_warned_of_under_meta_optimization() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let inner = Stock::new(0.0);
    for method in [
        "sampling=stratified,loss=corrected,optimizer=meta:first",
        "sampling=stratified,loss=corrected,optimizer=meta:second",
    ] {
        let method = method.parse().unwrap();
        let with = trainer.update(&method, inner.clone()).unwrap();
        assert!(
            with.record.warnings.is_empty(),
            "{:?}",
            with.record.warnings
        );
        let forgetful = Forgetful {
            inner: inner.clone(),
        };
        let before = values(&forgetful.inner.norm);
        let without = trainer.update(&method, forgetful).unwrap();
        let n_statistics = 16;
        let kept = |values: &[f64]| values[values.len() - n_statistics..].to_vec();
        assert_eq!(kept(&values(&without.encoder.inner.norm)), kept(&before));
        let [warning] = &without.record.warnings[..] else {
            panic!("{:?}", without.record.warnings);
        };
        assert!(
            warning.starts_with("meta-optimization trains on copies")
                && warning.contains("recalibrate_batch_norm"),
            "{warning}"
        );
    }
}

/// Burn keeps a new statistic for each thread until the same thread asks for it, and steps move between threads.
#[test]
fn running_statistics_are_the_same_in_every_run_and_after_an_interruption() {
    let (samples, increment) = (points(1), increment());
    let forgetful = || Forgetful {
        inner: Stock::new(0.0),
    };
    let trainer = trainer(&samples, &increment);
    let whole = trainer.pretrain(forgetful()).unwrap();
    let again = trainer.pretrain(forgetful()).unwrap();
    assert_eq!(values(&again.trained), values(&whole.trained));
    let resumed = interrupted(|callbacks| trainer.pretrain_with(forgetful(), callbacks));
    assert_eq!(values(&resumed.trained), values(&whole.trained));
    assert_eq!(resumed.risk, whole.risk);
}

/// The statistics of the encoder that is handed out are a part of what it costs, and of its budget.
#[test]
fn the_statistics_of_the_result_are_charged_once() {
    use icl::train::Budget;

    let (samples, increment) = (points(1), increment());
    let theta0 = Stock::<B>::new(0.0);
    let cost = |settings: TrainingSettings| {
        let trainer = trainer(&samples, &increment).settings(settings);
        trainer
            .update(&Method::icl(), theta0.clone())
            .unwrap()
            .record
            .cost
    };
    // Two views of each of 90 samples, forward alone.
    let of_statistics = 2.0 * 90.0 * <Stock<B> as Encoder<B>>::FORWARD_SHARE;
    let by_epochs = cost(settings());
    assert!((by_epochs.statistics - of_statistics).abs() < 1e-9);
    assert_eq!(by_epochs.monitoring, 0.0);
    let passes = 1000.0;
    let within = cost(TrainingSettings {
        budget: Some(Budget::Passes(passes)),
        epochs: 1000,
        // Evaluations have statistics over 8 samples, the result over all 90.
        monitor_samples: 16,
        ..settings()
    });
    assert!((within.statistics - of_statistics).abs() < 1e-9);
    // The last step that would fit has been taken: a step is of 16 samples, or a few more.
    let charged = within.charged();
    assert!(charged <= passes && charged > passes - 80.0, "{charged}");
    let by_rule = cost(TrainingSettings {
        stop: StopRule::Doubling,
        ..settings()
    });
    assert!(by_rule.monitoring > 0.0);
    assert!((by_rule.statistics - of_statistics).abs() < 1e-9);
}
