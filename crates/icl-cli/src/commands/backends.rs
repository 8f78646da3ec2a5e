//! `icl backends`: lists the backends and the devices of this machine.

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::backend::{BACKENDS, known, usable_devices};
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// Details in the help.
pub const DETAILS: &str = "\
A process of its own for each backend computes a sum on each device that the backend finds. For a backend that \
cannot be used, the table says which feature to build with, or what to install.";

/// Width of the table in columns of a terminal.
const WIDTH: u16 = 100;

/// A backend in the list.
#[derive(Serialize)]
struct Row {
    backend: &'static str,
    what: &'static str,
    is_built_in: bool,
    devices: Vec<Device>,
    /// Instructions to make it usable, where it is not.
    missing: Option<String>,
}

/// A device in the list.
#[derive(Serialize)]
struct Device {
    /// Name, as `--backend` takes it.
    name: String,
    description: String,
}

/// Prints all backends, with the devices that each finds on this machine, in JSON if `json`.
///
/// # Errors
/// If the program cannot start itself, or standard output cannot be written.
pub fn show(json: bool) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for known in known() {
        let is_built_in = BACKENDS.contains(&known.name);
        let (devices, reason) = if is_built_in {
            usable_devices(known.name)?
        } else {
            Default::default()
        };
        let missing = if !is_built_in {
            Some(format!(
                "build with `--features {}`; to build it needs {}, to run {}",
                known.name, known.to_build, known.to_run
            ))
        } else if devices.is_empty() {
            let reason = reason.unwrap_or_else(|| "it reports none".to_owned());
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
                .map(|device| Device {
                    name: format!("{}:{}", known.name, device.name),
                    description: device.description,
                })
                .collect(),
            missing,
        });
    }
    if json {
        let text = serde_json::to_string_pretty(&rows);
        return print(text.map_err(|error| Failure::Other(error.into()))?);
    }
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header([
            "backend",
            "description",
            "devices of this machine, or what is missing",
        ]);
    for row in rows {
        let devices = row.devices.iter();
        let devices = devices.map(|device| format!("{}  {}", device.name, device.description));
        let last: Vec<String> = devices.chain(row.missing).collect();
        table.add_row([row.backend, row.what, &last.join("\n")]);
    }
    print(table)
}
