//! Keeps a recommender up to date: old and new interactions by time, two towers, updates by several methods.

mod last_items;
mod row;
mod tastes;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Error, Result};
use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use clap::{Parser, ValueEnum};
use icl::data::{Interactions, NextItemCollate, NextItemDataset, NextItemViews, read_interactions};
use icl::models::{TwoTower, TwoTowerConfig};
use icl::prelude::*;
use icl::train::{NegativesSchedule, StepNegatives, parse_methods};
use last_items::LastItems;
use row::{Row, table};

type B = Autodiff<Flex>;

/// Updates a recommender of two towers when new interactions arrive
#[derive(Parser)]
struct Arguments {
    /// File of interactions: NAME.inter, u.data or ratings.dat
    #[arg(required_unless_present = "demo")]
    file: Option<PathBuf>,
    /// Draw synthetic interactions from the seed instead of reading a file
    #[arg(long, conflicts_with = "file")]
    demo: bool,
    /// Share of the interactions that are new, from 0 to 1
    #[arg(long, default_value_t = 0.3)]
    alpha: f64,
    /// Methods, comma-separated
    #[arg(long, default_value = "warm,fine-tuning,icl,retraining")]
    methods: String,
    /// Number of negatives K of the exact risk, and the peak of the updates' schedule
    #[arg(long, default_value_t = 31.0)]
    negatives: f64,
    /// Courses of K over an update, comma-separated; that of ans extends over all epochs
    #[arg(long, value_enum, value_delimiter = ',', default_value = "fixed")]
    schedules: Vec<Schedule>,
    /// Maximum number of epochs of each training, which its own rule may end before
    #[arg(long, default_value_t = 100)]
    epochs: usize,
    /// Number of seeds of all randomness, from 1 on; the table has means and standard deviations over them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
}

/// Course of the number of negatives over an update.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Schedule {
    Fixed,
    Ans,
    Stagewise,
}

impl From<Schedule> for NegativesSchedule {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Fixed => Self::Fixed,
            Schedule::Ans => Self::Ans,
            Schedule::Stagewise => Self::Stagewise,
        }
    }
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let interactions = match &arguments.file {
        None => tastes::interactions(Seed::new(1))?,
        Some(path) => match read_interactions(path) {
            Ok(interactions) => interactions,
            Err(error) => {
                eprintln!("{error}");
                return Ok(ExitCode::from(2));
            }
        },
    };
    let seeds = (1..=arguments.seeds).map(|seed| compare(&interactions, &arguments, seed));
    let seeds = seeds.collect::<Result<Vec<_>>>()?;
    println!(
        "\n{}\npasses: charged cost; * the limit of {} epochs ended a training, not its own rule; before, after, old, new: exact \
         risk in nats; HR@10, nDCG@10: last items of users that the old data have, and of users that came with the new, among \
         all items that they had not seen; seeds: {}",
        table(&seeds),
        arguments.epochs,
        arguments.seeds
    );
    Ok(ExitCode::SUCCESS)
}

/// Updates with one seed, and returns the lines of the table.
fn compare(interactions: &Interactions, arguments: &Arguments, seed: u64) -> Result<Vec<Row>> {
    let device = Default::default();
    let methods = parse_methods(&arguments.methods)?;
    let n_items = interactions.items().len();

    // The last two items of each user are held out; the rest is divided by time, the same moment for all users.
    let split = interactions.leave_one_out();
    let n_old = interactions.by_time(GrowthRatio::try_new(arguments.alpha)?)?;
    let (old, new): (Vec<usize>, Vec<usize>) = split.train.iter().partition(|row| **row < n_old);
    let train = NextItemDataset::new(interactions, &[old, new]);
    let increment = Increment::try_new(train.part(0).collect(), train.part(1).collect())?;
    // Users and items are numbered in the order of their first interactions.
    let old_rows = &interactions.rows()[..n_old];
    let n_old_users = old_rows.iter().map(|row| row.user + 1).max().unwrap_or(0);
    let n_old_items = old_rows.iter().map(|row| row.item + 1).max().unwrap_or(0);
    let test = LastItems::new(
        NextItemDataset::held_out(interactions, &split.test),
        n_old_users,
    );
    if seed == 1 {
        let [n_old, n_new] = test.n_users();
        println!(
            "{}: {} old and {} new pairs of a history and an item; {n_items} items, {n_old_items} of them in the old data; \
             {n_old} users that the old data have, {n_new} that came with the new",
            interactions.name(),
            increment.old().len(),
            increment.new_data().len()
        );
    }

    let trainer = |schedule| {
        let settings = TrainingSettings {
            epochs: arguments.epochs,
            batch_size: 256,
            negatives: arguments.negatives,
            step_negatives: StepNegatives {
                schedule,
                ..Default::default()
            },
            ..Default::default()
        };
        let (views, collate) = (NextItemViews::default(), NextItemCollate::new(n_items));
        let trainer = Trainer::<B, _, _, _>::new(&train, views, collate, &increment);
        trainer.settings(settings).seed(seed)
    };
    // All methods take their negatives from the batch: a loss that separates old noise from new cannot have a catalogue.
    let config = TwoTowerConfig::new(n_items).with_catalogue(false);
    let untrained: TwoTower<B> = config.try_init(Seed::new(seed).child("init"), &device)?;
    let first_trainer = trainer(NegativesSchedule::Fixed);
    let evaluator = first_trainer.evaluator();
    let row = |name: &str, encoder: &TwoTower<Flex>| {
        let risk = evaluator.evaluate(encoder.clone())?.risk;
        Ok::<_, Error>(Row::new(name, Some(risk), test.by_encoder(encoder)?))
    };

    let mut popularity = vec![0.0; n_items];
    for &at in &split.train {
        popularity[interactions.rows()[at].item as usize] += 1.0;
    }
    let first = first_trainer.pretrain(untrained.clone())?;
    let mut rows = vec![
        Row::new("popularity", None, test.by_popularity(&popularity)),
        row("untrained", &untrained.valid())?,
        row("θ₀", &first.encoder)?.after(&first),
    ];
    for schedule in &arguments.schedules {
        let updating = trainer((*schedule).into());
        for method in &methods {
            let (theta0, fresh) = (first.trained.clone(), Some(untrained.clone()));
            let outcome = updating.update_with(method, theta0, fresh, &mut Callbacks::new())?;
            let name = match schedule {
                Schedule::Fixed => method.name.to_owned(),
                Schedule::Ans => format!("{}, ans", method.name),
                Schedule::Stagewise => format!("{}, stagewise", method.name),
            };
            let row = row(&name, &outcome.encoder)?.after(&outcome);
            rows.push(row.from(outcome.first_risk.all));
            println!(
                "seed {seed}: {name}: {} epochs, risk {:.4}",
                outcome.record.n_epochs(),
                outcome.risk.all
            );
        }
    }
    Ok(rows)
}
