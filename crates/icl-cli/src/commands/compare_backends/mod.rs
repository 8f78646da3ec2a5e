//! `icl compare-backends`: takes the same steps on several backends, each in a process of its own.

mod ask;
mod energy;
mod options;
mod trace;

use icl_report::{BackendTask, MadeBy};

use crate::backend;
use crate::files::whole;
use crate::files::work_folder::WorkFolder;
use crate::files::work_place::{CONFIG, RECORD, REPORT};
use crate::options::command_line::command_line;
use crate::options::output::print_document;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::terminal::{print, tell};

use ask::ask;
pub use options::CompareOptions;
use options::Resolved;

/// Runs every backend, compares them, writes a folder and prints a table. In the process of one
/// backend it prints the trace of that backend.
///
/// # Errors
/// If an option, the data or a backend cannot be used, a training fails, or it is interrupted.
pub fn compare(options: CompareOptions) -> Result<(), Failure> {
    interrupt::watch()?;
    let resolved = options.resolve()?;
    if let Some(backend) = &resolved.options.trace {
        return print(json(&trace::trace(backend, &resolved)?)?);
    }
    for backend in &resolved.backends {
        backend::check_usable(backend)?;
    }
    trace::check(&resolved)?;
    let config = toml::to_string(&resolved.options).map_err(Failure::input)?;
    let destination = resolved.options.output.destination("backends");
    let work = WorkFolder::begin(destination, is_result)?;
    let mut traces = Vec::new();
    for backend in &resolved.backends {
        let trace = ask(backend)?;
        tell(format_args!("{backend}: {} steps", trace.steps.len()));
        traces.push((backend.clone(), trace));
    }
    let records = icl_report::compare_backends(&resolved.task()?, &traces);
    let document =
        icl_report::backends_document(&records).map_err(|error| Failure::Other(error.into()))?;
    let html = document.html();
    let mut lines = String::new();
    for record in &records {
        lines += &json(record)?;
        lines.push('\n');
    }
    for (name, text) in [(CONFIG, &config), (RECORD, &lines), (REPORT, &html)] {
        whole::write(&work.results().join(name), text.as_bytes())?;
    }
    let folder = work.publish(None)?;
    print_document(&document, resolved.options.output.wide, None, &folder)
}

fn is_result(name: &str) -> bool {
    [CONFIG, RECORD, REPORT].contains(&name)
}

fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::Other(error.into()))
}

impl Resolved {
    /// Returns the task as the records have it.
    fn task(&self) -> Result<BackendTask, Failure> {
        let command = command_line("compare-backends", &self.options)?;
        Ok(BackendTask {
            made_by: MadeBy::command(&command),
            method: self.method.name.to_owned(),
            seed: self.seed,
            batch_size: self.settings.batch_size,
        })
    }
}
