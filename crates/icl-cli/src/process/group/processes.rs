//! Members that are processes of one `mpirun`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::Duration;

use anyhow::anyhow;
use icl_core::{Error, Group};

use crate::process::failure::{Failure, INTERRUPTED};
use crate::process::group::folders::{OwnFolder, Place, remove_own_folders};

/// Time after which a member reports an error that the first member does not have.
const PATIENCE: Duration = Duration::from_secs(5);

/// The group that this process has joined, and the folder in which it works if it is not the first member.
static JOINED: OnceLock<(Arc<Engine>, Option<OwnFolder>)> = OnceLock::new();

#[cfg(feature = "mpi")]
type Engine = icl_train::Mpi;
#[cfg(not(feature = "mpi"))]
type Engine = icl_core::Alone;

/// Variables in which Open MPI, MPICH and Slurm tell a process its place among those of its machine.
const PLACES: [&str; 3] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
];

/// Returns the place of this process among those of its machine, if it has joined a group that says so.
pub fn place_on_machine() -> Option<usize> {
    JOINED.get()?;
    place_of_variables(|name| std::env::var_os(name))
}

/// Returns the place by the first of the variables that is a number.
fn place_of_variables(variable: impl Fn(&str) -> Option<OsString>) -> Option<usize> {
    let places = PLACES.iter().filter_map(|name| variable(name));
    places
        .filter_map(|place| place.to_str()?.parse().ok())
        .next()
}

/// Returns the group that this process has joined.
pub fn joined() -> Option<Arc<dyn Group>> {
    let (engine, _) = JOINED.get()?;
    Some(Arc::clone(engine) as Arc<dyn Group>)
}

/// Joins the group of all processes that `mpirun` has started. Returns the place in which this process works, if it is not the
/// first.
///
/// # Errors
/// If this program is built without MPI, or a temporary folder cannot be made.
pub fn join(resumed: &[(PathBuf, PathBuf)]) -> Result<Option<Place>, Failure> {
    let engine = engine()?;
    let folder = (engine.rank() > 0).then(|| OwnFolder::create(resumed));
    // The first member changes the folder only after all others have copied it.
    engine.any(false).map_err(of_group)?;
    let folder = folder.transpose()?;
    let own = folder.as_ref().map(|folder| folder.place.clone());
    if JOINED.set((Arc::new(engine), folder)).is_err() {
        return Err(Failure::Other(anyhow!("a process joins one group")));
    }
    Ok(own)
}

#[cfg(feature = "mpi")]
fn engine() -> Result<Engine, Failure> {
    icl_train::Mpi::join().map_err(of_group)
}

#[cfg(not(feature = "mpi"))]
fn engine() -> Result<Engine, Failure> {
    Err(Failure::input(anyhow!(
        "devices: found mpi, expected one: this program was built without the feature mpi"
    )))
}

fn of_group(error: Error) -> Failure {
    Failure::Other(error.into())
}

/// Leaves the group at the end of a command, or ends all its processes after a failure with its message and exit code. The first
/// member has reported the failure already; another one reports it by `say` if the first does not have it.
pub fn leave(outcome: Result<(), (&str, u8)>, say: impl FnOnce(String)) {
    let Some((engine, _)) = JOINED.get() else {
        return;
    };
    remove_own_folders();
    let (message, exit_code) = match outcome {
        Err(failure) if !engine.is_alone() => failure,
        _ => return end(engine),
    };
    if engine.rank() > 0 {
        // The first member has most failures, too, and an interruption always: it ends all when it has saved its state.
        if exit_code == INTERRUPTED {
            loop {
                sleep(PATIENCE);
            }
        }
        sleep(PATIENCE);
        say(format!("process {}: {message}", engine.rank()));
    }
    abort(engine, exit_code);
}

#[cfg(feature = "mpi")]
fn end(engine: &Engine) {
    engine.leave();
}

#[cfg(not(feature = "mpi"))]
fn end(_: &Engine) {}

#[cfg(feature = "mpi")]
fn abort(engine: &Engine, status: u8) -> ! {
    engine.abort(status)
}

#[cfg(not(feature = "mpi"))]
fn abort(_: &Engine, status: u8) -> ! {
    std::process::exit(status.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_tells_the_place() {
        let place = |variables: &[(&str, &str)]| {
            place_of_variables(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(place(&[]), None);
        assert_eq!(place(&[("OMPI_COMM_WORLD_LOCAL_RANK", "1")]), Some(1));
        assert_eq!(place(&[("MPI_LOCALRANKID", "2")]), Some(2));
        assert_eq!(place(&[("SLURM_LOCALID", "3")]), Some(3));
        // That of mpirun comes before that of the job in which it runs.
        let both = [("SLURM_LOCALID", "0"), ("OMPI_COMM_WORLD_LOCAL_RANK", "1")];
        assert_eq!(place(&both), Some(1));
        let damaged = [("MPI_LOCALRANKID", "one"), ("SLURM_LOCALID", "3")];
        assert_eq!(place(&damaged), Some(3));
    }
}
