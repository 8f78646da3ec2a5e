//! Comparison of backends with the first.

use icl_train::{StepReport, StepSeconds};

use crate::record::{BACKEND_SCHEMA, BackendRecord, BackendTask, BackendTrace, COMPARED_STEPS};
use crate::summary::over_seeds::median;

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
        // In the first step devices compile their kernels: it counts only where it is the only one.
        let later = &trace.steps[usize::from(trace.steps.len() > 1)..];
        let over_steps = |of: &dyn Fn(&StepReport) -> f64| {
            let values: Vec<f64> = later.iter().map(of).collect();
            median(&values).expect("a trace has a step")
        };
        BackendRecord {
            schema: BACKEND_SCHEMA,
            made_by: task.made_by.clone(),
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
            step_s: over_steps(&step_s),
            seconds: StepSeconds {
                views: over_steps(&|step| step.seconds.views),
                transfer: over_steps(&|step| step.seconds.transfer),
                forward: over_steps(&|step| step.seconds.forward),
                backward: over_steps(&|step| step.seconds.backward),
                update: over_steps(&|step| step.seconds.update),
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
    // No division by 0 where the first loss is 0.
    (loss - first).abs() / first.abs().max(f64::MIN_POSITIVE)
}

/// Backends compared with the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendsSummary<'a> {
    /// Number of steps over which losses are compared.
    pub(crate) n_compared: usize,
    /// First backend.
    pub(crate) first: &'a BackendRecord,
    /// Backend whose losses differ most from the first's; a difference that is not a number counts as the largest.
    pub(crate) farthest: &'a BackendRecord,
    /// Backend with the shortest step, the first included.
    pub(crate) quickest: &'a BackendRecord,
    /// Backend with the longest step, the first included.
    pub(crate) slowest: &'a BackendRecord,
}

impl<'a> BackendsSummary<'a> {
    /// Compares the backends. Returns `None` for fewer than two.
    pub(crate) fn of(records: &'a [BackendRecord]) -> Option<Self> {
        let (first, others) = records.split_first()?;
        let by_difference = |a: &&BackendRecord, b: &&BackendRecord| {
            let [a, b] = [a, b].map(|of| of.max_relative_loss_difference);
            a.total_cmp(&b)
        };
        let by_time = |a: &&BackendRecord, b: &&BackendRecord| a.step_s.total_cmp(&b.step_s);
        Some(Self {
            n_compared: COMPARED_STEPS.min(first.losses.len()),
            first,
            farthest: others.iter().max_by(by_difference)?,
            quickest: records.iter().min_by(by_time)?,
            slowest: records.iter().max_by(by_time)?,
        })
    }

    /// Returns the time of a backend's step as a multiple of that of the first.
    pub(crate) fn relative_time(&self, of: &BackendRecord) -> f64 {
        of.step_s / self.first.step_s
    }
}

impl BackendRecord {
    /// Returns whether the losses are those of the first backend to the last bit.
    pub(crate) fn has_equal_losses(&self) -> bool {
        self.relative_loss_differences.iter().all(|d| *d == 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::MadeBy;

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
            made_by: MadeBy::command("icl compare-backends"),
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
            "command",
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
