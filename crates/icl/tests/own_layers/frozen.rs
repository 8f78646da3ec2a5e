//! Frozen statistics of normalisation: an update by them begins at exactly θ₀, and a later one may free them.

use icl::core::{Seed, Threads};
use icl::models::{Mlp, MlpConfig};

use super::*;

#[test]
fn an_update_with_frozen_statistics_begins_at_exactly_theta_0() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let theta0 = trainer.pretrain(fresh()).unwrap();
    let as_given = trainer.evaluator().risk_as_given(&theta0.encoder).unwrap();
    assert_eq!(values(&theta0.trained), values(&theta0.encoder));

    let method: Method = "start=frozen-norm".parse().unwrap();
    let frozen = trainer.update(&method, theta0.trained.clone()).unwrap();
    assert_eq!(frozen.first_risk, as_given);
    assert!(frozen.parameter_change > 0.0);
    assert_eq!(frozen.record.cost.statistics, 0.0);
    assert_eq!(statistics(&frozen.trained), statistics(&theta0.trained));
    assert_eq!(values(&frozen.trained), values(&frozen.encoder));

    // A warm start normalises by its batches, from θ₀ and from the result of the update alike.
    let warm: Method = "start=trained".parse().unwrap();
    for theta in [theta0.trained.clone(), frozen.trained] {
        let free = trainer.update(&warm, theta).unwrap();
        assert_ne!(free.first_risk, as_given);
        assert!(free.record.cost.statistics > 0.0);
        assert_ne!(statistics(&free.trained), statistics(&theta0.trained));
    }
}

#[test]
fn an_interrupted_update_with_frozen_statistics_ends_with_the_same_bits() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let theta0 = trainer.pretrain(fresh()).unwrap().trained;
    let method: Method = "start=frozen-norm".parse().unwrap();
    let whole = trainer.update(&method, theta0.clone()).unwrap();
    let resumed =
        interrupted(|callbacks| trainer.update_with(&method, theta0.clone(), None, callbacks));
    assert_eq!(values(&resumed.trained), values(&whole.trained));
    assert_eq!(resumed.risk, whole.risk);
}

#[test]
fn an_encoder_that_is_not_trained_has_the_statistics_by_which_it_was_measured() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let theta0 = trainer.pretrain(fresh()).unwrap().trained;
    for (method, is_kept) in [
        ("start=frozen-norm,loss=none", true),
        ("start=statistics,loss=none", false),
    ] {
        let method: Method = method.parse().unwrap();
        let outcome = trainer.update(&method, theta0.clone()).unwrap();
        assert_eq!(values(&outcome.trained), values(&outcome.encoder));
        assert_eq!(statistics(&outcome.trained) == statistics(&theta0), is_kept);
        assert_eq!(outcome.record.cost.statistics == 0.0, is_kept);
    }
}

#[test]
fn distillation_leaves_frozen_statistics_alone() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let theta0 = trainer.pretrain(fresh()).unwrap().trained;
    let method = "start=frozen-norm,sampling=new,loss=info-nce+distillation";
    let method: Method = method.parse().unwrap();
    let outcome = trainer.update(&method, theta0.clone()).unwrap();
    assert!(outcome.parameter_change > 0.0);
    assert_eq!(statistics(&outcome.trained), statistics(&theta0));
}

#[test]
fn members_of_a_group_train_with_frozen_statistics_what_one_process_does() {
    let (samples, increment) = (points(1), increment());
    let theta0 = trainer(&samples, &increment).pretrain(fresh());
    let theta0 = theta0.unwrap().trained;
    let method: Method = "start=frozen-norm".parse().unwrap();
    let alone = trainer(&samples, &increment).update(&method, theta0.clone());
    let alone = values(&alone.unwrap().trained);
    let trained: Vec<Mlp<B>> = std::thread::scope(|scope| {
        let members = Threads::group(2).into_iter();
        let threads: Vec<_> = members
            .map(|member| {
                let (samples, increment, method) = (&samples, &increment, &method);
                let theta0 = theta0.clone();
                scope.spawn(move || {
                    let trainer = trainer(samples, increment).group(&member);
                    trainer.update(method, theta0).unwrap().trained
                })
            })
            .collect();
        let trained = threads.into_iter().map(|thread| thread.join().unwrap());
        trained.collect()
    });
    assert_eq!(values(&trained[0]), values(&trained[1]));
    assert_eq!(statistics(&trained[0]), statistics(&theta0));
    for (of_group, of_one) in values(&trained[0]).iter().zip(&alone) {
        assert!((of_group - of_one).abs() < 1e-4, "{of_group} {of_one}");
    }
}

fn fresh() -> Mlp<B> {
    let config = MlpConfig::new(4).with_width(8).with_n_layers(2);
    config.init(Seed::new(3), &Default::default())
}

/// Values of the float tensors of a module that are not trained.
fn statistics(module: &Mlp<B>) -> Vec<f64> {
    struct Untrained(Vec<f64>);
    impl ModuleVisitor<B> for Untrained {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            if !param.val().is_require_grad() {
                self.0.extend(host_values(param.val()));
            }
        }
    }
    let mut found = Untrained(Vec::new());
    module.visit(&mut found);
    assert_eq!(found.0.len(), 2 * 2 * 8);
    found.0
}
