//! Members of a group that differ: an error that names the first difference and both values, at every member.

use icl::core::{Group, Threads};
use icl::train::{Budget, Callbacks, TrainError};

use super::*;

/// Runs a function at both members of a group, and returns the errors.
fn at_both(run: impl Fn(&dyn Group) -> Result<(), TrainError> + Sync) -> [String; 2] {
    let run = &run;
    std::thread::scope(|scope| {
        let members = Threads::group(2).into_iter();
        let threads: Vec<_> = members
            .map(|member| scope.spawn(move || run(&member)))
            .collect();
        let error = |of: std::thread::ScopedJoinHandle<'_, Result<(), TrainError>>| {
            of.join()
                .unwrap()
                .err()
                .map_or(String::new(), |error| error.to_string())
        };
        let errors: Vec<String> = threads.into_iter().map(error).collect();
        errors.try_into().unwrap()
    })
}

/// Trains with settings and a seed that depend on the member.
fn differing(change: impl Fn(usize, &mut TrainingSettings, &mut u64) + Sync) -> [String; 2] {
    at_both(|group| {
        let (samples, increment) = (points(1), increment());
        let (mut settings, mut seed) = (settings(), 3);
        change(group.rank(), &mut settings, &mut seed);
        let trainer = trainer(&samples, &increment).settings(settings).seed(seed);
        let trainer = trainer.group(group);
        trainer.pretrain(Stock::new(0.0)).map(drop)
    })
}

#[test]
fn settings_that_differ_are_named() {
    let of = |field, found, expected| {
        format!("the group: found {field} {found} at member 1, expected {expected} as at member 0")
    };
    type Change = fn(usize, &mut TrainingSettings, &mut u64);
    let cases: [(Change, String); 7] = [
        (|rank, _, seed| *seed += rank as u64, of("seed", "4", "3")),
        (
            |rank, it, _| it.temperature += rank as f64,
            of("temperature", "1.1", "0.1"),
        ),
        (
            |rank, it, _| it.batch_size += rank,
            of("batch_size", "17", "16"),
        ),
        (|rank, it, _| it.epochs += rank, of("epochs", "5", "4")),
        (
            |rank, it, _| it.learning_rate *= 1.0 + rank as f64,
            of("learning_rate", "0.006", "0.003"),
        ),
        (
            |rank, it, _| it.budget = (rank == 1).then_some(Budget::Passes(9.0)),
            of("budget", "Some(Passes(9.0))", "None"),
        ),
        (
            |rank, it, _| it.chunk = (rank == 1).then_some(4),
            of("shards of a batch", "4", "2"),
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(differing(change), [expected.clone(), expected]);
    }
    // Members that agree train.
    assert_eq!(differing(|_, _, _| ()), ["", ""]);
}

#[test]
fn calls_data_and_encoders_that_differ_are_named() {
    let train = |run: &(dyn Fn(&dyn Group, usize) -> Result<(), TrainError> + Sync)| {
        at_both(|group| run(group, group.rank()))
    };
    let (of_two, one) = (increment(), points(1));
    let other = Increment::try_new((0..60).collect(), (61..90).collect()).unwrap();
    let names = |found: [String; 2], expected: &str| {
        for message in found {
            assert!(
                message.contains(expected) && message.contains("at member 1"),
                "{message}"
            );
        }
    };
    let found = train(&|group, rank| {
        let trainer = trainer(&one, &of_two).group(group);
        match rank {
            0 => trainer.pretrain(Stock::new(0.0)).map(drop),
            _ => trainer.update(&Method::icl(), Stock::new(0.0)).map(drop),
        }
    });
    names(
        found,
        "found stream update at member 1, expected pretraining as at member 0",
    );
    let found = train(&|group, rank| {
        let method = ["warm", "icl"][rank];
        let trainer = trainer(&one, &of_two).group(group);
        let method = Method::named(method)?;
        trainer.update(&method, Stock::new(0.0)).map(drop)
    });
    names(found, "found method start=frozen-norm");
    let found = train(&|group, rank| {
        let increment = [&of_two, &other][rank];
        trainer(&one, increment)
            .group(group)
            .pretrain(Stock::new(0.0))
            .map(drop)
    });
    names(found, "found increment ");
    let found = train(&|group, rank| {
        let mut encoder = Stock::new(0.0);
        if rank == 1 {
            encoder.last = LinearConfig::new(8, 4).init(&Default::default());
        }
        trainer(&one, &of_two)
            .group(group)
            .pretrain(encoder)
            .map(drop)
    });
    names(found, "found first encoder ");
    // As many samples, of other values; and other augmentations.
    let found = train(&|group, rank| {
        let samples = points(1 + rank as u64);
        trainer(&samples, &of_two)
            .group(group)
            .pretrain(Stock::new(0.0))
            .map(drop)
    });
    names(
        found,
        "found risk of the encoder over the first samples and views ",
    );
    let found = train(&|group, rank| {
        let views = jitter([0.3, 0.6][rank]);
        let trainer = Trainer::<B, _, _, _>::new(&one, views, Stack, &of_two);
        let trainer = trainer.settings(settings()).group(group);
        trainer.update(&Method::icl(), Stock::new(0.0)).map(drop)
    });
    names(
        found,
        "found risk of the encoder over the first samples and views ",
    );
    let folder = tempfile::tempdir().unwrap();
    let found = train(&|group, rank| {
        let mut callbacks = Callbacks::new();
        if rank == 1 {
            callbacks = callbacks.with_checkpoint(folder.path().join("run"));
        }
        let trainer = trainer(&one, &of_two).group(group);
        trainer
            .pretrain_with(Stock::new(0.0), &mut callbacks)
            .map(drop)
    });
    names(
        found,
        "found has a checkpoint true at member 1, expected false",
    );
}

/// Members share an evaluation, too.
#[test]
fn evaluations_that_differ_are_named() {
    use burn::module::AutodiffModule;

    let (samples, increment) = (points(1), increment());
    let of = |change: fn(usize, &mut TrainingSettings, &mut u64)| {
        at_both(|group| {
            let (mut settings, mut seed) = (settings(), 3);
            change(group.rank(), &mut settings, &mut seed);
            let trainer = trainer(&samples, &increment).settings(settings).seed(seed);
            let trainer = trainer.group(group);
            trainer
                .evaluator()
                .evaluate(Stock::<B>::new(0.0).valid())
                .map(drop)
        })
    };
    for (change, field) in [
        (
            (|rank, _, seed| *seed += rank as u64) as fn(usize, &mut TrainingSettings, &mut u64),
            "seed 4 at member 1, expected 3",
        ),
        (
            |rank, it, _| it.temperature += rank as f64,
            "temperature 1.1 at member 1, expected 0.1",
        ),
        (
            |rank, it, _| it.evaluation_samples = 40 + rank,
            "samples 41 with checksum",
        ),
    ] {
        for message in of(change) {
            assert!(message.contains(field), "{message}");
        }
    }
    assert_eq!(of(|_, _, _| ()), ["", ""]);
}
