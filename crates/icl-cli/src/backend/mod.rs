//! Backends of this program, and generic computations on one of them.

mod devices;
mod known;
mod named;
mod probe;
mod run;

pub use known::known;
pub use named::{BACKENDS, check, check_all, devices_of};
pub use probe::{COMMAND as PROBE, probe_here, usable_devices};
pub use run::{OnBackend, check_usable, on_backend};
