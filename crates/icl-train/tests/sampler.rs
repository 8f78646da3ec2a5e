//! The plan of samples in a plain loop: a sampler of indices, against properties counted sample by sample.

use icl_core::{Increment, Seed};
use icl_train::{LossKind, Method, OptimizerChoice, Planner, Sampler, Sampling, TrainingSettings};

fn increment(n_old: usize, n_new: usize) -> Increment {
    Increment::try_new((0..n_old).collect(), (n_old..n_old + n_new).collect()).unwrap()
}

/// A change of these sums changes every recorded result.
#[test]
fn plans_are_fixed_for_all_time() {
    let increment = increment(97, 41);
    let settings = TrainingSettings {
        batch_size: 12,
        ..Default::default()
    };
    let sum = |text: &str| {
        let mut method: Method = text.parse().unwrap();
        if text.contains("meta") {
            method.optimizer = OptimizerChoice::Meta(None);
        }
        let planner = Planner::new(&method, &increment, &settings, Seed::new(3));
        let mut sum = 0_u64;
        for epoch in [0, 1, 7] {
            let plan = planner.epoch(epoch, 0.37);
            let batches = plan
                .steps
                .iter()
                .flat_map(|step| step.support.iter().chain([&step.batch]));
            let numbers =
                batches.flat_map(|it| [&it.samples[..], &it.repetitions, &[it.n_old]].concat());
            for number in numbers.chain(plan.population.iter().copied()) {
                sum = sum.wrapping_mul(0x0100_0000_01b3) ^ (number as u64 + 1);
            }
        }
        sum
    };
    let texts = [
        "sampling=all",
        "sampling=old",
        "sampling=new",
        "sampling=share:0.37",
        "sampling=widening:0.37",
        "sampling=buffer",
        "sampling=stratified",
        "sampling=buffer,loss=corrected",
        "sampling=share:0.37,loss=published",
        "sampling=stratified,loss=corrected,optimizer=meta",
        "sampling=widening,loss=corrected,optimizer=meta",
    ];
    assert_eq!(
        texts.map(sum),
        [
            2_605_956_734_716_626_642,
            10_277_384_654_535_661_716,
            3_656_202_650_225_305_415,
            6_054_052_818_461_120_192,
            6_054_052_818_461_120_192,
            138_151_652_761_965_295,
            15_164_412_829_239_718_573,
            11_225_777_662_558_816_063,
            10_756_838_784_069_867_470,
            12_054_426_339_747_677_943,
            12_635_233_720_780_807_514
        ]
    );
}

const N_OLD: usize = 100;
const N_NEW: usize = 40;

fn samplings() -> [Sampling; 8] {
    [
        Sampling::All,
        Sampling::Old,
        Sampling::New,
        Sampling::Share(0.25),
        Sampling::Widening(Some(0.5)),
        Sampling::Widening(None),
        Sampling::Buffer,
        Sampling::Stratified,
    ]
}

/// Numbers of old and new samples of the first epoch, written down by hand. An epoch of 100 old and 40 new samples
/// widens from min(1, (40/140)/(100/140)·1.5) = 0.6.
#[test]
fn an_epoch_holds_each_of_its_samples_once_in_batches_of_one_size() {
    let increment = increment(N_OLD, N_NEW);
    let expected = [
        (100, 40),
        (100, 0),
        (0, 40),
        (25, 40),
        (50, 40),
        (60, 40),
        (20, 40),
        (100, 40),
    ];
    for (sampling, expected) in samplings().into_iter().zip(expected) {
        for batch_size in [4_usize, 7, 16, 90] {
            let sampler = Sampler::new(sampling, &increment, batch_size, Seed::new(1));
            let batches = sampler.epoch(3, sampler.share(0.0));
            let mut seen = [0; N_OLD + N_NEW];
            let (mut fewest, mut most) = (usize::MAX, 0);
            for batch in &batches {
                let n = batch.samples.len();
                (fewest, most) = (fewest.min(n), most.max(n));
                assert_eq!(batch.repetitions, vec![0; n]);
                for &sample in &batch.samples {
                    seen[sample] += 1;
                }
            }
            assert!(seen.iter().all(|&n| n <= 1), "{sampling}");
            let (old, new) = seen.split_at(N_OLD);
            assert_eq!((old.iter().sum(), new.iter().sum()), expected, "{sampling}");
            let n: usize = expected.0 + expected.1;
            let n_batches = match sampling {
                // Two of the 40 new samples in each.
                Sampling::Stratified => n.div_ceil(batch_size).min(20),
                _ => n.div_ceil(batch_size),
            };
            assert_eq!(batches.len(), n_batches, "{sampling}");
            assert_eq!(most, n.div_ceil(n_batches), "{sampling}");
            assert!(most - fewest <= 1, "{sampling}");
        }
    }
}

