//! The sides of a comparison.

use std::error::Error;
use std::process::Command;

use crate::case::Case;
use crate::machine::Machine;
use crate::role::{BACKENDS, Role};

/// A backend or PyTorch.
#[derive(Debug, PartialEq)]
pub struct Side {
    pub name: String,
    pub role: Role,
    program: Program,
    /// Name of the side by whose times its times are divided.
    pub reference: Option<&'static str>,
}

#[derive(Debug, PartialEq)]
enum Program {
    /// This executable.
    Own,
    Peer {
        device: &'static str,
        form: Form,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The fastest form that was tried.
    Fastest,
    /// The form of PyTorch Geometric's examples.
    Usual,
}

const ON_CPU: &str = "PyTorch";
const ON_GPU: &str = "PyTorch, GPU";
const USUAL: &str = "PyTorch, usual form";

/// Returns the sides of a run: the backends that are named, else all of this binary, and those of PyTorch.
///
/// # Errors
/// If a backend is not in this binary.
pub fn all(backends: Option<&[String]>, machine: &Machine) -> Result<Vec<Side>, Box<dyn Error>> {
    let has_python = machine.python.is_some();
    let has_gpu = machine.python.as_ref().is_some_and(|it| it.gpu.is_some());
    let mut sides = Vec::new();
    let names: Vec<&str> = backends.map_or_else(
        || BACKENDS.to_vec(),
        |names| names.iter().map(String::as_str).collect(),
    );
    for name in names {
        if !BACKENDS.contains(&name) {
            return Err(format!(
                "--backends: found \"{name}\", expected some of those this binary was built with: {}",
                BACKENDS.join(", ")
            )
            .into());
        }
        let role = Role::of(name);
        sides.push(Side {
            name: name.to_owned(),
            role,
            program: Program::Own,
            reference: match role {
                Role::Flex | Role::LibTorch => Some(ON_CPU),
                _ if has_gpu => Some(ON_GPU),
                _ => Some(ON_CPU),
            },
        });
    }
    let wants_gpu = has_gpu && sides.iter().any(|side| !side.role.is_on_cpu());
    let peers = [
        (ON_CPU, "cpu", Form::Fastest, has_python),
        (USUAL, "cpu", Form::Usual, has_python),
        (ON_GPU, "cuda", Form::Fastest, wants_gpu),
    ];
    let peers = peers.into_iter().filter(|(.., takes_part)| *takes_part);
    sides.extend(peers.map(|(name, device, form, _)| Side {
        name: name.to_owned(),
        role: Role::Peer,
        program: Program::Peer { device, form },
        reference: (form == Form::Usual).then_some(ON_CPU),
    }));
    Ok(sides)
}

impl Side {
    /// Whether it takes part in this case.
    pub fn does(&self, case: &Case) -> bool {
        match self.program {
            Program::Own => !self.role.is_on_cpu() || !case.needs_gpu(),
            Program::Peer {
                form: Form::Usual, ..
            } => matches!(case, Case::Gcn { .. }),
            Program::Peer { device, .. } => device != "cpu" || !case.needs_gpu(),
        }
    }

    /// Returns the command of the process that does the case.
    pub fn command(&self, case: &Case, machine: &Machine) -> std::io::Result<Command> {
        let n_threads = machine.n_threads.to_string();
        let mut command = match self.program {
            Program::Own => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["--side", &self.name, "--case", &case.words()]);
                command
            }
            Program::Peer { device, form } => {
                let form = match form {
                    Form::Fastest => "fastest",
                    Form::Usual => "usual",
                };
                let mut command = Machine::peer();
                command.args([&n_threads, device, form]);
                command.args(case.words().split(' '));
                command
            }
        };
        command
            .env("RAYON_NUM_THREADS", &n_threads)
            .env("OMP_NUM_THREADS", &n_threads)
            .env("ICL_DATA_DIR", &machine.data_dir);
        Ok(command)
    }
}
