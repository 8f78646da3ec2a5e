//! Execution of a command: its seed, its backend and devices, and the earlier options that it takes.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::backend;
use crate::backend::BACKENDS;
use crate::options::{bounds, choice};
use crate::process::failure::Failure;
use crate::process::group::group;

/// Root seed of a command that runs one seed.
pub const DEFAULT_SEED: u64 = 0;

/// Processes that train one encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Devices {
    /// This process alone, with a thread for each device of `--backend`.
    One,
    /// All processes that `mpirun` has started.
    Mpi,
}

/// The execution of a command that trains.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Execution")]
pub struct ExecutionOptions {
    /// Root seed of all random numbers
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    #[arg(long, value_name = BACKEND_VALUE, help = backend_help())]
    pub backend: Option<String>,
    /// Processes that train the encoder together: this one, or all that mpirun has started
    #[arg(long, value_parser = choice::any::<Devices>(), default_value = choice::name(&Devices::One))]
    pub devices: Devices,
    /// Maximum number of samples that pass through the encoder at once in a training step. Without it, the whole batch
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::BATCH))]
    pub chunk: Option<usize>,
    /// Read options from a TOML file; options on the command line take precedence
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Continue the interrupted work in this folder with its original options
    #[arg(long, value_name = "DIR", exclusive = true)]
    #[serde(skip)]
    pub resume: Option<PathBuf>,
}

impl ExecutionOptions {
    /// Returns the folder of the interrupted work that is continued.
    pub fn resumed(&self) -> Option<&Path> {
        self.resume.as_deref()
    }

    /// Returns the number of members that train one encoder: processes of `mpirun`, or devices of this one.
    pub fn n_members(&self) -> usize {
        match self.devices {
            Devices::One => n_devices(self.backend.as_deref()),
            Devices::Mpi => group().size(),
        }
    }
}

/// Name of the value of an option of a backend.
pub const BACKEND_VALUE: &str = "NAME[:DEVICE],…";

/// Returns the help of the option of the backend.
pub fn backend_help() -> String {
    format!(
        "Backend and device to compute on, as listed by `icl backends`. Several devices of one backend, separated by commas, train one encoder together (train, update, run, stream). Without it, {}",
        BACKENDS[0]
    )
}

/// Returns the name of a backend and its device. Fills in the first backend of this program where none is named.
///
/// # Errors
/// If this program does not have the backend, the backend no device of that name, or several devices are named.
pub fn fill_backend(backend: &mut Option<String>) -> Result<&str, Failure> {
    if n_devices(backend.as_deref()) > 1 {
        let found = backend.as_deref().unwrap_or_default();
        return Err(Failure::input(anyhow!(
            "backend: found the devices {found}, expected one: train, run, update and stream alone use several"
        )));
    }
    fill_devices(backend)
}

/// Returns the names of a backend and all its devices, separated by commas, as [`fill_backend`] does.
///
/// # Errors
/// If this program does not have the backend, the backend no device of one of the names, or the names are of several
/// backends.
pub fn fill_devices(backend: &mut Option<String>) -> Result<&str, Failure> {
    let names = backend.get_or_insert_with(|| BACKENDS[0].to_owned());
    backend::check_all(names)?;
    Ok(names)
}

/// Returns the number of devices of a backend.
fn n_devices(backend: Option<&str>) -> usize {
    backend.map_or(1, |names| backend::devices_of(names).count())
}
