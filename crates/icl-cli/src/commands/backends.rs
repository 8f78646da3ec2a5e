//! `icl backends`: what this binary can run on here.

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::backend::{BACKENDS, found, known};
use crate::options::command_line::BackendsArguments;
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// The width of the table, in columns of a terminal.
const WIDTH: u16 = 100;

/// One backend, as it is listed.
#[derive(Serialize)]
struct Row {
    backend: &'static str,
    what: &'static str,
    is_built_in: bool,
    devices: Vec<Device>,
    /// What to do about it, where it cannot be used.
    missing: Option<String>,
}

/// One device.
#[derive(Serialize)]
struct Device {
    /// As `--backend` takes it.
    name: String,
    description: String,
}

/// Prints the backends that there are, with the devices that each finds on this machine.
///
/// # Errors
/// If the program cannot start itself, or standard output cannot be written.
pub fn show(arguments: &BackendsArguments) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for known in known() {
        let is_built_in = BACKENDS.contains(&known.name);
        let (devices, reason) = if is_built_in {
            found(known.name)?
        } else {
            Default::default()
        };
        let missing = if !is_built_in {
            Some(format!(
                "build with `--features {}`; to build it needs {}, to run {}",
                known.name, known.to_build, known.to_run
            ))
        } else if devices.is_empty() {
            let reason = reason.unwrap_or_else(|| "it tells of no device".to_owned());
            Some(format!(
                "found no device ({reason}); it needs {}",
                known.to_run
            ))
        } else {
            None
        };
        rows.push(Row {
            backend: known.name,
            what: known.what,
            is_built_in,
            devices: devices
                .into_iter()
                .map(|found| Device {
                    name: format!("{}:{}", known.name, found.device),
                    description: found.description,
                })
                .collect(),
            missing,
        });
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&rows);
        return print(text.map_err(|error| Failure::Other(error.into()))?);
    }
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(["backend", "what it is", "devices here, or what is missing"]);
    for row in rows {
        let devices = row.devices.iter();
        let devices = devices.map(|device| format!("{}  {}", device.name, device.description));
        let last: Vec<String> = devices.chain(row.missing).collect();
        table.add_row([row.backend, row.what, &last.join("\n")]);
    }
    print(table)
}