/// Old samples are first in each batch, as many as the batch says, in the proportion of the epoch.
#[test]
fn separated_batches_hold_an_even_part_of_old_and_new() {
    let increment = increment(N_OLD, N_NEW);
    for sampling in [
        Sampling::Share(0.25),
        Sampling::Buffer,
        Sampling::Stratified,
        Sampling::All,
    ] {
        let sampler = Sampler::new(sampling, &increment, 16, Seed::new(1)).separated();
        let batches = sampler.epoch(0, sampler.share(0.0));
        let n_old: usize = batches.iter().map(|batch| batch.n_old).sum();
        for batch in &batches {
            for (place, &sample) in batch.samples.iter().enumerate() {
                assert_eq!(place < batch.n_old, sample < N_OLD, "{sampling}");
            }
            let n_new = batch.samples.len() - batch.n_old;
            let even =
                |n: usize, all: usize| (n as f64 - all as f64 / batches.len() as f64).abs() < 1.0;
            assert!(even(batch.n_old, n_old) && even(n_new, N_NEW), "{sampling}");
        }
    }
    for sampling in [Sampling::Old, Sampling::New] {
        let mixed = Sampler::new(sampling, &increment, 16, Seed::new(1));
        let separated = mixed.clone().separated();
        assert_eq!(separated.epoch(0, 1.0), mixed.epoch(0, 1.0));
    }
    // Mixed batches do not say which of their samples are old.
    let mixed = Sampler::new(Sampling::Share(0.25), &increment, 16, Seed::new(1));
    assert!(mixed.epoch(0, 0.25).iter().all(|batch| batch.n_old == 0));
}

/// The share doubles at the cost of 12, 48 and 192 epochs over all data; no other sampling depends on the cost.
#[test]
fn shares_widen_with_the_cost() {
    let increment = increment(N_OLD, N_NEW);
    let shares = |sampling, costs: [f64; 5]| {
        let sampler = Sampler::new(sampling, &increment, 16, Seed::new(1));
        costs.map(|epochs| sampler.share(epochs))
    };
    let costs = [0.0, 11.9, 12.0, 48.0, 192.0];
    assert_eq!(
        shares(Sampling::Widening(Some(0.2)), costs),
        [0.2, 0.2, 0.4, 0.8, 1.0]
    );
    for (sampling, share) in [
        (Sampling::Share(0.2), 0.2),
        (Sampling::Buffer, 0.2),
        (Sampling::New, 0.0),
    ] {
        assert_eq!(shares(sampling, costs), [share; 5]);
    }
    let sampler = Sampler::new(Sampling::Widening(Some(0.2)), &increment, 16, Seed::new(1));
    let n_samples = |share| -> usize {
        sampler
            .epoch(0, share)
            .iter()
            .map(|it| it.samples.len())
            .sum()
    };
    assert_eq!([0.2, 0.4, 1.0].map(n_samples), [60, 80, 140]);
}

#[test]
fn epochs_are_a_function_of_seed_and_number() {
    let increment = increment(N_OLD, N_NEW);
    for sampling in samplings() {
        let batches = |seed, epoch| {
            let sampler = Sampler::new(sampling, &increment, 16, Seed::new(seed));
            sampler.epoch(epoch, sampler.share(0.0))
        };
        assert_eq!(batches(1, 5), batches(1, 5));
        assert_ne!(batches(1, 5), batches(1, 6));
        assert_ne!(batches(1, 5), batches(2, 5));
    }
}

/// A loop of one's own sees the batches of the trainer under the same seed.
#[test]
fn the_trainer_has_the_same_batches() {
    let increment = increment(N_OLD, N_NEW);
    let settings = TrainingSettings {
        batch_size: 16,
        replay_size: Some(30),
        ..Default::default()
    };
    for sampling in samplings() {
        let method = Method::new(sampling, LossKind::InfoNce);
        let planner = Planner::new(&method, &increment, &settings, Seed::new(4));
        let sampler = Sampler::new(sampling, &increment, 16, Seed::new(4)).with_buffer(30);
        let share = sampler.share(20.0);
        let planned = planner
            .epoch(2, share)
            .steps
            .into_iter()
            .map(|step| step.batch);
        assert_eq!(
            sampler.epoch(2, share),
            planned.collect::<Vec<_>>(),
            "{sampling}"
        );
    }
}

#[test]
fn an_epoch_that_is_too_small_has_no_batch() {
    let before = Increment::before((0..9).collect()).unwrap();
    for sampling in [Sampling::New, Sampling::Stratified] {
        let sampler = Sampler::new(sampling, &before, 4, Seed::new(1));
        assert_eq!(sampler.epoch(0, sampler.share(0.0)), []);
    }
}

#[test]
#[should_panic(expected = "found batches of 0 samples")]
fn empty_batches_are_refused() {
    let _ = Sampler::new(Sampling::All, &increment(2, 2), 0, Seed::new(1));
}
