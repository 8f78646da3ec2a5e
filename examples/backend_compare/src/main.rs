//! Takes the same steps on every backend that this example was built with, by the library: as `icl compare-backends`,
//! but in one process and without a page.

use anyhow::Result;
use burn::backend::{Autodiff, Flex};
use burn::tensor::backend::Backend;
use clap::Parser;
use icl::data::{GraphCollate, GraphViewsConfig, Split, embedded};
use icl::models::GcnConfig;
use icl::prelude::*;
use icl::train::StopRule;
use icl_report::{BackendTask, BackendTrace, MadeBy};

/// Takes the same steps on every backend that it was built with
#[derive(Parser)]
struct Arguments {
    /// The method. `icl methods` lists them
    #[arg(long, default_value = "warm")]
    method: String,
    /// Number of epochs, of 6 steps each
    #[arg(long, default_value_t = 9)]
    epochs: usize,
    /// Seed of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let traces = [
        ("flex", steps::<Flex>(&arguments)?),
        #[cfg(feature = "tch")]
        ("tch", steps::<burn::backend::LibTorch>(&arguments)?),
        #[cfg(feature = "wgpu")]
        ("wgpu", steps::<burn::backend::Wgpu>(&arguments)?),
        #[cfg(feature = "vulkan")]
        ("vulkan", steps::<burn::backend::Vulkan>(&arguments)?),
        #[cfg(feature = "cuda")]
        ("cuda", steps::<burn::backend::Cuda>(&arguments)?),
    ];
    let task = BackendTask {
        made_by: MadeBy::default(),
        method: arguments.method,
        seed: arguments.seed,
        batch_size: TrainingSettings::default().batch_size,
    };
    let traces = traces.map(|(name, trace)| (name.to_owned(), trace));
    let records = icl_report::compare_backends(&task, &traces);
    let document = icl_report::backends_document(&records)?;
    println!("{}", document.terminal(icl_report::DEFAULT_WIDTH, false));
    Ok(())
}

/// Takes the steps on one backend, from the same encoder as on all others.
fn steps<B: Backend>(arguments: &Arguments) -> Result<BackendTrace> {
    let (device, seed) = (B::Device::default(), Seed::new(arguments.seed));
    let data = embedded::graphs("MUTAG")?;
    let alpha = GrowthRatio::try_new(0.5)?;
    let increment = data.increment(Split::Random, alpha, seed.child("data"))?;
    let views = GraphViewsConfig::new().init();
    let settings = TrainingSettings {
        epochs: arguments.epochs,
        stop: StopRule::Never,
        evaluate_every: Some(arguments.epochs),
        ..Default::default()
    };
    let trainer = Trainer::<Autodiff<B>, _, _, _>::new(&data, views, GraphCollate, &increment)
        .settings(settings)
        .seed(arguments.seed);
    let encoder = GcnConfig::new(data.d_features()).init(seed.child("init"), &device);
    let method = Method::named(&arguments.method)?;
    let mut steps = Vec::new();
    let mut callbacks = Callbacks::new().on_step(|step| steps.push(step));
    let fresh = Some(encoder.clone());
    let record = trainer
        .update_with(&method, encoder, fresh, &mut callbacks)?
        .record;
    drop(callbacks);
    Ok(BackendTrace {
        data: data.name().to_owned(),
        alpha: increment.growth_ratio().value(),
        risk_at_start: record.evaluations[0].risk.all,
        steps,
        peak_memory_mib: None,
        energy_j: None,
    })
}
