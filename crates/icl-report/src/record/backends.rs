//! Record of a comparison of backends, one line per backend.

use icl_train::{StepReport, StepSeconds};
use serde::{Deserialize, Serialize};

/// Version of [`BackendRecord`]'s schema. It grows when records of before can no longer be read.
pub const BACKEND_SCHEMA: u32 = 1;

/// Maximum number of steps over which the losses of backends are compared. Training amplifies
/// rounding: the further the runs go, the less their difference says about a backend.
pub const COMPARED_STEPS: usize = 50;

/// Record of one backend, which took the same steps as the others: with the same first encoder, the
/// same views and the same random numbers, all made on the CPU from one seed. Losses are in nats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackendRecord {
    /// Version of the schema, [`BACKEND_SCHEMA`].
    pub schema: u32,
    /// Backend, as NAME or NAME:DEVICE.
    pub backend: String,
    /// Name of the data set.
    pub data: String,
    /// Method.
    pub method: String,
    /// Root seed.
    pub seed: u64,
    /// Growth ratio α of the data.
    pub alpha: f64,
    /// Batch size.
    pub batch_size: usize,
    /// Largest of [`relative_loss_differences`](Self::relative_loss_differences) over the first
    /// [`COMPARED_STEPS`] steps; 0 for the first backend.
    pub max_relative_loss_difference: f64,
    /// Relative difference |l − l₁|/|l₁| at each step, where l₁ is the loss of the first backend; 0
    /// where they are equal.
    pub relative_loss_differences: Vec<f64>,
    /// Training loss of each step.
    pub losses: Vec<f64>,
    /// Exact risk over all data before the first step.
    pub risk_at_start: f64,
    /// Seconds of the first step, in which devices compile their kernels.
    pub first_step_s: f64,
    /// Median seconds of the other steps: forward, backward and update together.
    pub step_s: f64,
    /// Medians of the parts of a step.
    pub seconds: StepSeconds,
    /// Largest memory of the process in MiB, where the system tells. It includes the libraries of all
    /// backends that the program holds, but not the memory of a GPU.
    pub peak_memory_mib: Option<f64>,
    /// Energy of the processors' packages during the steps in joules, other processes included, where
    /// the system tells.
    pub energy_j: Option<f64>,
}

/// Steps of one backend, before they are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackendTrace {
    /// Name of the data set.
    pub data: String,
    /// Growth ratio α of the data.
    pub alpha: f64,
    /// Steps.
    pub steps: Vec<StepReport>,
    /// Exact risk over all data before the first step.
    pub risk_at_start: f64,
    /// Largest memory of the process in MiB, as in [`BackendRecord`].
    pub peak_memory_mib: Option<f64>,
    /// Energy in joules, as in [`BackendRecord`].
    pub energy_j: Option<f64>,
}

/// Task that all backends of a comparison share.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendTask {
    /// Method.
    pub method: String,
    /// Root seed.
    pub seed: u64,
    /// Batch size.
    pub batch_size: usize,
}

/// Compares the traces of backends with the first.
///
/// # Panics
/// If a trace has no step, or another number of steps than the first.
pub fn compare_backends(
    task: &BackendTask,
    traces: &[(String, BackendTrace)],
) -> Vec<BackendRecord> {
    let losses =
        |trace: &BackendTrace| -> Vec<f64> { trace.steps.iter().map(|step| step.loss).collect() };
    let Some(first) = traces.first().map(|(_, trace)| losses(trace)) else {
        return Vec::new();
    };
    let record = |(backend, trace): &(String, BackendTrace)| {
        let losses = losses(trace);
        assert_eq!(
            losses.len(),
            first.len(),
            "all backends take the same steps"
        );
        let differences: Vec<f64> = losses
            .iter()
            .zip(&first)
            .map(|(loss, first)| relative(*loss, *first))
            .collect();
        let compared = &differences[..COMPARED_STEPS.min(differences.len())];
        let step_s =
            |step: &StepReport| step.seconds.forward + step.seconds.backward + step.seconds.update;
        // The first step is not like the others, unless there are none.
        let later = &trace.steps[usize::from(trace.steps.len() > 1)..];
        let middle = |of: &dyn Fn(&StepReport) -> f64| median(later.iter().map(of).collect());
        BackendRecord {
            schema: BACKEND_SCHEMA,
            backend: backend.clone(),
            data: trace.data.clone(),
            method: task.method.clone(),
            seed: task.seed,
            alpha: trace.alpha,
            batch_size: task.batch_size,
            max_relative_loss_difference: compared.iter().copied().fold(0.0, f64::max),
            relative_loss_differences: differences,
            losses,
            risk_at_start: trace.risk_at_start,
            first_step_s: step_s(&trace.steps[0]),
            step_s: middle(&step_s),
            seconds: StepSeconds {
                views: middle(&|step| step.seconds.views),
                transfer: middle(&|step| step.seconds.transfer),
                forward: middle(&|step| step.seconds.forward),
                backward: middle(&|step| step.seconds.backward),
                update: middle(&|step| step.seconds.update),
            },
            peak_memory_mib: trace.peak_memory_mib,
            energy_j: trace.energy_j,
        }
    };
    traces.iter().map(record).collect()
}

