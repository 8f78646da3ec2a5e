//! Measures the distance of each learning-rate policy from the best fixed rate. Run by `cargo xtask bench
//! rates`.
//!
//! θ₀ is trained once a seed, on the smaller half of PROTEINS; the larger half arrives. Every policy
//! then trains `warm` (NCE-I on X′) from that θ₀ for as many epochs, on the same views in the same
//! order. Nothing is asserted: what is found is in `docs/results/methods.md`.

use std::error::Error;

use burn::backend::{Autodiff, Flex};
use icl_core::{GrowthRatio, Seed};
use icl_data::catalogue;
use icl_data::{GraphCollate, GraphViewsConfig, Split};
use icl_meta::RateChoice;
use icl_models::{Gcn, GcnConfig};
use icl_train::{LossKind, Method, Sampling, StopRule, Trainer, TrainingSettings};

type B = Autodiff<Flex>;

const N_SEEDS: u64 = 3;
const N_EPOCHS: usize = 100;
/// The paper's search, and one above it.
const FIXED: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];
/// Initial rates of the policies: the default, and one that is too low.
const BASES: [f64; 2] = [3e-3, 1e-4];

fn main() -> Result<(), Box<dyn Error>> {
    let path = catalogue::folder().join("graphs").join("PROTEINS.zip");
    if !path.exists() {
        println!("skipped, {} is not there", path.display());
        return Ok(());
    }
    let data = icl_data::read_tu(&path)?;
    let views = GraphViewsConfig::new().init();
    let policies = policies();
    let mut ends = vec![Vec::new(); policies.len()];
    let mut last_rates = vec![Vec::new(); policies.len()];
    let mut seconds = vec![Vec::new(); policies.len()];
    for seed in 0..N_SEEDS {
        let alpha = GrowthRatio::try_new(0.5)?;
        let increment = data.increment(Split::Size, alpha, Seed::new(seed).child("data"))?;
        let settings = |learning_rate| TrainingSettings {
            learning_rate,
            epochs: N_EPOCHS,
            stop: StopRule::Never,
            ..Default::default()
        };
        let trainer = |learning_rate| {
            Trainer::<B, _, _, _>::new(&data, &views, GraphCollate, &increment)
                .settings(settings(learning_rate))
                .seed(seed)
        };
        let device = Default::default();
        let init = Seed::new(seed).child("init");
        let fresh: Gcn<B> = GcnConfig::new(data.d_features()).init(init, &device);
        let first = trainer(TrainingSettings::default().learning_rate).pretrain(fresh)?;
        for (at, (_, rate, base)) in policies.iter().enumerate() {
            let method = Method {
                rate: *rate,
                ..Method::new(Sampling::All, LossKind::InfoNce)
            };
            let record = trainer(*base)
                .update(&method, first.trained.clone())?
                .record;
            let risk = |at: usize| record.evaluations[at].risk.all;
            ends[at].push((risk(0), risk(record.evaluations.len() - 1)));
            last_rates[at].push(record.learning_rates[N_EPOCHS - 1]);
            seconds[at].push(record.seconds.training());
            eprintln!("seed {seed}: {} of {} done", at + 1, policies.len());
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let mean_end = |at: usize| mean(&ends[at].iter().map(|(_, end)| *end).collect::<Vec<_>>());
    let best = (0..FIXED.len())
        .min_by(|a, b| mean_end(*a).total_cmp(&mean_end(*b)))
        .expect("there are fixed rates");
    println!(
        "exact risk of θ₀ on X′: {}\n",
        list(ends[0].iter().map(|(start, _)| format!("{start:.4}")))
    );
    println!(
        "| policy | exact risk after {N_EPOCHS} epochs, seeds 0–{} | above the best fixed rate, % | rate of the last epoch | training, s |",
        N_SEEDS - 1
    );
    println!("|---|---|---|---|---|");
    for (at, (name, _, _)) in policies.iter().enumerate() {
        let above = ends[at].iter().zip(&ends[best]);
        let above =
            above.map(|((_, end), (_, best))| format!("{:+.2}", 100.0 * (end / best - 1.0)));
        println!(
            "| {name} | {} | {} | {} | {} |",
            list(ends[at].iter().map(|(_, end)| format!("{end:.4}"))),
            list(above),
            list(last_rates[at].iter().map(|rate| format!("{rate:.1e}"))),
            list(seconds[at].iter().map(|s| format!("{s:.1}"))),
        );
    }
    println!("\nBest fixed rate by the mean: {}.", policies[best].0);
    Ok(())
}

/// Name, choice and base of every policy, the fixed rates of the search first.
fn policies() -> Vec<(String, RateChoice, f64)> {
    let fixed = FIXED.map(|rate| (format!("fixed {rate:e}"), RateChoice::Fixed, rate));
    let others = BASES.iter().flat_map(|&base| {
        [
            ("fixed", RateChoice::Fixed),
            ("cosine", RateChoice::Cosine),
            ("hypergradient", RateChoice::Hypergradient),
            ("learned as published", RateChoice::LearnedAsPublished),
            ("learned", RateChoice::Learned),
        ]
        .map(|(name, rate)| (format!("{name}, base {base:e}"), rate, base))
    });
    fixed
        .into_iter()
        .chain(others.filter(|(_, rate, base)| *rate != RateChoice::Fixed || !FIXED.contains(base)))
        .collect()
}

fn list(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(" · ")
}
