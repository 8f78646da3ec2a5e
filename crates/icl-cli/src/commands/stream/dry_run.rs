//! Decisions on updates without any update: on data with an encoder, or on embeddings of any framework.

use std::path::Path;

use anyhow::anyhow;
use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::drift::{Drift, DriftTestConfig};
use icl_core::{HostRows, Seed};
use icl_train::{Decision, Policy, Strategy, StreamMemory, StreamState, When};

use crate::backend::OnBackend;
use crate::commands::stream::course::Course;
use crate::commands::stream::experience::failure;
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::options::Resolved;
use crate::commands::stream::source::Source;
use crate::domain::Domain;
use crate::files::embeddings;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::terminal::print;

/// Stream on data with an encoder that stays as it is, of which only the decisions are printed.
pub struct DryRun<'a, D: Domain>(pub Course<'a, D>);

impl<D: Domain> OnBackend for DryRun<'_, D> {
    type Output = ();

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<(), Failure> {
        let mut course = self.0;
        course.estimate::<B>()?;
        course.is_begun.set(true);
        of_data::<D, B>(course, &devices[0])
    }
}

/// Decides on data with an encoder that stays as it is, and prints the decisions.
fn of_data<D: Domain, B: AutodiffBackend>(
    mut course: Course<'_, D>,
    device: &B::Device,
) -> Result<(), Failure> {
    let resolved = course.resolved;
    let from = course.from.expect("a dry run has an encoder");
    let strategy = free_of_cost(resolved)?;
    let mut state = None;
    for at in 0.. {
        while !course.is_read_until(at)? {
            if !course.source.wait() {
                return match interrupt::requested() && course.source.is_watched() {
                    true => Err(Failure::Interrupted(anyhow!(
                        "the dry run was interrupted after {at} experiences"
                    ))),
                    false => Ok(()),
                };
            }
        }
        let gathered = &course.gathered;
        let seed = Seed::new(resolved.training.seed).child("init");
        let encoder = from.encoder::<B>(device)?;
        let live = gathered.domain.grow(encoder, seed.child("old")).valid();
        let stream = gathered
            .stream::<B>(resolved)
            .strategy(&strategy)
            .devices([device.clone()]);
        let arriving = gathered.experiences[at].arriving();
        state = Some(match state {
            None => stream.adopt(&live, &arriving).map_err(failure)?,
            Some(mut state) => {
                let decision = stream.decide(&mut state, &live, &arriving);
                let decision = decision.map_err(failure)?;
                print_decision(&decision)?;
                let state = stream.wait(state, &live, &arriving).map_err(failure)?;
                match decision.update {
                    true => stream.assume_updated(state),
                    false => state,
                }
            }
        });
    }
    unreachable!("a stream ends")
}

/// Decides on embeddings, if the manifest names some, and prints the decisions; whether it does.
///
/// # Errors
/// If a file cannot be read, or the embeddings do not fit each other.
pub fn of_embeddings(resolved: &Resolved, source: &Source) -> Result<bool, Failure> {
    let Source::Manifest(_) = source else {
        return Ok(false);
    };
    let listed = source.listed(&StreamState::default())?;
    if !listed.iter().any(|it| it.positives.is_some()) {
        return Ok(false);
    }
    let Strategy { policy, keep, .. } = free_of_cost(resolved)?;
    let seed = Seed::new(resolved.training.seed).child("stream");
    let settings = &resolved.training.settings;
    let mut rows = Rows::default();
    let mut memory = StreamMemory::default();
    for (at, listed) in listed.iter().enumerate() {
        let name = listed.name.as_str();
        let samples = rows.read(listed)?;
        let mut is_update = true;
        if at > 0 {
            let drift = || {
                let test = DriftTestConfig::new(settings.temperature, settings.negatives);
                let held_out = resolved.options.course.measured.evaluation_samples;
                memory.drift(
                    &samples,
                    test.with_effect(policy.when.effect()),
                    (held_out, seed.child(name)),
                    |drawn| Ok(rows.pairs(drawn.old())),
                    |error| Failure::input(anyhow!("experience {name}: {error}")),
                )
            };
            let drift = policy.when.needs_drift().then(drift).transpose()?;
            let drift = drift.as_ref().map(Drift::deciding);
            let decision = policy.decide(&mut memory, name, samples.len(), drift, [0.0; 2]);
            print_decision(&decision)?;
            is_update = decision.update;
        }
        memory.arrive(name, samples);
        if is_update {
            memory.absorb(keep, |name| seed.child(name));
        }
    }
    Ok(true)
}

/// Returns the strategy of a dry run, in which updates cost nothing.
fn free_of_cost(resolved: &Resolved) -> Result<Strategy, Failure> {
    let chosen = resolved.strategies[0].clone();
    match chosen.policy.when {
        When::Regret(_) => Err(Failure::input(anyhow!(
            "when: found {} with --dry-run, expected a rule that does not depend on the cost of updates",
            chosen.policy.when
        ))),
        _ => Ok(Strategy {
            policy: Policy {
                budget_per_update: None,
                budget_total: None,
                ..chosen.policy
            },
            ..chosen
        }),
    }
}

/// Prints a decision.
fn print_decision(decision: &Decision) -> Result<(), Failure> {
    let verb = match decision.update {
        true => "update",
        false => "wait",
    };
    let Decision {
        experience, reason, ..
    } = decision;
    print(format_args!("{experience}: {verb}: {reason}"))
}

/// Embeddings of anchors and positives, of all experiences.
#[derive(Default)]
struct Rows {
    anchors: Vec<f64>,
    positives: Vec<f64>,
    width: Option<usize>,
}

impl Rows {
    /// Reads the embeddings of an experience; the numbers of its rows.
    fn read(&mut self, listed: &Listed) -> Result<Vec<usize>, Failure> {
        let Some(positives) = &listed.positives else {
            return Err(Failure::input(anyhow!(
                "experience {}: found no positives, expected embeddings of them, as other experiences have",
                listed.name
            )));
        };
        let anchors = embeddings::read(Path::new(&listed.data))?;
        let positives = embeddings::read(Path::new(positives))?;
        let width = *self.width.get_or_insert(anchors.n_columns);
        let n_before = self.anchors.len() / width;
        for (of, n_rows) in [(&anchors, anchors.n_rows), (&positives, anchors.n_rows)] {
            if (of.n_rows, of.n_columns) != (n_rows, width) {
                return Err(Failure::input(anyhow!(
                    "{}: found {} rows of width {}, expected {n_rows} of width {width}",
                    of.path.display(),
                    of.n_rows,
                    of.n_columns
                )));
            }
        }
        self.anchors.extend(anchors.values);
        self.positives.extend(positives.values);
        Ok((n_before..n_before + anchors.n_rows).collect())
    }

    /// Returns the embeddings of anchors and positives of some rows.
    fn pairs(&self, rows: &[usize]) -> [HostRows; 2] {
        let width = self.width.unwrap_or(1);
        [&self.anchors, &self.positives].map(|of| {
            let row = |&row: &usize| &of[row * width..(row + 1) * width];
            (rows.iter().flat_map(row).copied().collect(), width)
        })
    }
}
