//! Execution of a command: its backend, its seed, and the earlier options that it takes.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;

use crate::backend;
use crate::backend::BACKENDS;
use crate::options::bounds;
use crate::process::failure::Failure;

/// Root seed of a command that runs one seed.
pub const DEFAULT_SEED: u64 = 0;

/// The backend and its device.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Execution")]
pub struct BackendOption {
    #[arg(
        long,
        value_name = "NAME[:DEVICE],…",
        help = format!(
            "Backend and device to compute on, as listed by `icl backends`. Several devices of one backend, separated by commas, train one encoder together (train, update, run, stream). Without it, {}",
            BACKENDS[0]
        )
    )]
    backend: Option<String>,
}

impl BackendOption {
    /// Returns the name of the backend and its device. Fills in the first backend of this program where none is named.
    ///
    /// # Errors
    /// If this program does not have the backend, the backend no device of that name, or several devices are named.
    pub fn fill(&mut self) -> Result<&str, Failure> {
        if self.n_devices() > 1 {
            let found = self.backend.as_deref().unwrap_or_default();
            return Err(Failure::input(anyhow!(
                "backend: found the devices {found}, expected one: train, run, update and stream alone use several"
            )));
        }
        self.fill_all()
    }

    /// Returns the names of the backend and all its devices, separated by commas, as [`fill`](Self::fill) does.
    ///
    /// # Errors
    /// If this program does not have the backend, the backend no device of one of the names, or the names are of several
    /// backends.
    pub fn fill_all(&mut self) -> Result<&str, Failure> {
        let names = self.backend.get_or_insert_with(|| BACKENDS[0].to_owned());
        backend::check_all(names)?;
        Ok(names)
    }

    /// Returns the number of devices.
    pub fn n_devices(&self) -> usize {
        self.backend
            .as_deref()
            .map_or(1, |names| backend::devices_of(names).count())
    }
}

/// One seed.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Execution")]
pub struct SeedOption {
    /// Root seed of all random numbers
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
}

/// Several seeds.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Execution")]
pub struct SeedsOption {
    /// Number of seeds: run the seeds 0 to N − 1
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::SEEDS))]
    pub seeds: Option<u64>,
}

/// Options in a file.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Execution")]
pub struct ConfigOption {
    /// Read options from a TOML file; options on the command line take precedence
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Work that was interrupted.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Execution")]
pub struct ResumeOption {
    /// Continue the interrupted work in this folder with its original options
    #[arg(long, value_name = "DIR", exclusive = true)]
    resume: Option<PathBuf>,
}

impl ResumeOption {
    /// Returns the folder of the interrupted work.
    pub fn folder(&self) -> Option<&Path> {
        self.resume.as_deref()
    }
}
