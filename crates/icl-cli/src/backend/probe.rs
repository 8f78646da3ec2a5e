//! Test whether a device can be used, in a separate process: some drivers end a process that requests a missing
//! device.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::anyhow;
use burn::tensor::{ElementConversion, Tensor, backend::Backend};
use icl_core::one_line;

use crate::backend::devices::ProgramDevices;
use crate::backend::known::known;
use crate::backend::named::{WithBackend, device, split, with_backend};
use crate::process::child;
use crate::process::child::OnInterrupt;
use crate::process::failure::Failure;

/// Hidden command of the other process.
pub const COMMAND: &str = "probe-backend";
/// Beginning of the line in which it says why it has failed.
const REASON: &str = "reason\t";
/// Time that it may take. The first use of a GPU compiles its first kernel.
const LONGEST: Duration = Duration::from_secs(120);
/// Maximum number of characters of a description or a reason.
const MOST_CHARS: usize = 160;

/// A device that can be used.
pub struct UsableDevice {
    /// Name.
    pub name: String,
    /// Description by the driver.
    pub description: String,
}

/// Checks that the device can be used that `backend` names, or the default one.
///
/// # Errors
/// If it cannot.
pub fn check(backend: &str) -> Result<(), Failure> {
    let name = split(backend).0;
    let backend = match split(backend).1 {
        Some(_) => backend.to_owned(),
        None => format!("{backend}:{DEFAULT}"),
    };
    let reason = match usable_devices(&backend)? {
        (devices, None) if !devices.is_empty() => return Ok(()),
        (_, reason) => reason.unwrap_or_else(|| "it reports none".to_owned()),
    };
    let device = match split(&backend).1 {
        Some(DEFAULT) | None => String::new(),
        Some(device) => format!(" of the name \"{device}\""),
    };
    let needs = known().into_iter().find(|known| known.name == name);
    Err(Failure::input(anyhow!(
        "backend: found no usable device{device} for {name} ({reason}), expected {}",
        needs.map_or("one", |known| known.to_run)
    )))
}

/// Name of the default device between the two processes.
const DEFAULT: &str = "";

/// Returns the devices of a backend that can be used, and why the search ended early, if it did.
///
/// # Errors
/// If the program cannot start itself.
pub fn usable_devices(backend: &str) -> Result<(Vec<UsableDevice>, Option<String>), Failure> {
    let ended = child::this_program([COMMAND, backend])
        .and_then(|mut command| child::run(&mut command, OnInterrupt::End, Some(LONGEST)))
        .map_err(|error| Failure::Other(anyhow!("the program cannot start itself: {error}")))?;
    let mut devices = Vec::new();
    let mut reason = None;
    for line in ended.stdout.lines() {
        if let Some(text) = line.strip_prefix(REASON) {
            reason = Some(text.to_owned());
        } else if let Some((name, description)) = line.split_once('\t') {
            devices.push(UsableDevice {
                name: name.to_owned(),
                description: description.to_owned(),
            });
        }
    }
    let reason = match ended.status {
        Some(status) if status.success() => reason,
        Some(status) => {
            reason.or_else(|| Some(format!("a process that tried it ended with {status}")))
        }
        None => Some(format!("it did not answer within {} s", LONGEST.as_secs())),
    };
    Ok((devices, reason))
}

/// Computes, in the other process, on the device that is named or on each device, and prints a line for each
/// that can be used.
///
/// # Errors
/// If this program does not have the backend.
pub fn probe_here(backend: &str) -> Result<(), Failure> {
    with_backend(backend, Probe { backend })?
}

struct Probe<'a> {
    backend: &'a str,
}

impl WithBackend for Probe<'_> {
    type Output = Result<(), Failure>;

    fn with<B: Backend + ProgramDevices>(self) -> Self::Output {
        set_hook(Box::new(|panic| {
            // The first panic is the cause; threads that waited for that one panic after it.
            let mut first = FIRST_PANIC
                .lock()
                .unwrap_or_else(|error| error.into_inner());
            first.get_or_insert_with(|| panic.payload_as_str().unwrap_or("a panic").to_owned());
        }));
        let devices = match split(self.backend).1 {
            Some(DEFAULT) => vec![(String::new(), B::Device::default())],
            Some(name) => vec![(name.to_owned(), device::<B>(self.backend)?)],
            None => catch_unwind(B::candidates)
                .unwrap_or_default()
                .into_iter()
                .filter_map(|name| B::named(&name).map(|device| (name, device)))
                .collect(),
        };
        let mut is_any = false;
        for (name, device) in devices {
            let computed = catch_unwind(AssertUnwindSafe(|| {
                let description = B::description(&device);
                let sum = Tensor::<B, 1>::ones([2], &device).sum().into_scalar();
                (sum.elem::<f32>() == 2.0).then_some(description)
            }));
            if let Ok(Some(description)) = computed {
                say(&format!("{name}\t{}", shortened(&description)))?;
                is_any = true;
            }
        }
        let reason = FIRST_PANIC
            .lock()
            .unwrap_or_else(|error| error.into_inner());
        match reason.as_deref() {
            Some(reason) if !is_any => say(&format!("{REASON}{}", shortened(reason))),
            _ => Ok(()),
        }
    }
}

static FIRST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Prints a line that the waiting process gets, whatever happens to this one later.
fn say(line: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::Other(error.into()))
}

/// Returns the beginning of a text, on one line.
fn shortened(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_and_short() {
        assert_eq!(shortened("a\n  b\tc"), "a b c");
        let long = shortened(&"ä ".repeat(200));
        assert_eq!(long.chars().count(), MOST_CHARS + 1);
        assert!(long.ends_with('…'));
    }
}
