//! The steps of one backend.

use std::cell::Cell;

use burn::tensor::backend::AutodiffBackend;
use icl_core::Seed;
use icl_report::BackendTrace;
use icl_train::{Callbacks, TrainErrorKind, Trainer};

use crate::backend::{OnBackend, on_backend};
use crate::commands::compare_backends::energy::EnergyMeter;
use crate::commands::compare_backends::options::Resolved;
use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::domain::encoder_choice::{OnNewEncoder, with_new_encoder};
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::interrupt;

/// Checks that the data can be read, and that the encoder can take them.
///
/// # Errors
/// If they cannot.
pub fn check(resolved: &Resolved) -> Result<(), Failure> {
    let options = &resolved.options;
    let work = Check { resolved };
    with_new_encoder(&options.data, &options.encoder, &options.noise, work)
}

struct Check<'a> {
    resolved: &'a Resolved,
}

impl OnNewEncoder for Check<'_> {
    type Output = ();

    fn run<D: Domain>(self, domain: &D, data: D::Data) -> Result<(), Failure> {
        let (split, alpha) = (&self.resolved.split, self.resolved.alpha);
        let seed = Seed::new(self.resolved.seed).child("data");
        let increment = data.increment(split, alpha, seed)?;
        domain.refitted(&data, split, increment.old()).map(drop)
    }
}

/// Takes the steps on a backend, from a fresh encoder.
///
/// # Errors
/// If the backend or the data cannot be used, the training fails, or it is interrupted.
pub fn trace(backend: &str, resolved: &Resolved) -> Result<BackendTrace, Failure> {
    let options = &resolved.options;
    let work = Trace { backend, resolved };
    with_new_encoder(&options.data, &options.encoder, &options.noise, work)
}

struct Trace<'a> {
    backend: &'a str,
    resolved: &'a Resolved,
}

impl OnNewEncoder for Trace<'_> {
    type Output = BackendTrace;

    fn run<D: Domain>(self, domain: &D, data: D::Data) -> Result<BackendTrace, Failure> {
        let task = Task {
            domain,
            data: &data,
            resolved: self.resolved,
        };
        on_backend(self.backend, task)
    }
}

struct Task<'a, D: Domain> {
    domain: &'a D,
    data: &'a D::Data,
    resolved: &'a Resolved,
}

impl<D: Domain> OnBackend for Task<'_, D> {
    type Output = BackendTrace;

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<BackendTrace, Failure> {
        let device = &devices[0];
        let Resolved {
            seed,
            n_steps,
            settings,
            ..
        } = self.resolved;
        // Data, encoder and orders are those of `icl run` with this seed.
        let root = Seed::new(*seed);
        let (split, alpha) = (&self.resolved.split, self.resolved.alpha);
        let increment = self.data.increment(split, alpha, root.child("data"))?;
        let refitted = self.domain.refitted(self.data, split, increment.old())?;
        let (domain, data) = match &refitted {
            Some((domain, data)) => (domain, data),
            None => (self.domain, self.data),
        };
        let encoder = domain.fresh::<B>(root.child("init").child("old"), device)?;
        let trainer =
            Trainer::<B, _, _, _>::new(data, domain.views(), domain.collate(), &increment)
                .settings(settings.clone())
                .update_rule(self.resolved.options.step.optimizer)
                .seed(*seed)
                .device(device.clone());
        let mut risk_at_start = None;
        let mut steps = Vec::new();
        let n_taken = Cell::new(0);
        let energy = EnergyMeter::start();
        let mut callbacks = Callbacks::new()
            .on_progress(|progress| {
                // θ₀ is evaluated before the first step.
                if !progress.is_evaluating {
                    risk_at_start.get_or_insert(progress.risk);
                }
            })
            .on_step(|step| {
                n_taken.set(n_taken.get() + 1);
                steps.push(step);
            })
            .stop_when(|| n_taken.get() >= *n_steps || interrupt::requested());
        let fresh = Some(encoder.clone());
        let ended = trainer.update_with(&self.resolved.method, encoder, fresh, &mut callbacks);
        drop(callbacks);
        match ended {
            Ok(_) => (),
            // The run was stopped on purpose after the last requested step.
            Err(error)
                if steps.len() >= *n_steps
                    && matches!(error.kind(), TrainErrorKind::Interrupted { .. }) => {}
            Err(error) => {
                let causes = Causes {
                    settings: &self.resolved.settings,
                    method: Some(&self.resolved.method),
                    file: None,
                };
                return Err(causes.training(error));
            }
        }
        Ok(BackendTrace {
            data: self.data.name().to_owned(),
            alpha: increment.growth_ratio().value(),
            steps,
            risk_at_start: risk_at_start.unwrap_or(f64::NAN),
            peak_memory_mib: peak_memory_mib(),
            energy_j: energy.and_then(EnergyMeter::joules),
        })
    }
}

/// Returns the largest resident memory of this process so far, where the system reports it.
fn peak_memory_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}