/// Returns |l − l₁|/|l₁|; 0 where both are equal, also at 0.
fn relative(loss: f64, first: f64) -> f64 {
    if loss == first {
        return 0.0;
    }
    (loss - first).abs() / first.abs().max(f64::MIN_POSITIVE)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (values[(n - 1) / 2] + values[n / 2]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(losses: &[f64], forward: &[f64]) -> BackendTrace {
        let step = |(at, (&loss, &forward)): (usize, (&f64, &f64))| StepReport {
            step: at as u64 + 1,
            loss,
            seconds: StepSeconds {
                views: 0.1,
                transfer: 0.2,
                forward,
                backward: 2.0 * forward,
                update: 1.0,
            },
        };
        BackendTrace {
            data: "DATA".to_owned(),
            alpha: 0.5,
            steps: losses.iter().zip(forward).enumerate().map(step).collect(),
            risk_at_start: 3.0,
            peak_memory_mib: None,
            energy_j: None,
        }
    }

    fn compared(traces: &[BackendTrace]) -> Vec<BackendRecord> {
        let task = BackendTask {
            method: "warm".to_owned(),
            seed: 1,
            batch_size: 32,
        };
        let named: Vec<_> = traces
            .iter()
            .enumerate()
            .map(|(at, trace)| (format!("backend {at}"), trace.clone()))
            .collect();
        compare_backends(&task, &named)
    }

    #[test]
    fn differences_are_those_to_the_first() {
        let times = [9.0, 1.0, 3.0, 2.0];
        let records = compared(&[
            trace(&[2.0, -1.0, 0.0, 4.0], &times),
            trace(&[2.0, -1.25, 0.0, 3.0], &times),
        ]);
        assert_eq!(records[0].relative_loss_differences, [0.0; 4]);
        assert_eq!(records[0].max_relative_loss_difference, 0.0);
        assert_eq!(records[1].relative_loss_differences, [0.0, 0.25, 0.0, 0.25]);
        assert_eq!(records[1].max_relative_loss_difference, 0.25);
        // The first step counts for itself, the others by their median.
        assert_eq!(records[1].first_step_s, 28.0);
        assert_eq!(records[1].step_s, 7.0);
        assert_eq!(records[1].seconds.forward, 2.0);
        assert_eq!(records[1].seconds.backward, 4.0);
    }

    #[test]
    fn only_the_first_steps_are_compared() {
        let n = COMPARED_STEPS + 10;
        let times = vec![1.0; n];
        let mut losses = vec![1.0; n];
        let first = trace(&losses, &times);
        losses[COMPARED_STEPS - 1] = 1.5;
        losses[COMPARED_STEPS] = 9.0;
        let records = compared(&[first, trace(&losses, &times)]);
        assert_eq!(records[1].max_relative_loss_difference, 0.5);
        assert_eq!(records[1].relative_loss_differences[COMPARED_STEPS], 8.0);
    }

    #[test]
    fn one_step_and_one_backend_are_enough() {
        let records = compared(&[trace(&[1.0], &[2.0])]);
        assert_eq!(records[0].step_s, records[0].first_step_s);
        assert!(compared(&[]).is_empty());
    }

    #[test]
    fn a_record_survives_its_line() {
        let records = compared(&[trace(&[1.5, 0.25], &[2.0, 0.5])]);
        let line = serde_json::to_string(&records[0]).unwrap();
        for key in [
            "backend",
            "max_relative_loss_difference",
            "step_s",
            "forward_s",
        ] {
            assert!(line.contains(&format!("\"{key}\"")), "{key}");
        }
        let again: BackendRecord = serde_json::from_str(&line).unwrap();
        assert_eq!(again, records[0]);
    }
}
