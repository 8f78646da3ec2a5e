//! Whether a device can be used, found out by a process of its own: some drivers end the process that
//! asks for what they do not have.

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use burn::tensor::{ElementConversion, Tensor};

use crate::backend::devices::ProgramDevices;
use crate::backend::{ProgramBackend, WithBackend, device, known, split, with_backend};
use crate::process::failure::Failure;

/// The hidden command of the other process.
pub const COMMAND: &str = "probe-backend";
/// What it begins the line with that says why it has failed.
const REASON: &str = "reason\t";
/// How long it may take. The first use of a GPU compiles its first kernel.
const LONGEST: Duration = Duration::from_secs(120);
/// How often it is asked whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// A device that can be used.
pub struct Found {
    /// Its name.
    pub device: String,
    /// What it calls itself.
    pub description: String,
}

/// That the device can be used which this names, or the default one.
///
/// # Errors
/// If it cannot.
pub(super) fn check(backend: &str) -> Result<(), Failure> {
    let name = split(backend).0;
    let backend = match split(backend).1 {
        Some(_) => backend.to_owned(),
        None => format!("{backend}:{DEFAULT}"),
    };
    let reason = match ask(&backend)? {
        (devices, None) if !devices.is_empty() => return Ok(()),
        (_, reason) => reason.unwrap_or_else(|| "it tells of none".to_owned()),
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

/// The devices of a backend that can be used; and why the search ended before its end, if it did.
///
/// # Errors
/// If the program cannot start itself.
pub fn found(backend: &str) -> Result<(Vec<Found>, Option<String>), Failure> {
    ask(backend)
}

/// The default device in the language of the two processes.
const DEFAULT: &str = "";

fn ask(backend: &str) -> Result<(Vec<Found>, Option<String>), Failure> {
    let failure = |error| Failure::Other(anyhow!("the program cannot start itself: {error}"));
    let mut child = std::env::current_exe()
        .and_then(|program| {
            Command::new(program)
                .args([COMMAND, backend])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
        })
        .map_err(failure)?;
    // What the other process says fits into the pipe.
    let status = wait(&mut child).map_err(failure)?;
    let mut devices = Vec::new();
    let mut reason = None;
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|stdout| BufReader::new(stdout).lines())
    {
        let line = line.map_err(failure)?;
        if let Some(text) = line.strip_prefix(REASON) {
            reason = Some(text.to_owned());
        } else if let Some((device, description)) = line.split_once('\t') {
            devices.push(Found {
                device: device.to_owned(),
                description: description.to_owned(),
            });
        }
    }
    let reason = match status {
        Some(status) if status.success() => reason,
        Some(status) => {
            reason.or_else(|| Some(format!("a process that tried it ended with {status}")))
        }
        None => Some(format!("it did not answer within {} s", LONGEST.as_secs())),
    };
    Ok((devices, reason))
}

/// How the process ended; none if it had to be ended.
fn wait(child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep(PAUSE);
    }
}

/// The other process: computes on the device that is named, or on each that there is, and prints a
/// line for each that could.
///
/// # Errors
/// If this binary does not hold the backend.
pub fn probe_here(backend: &str) -> Result<(), Failure> {
    with_backend(backend, Probe { backend })?
}

struct Probe<'a> {
    backend: &'a str,
}

impl WithBackend for Probe<'_> {
    type Output = Result<(), Failure>;

    fn with<B: ProgramBackend + ProgramDevices>(self) -> Self::Output {
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
                say(&format!("{name}\t{}", one_line(&description)))?;
                is_any = true;
            }
        }
        let reason = FIRST_PANIC
            .lock()
            .unwrap_or_else(|error| error.into_inner());
        match reason.as_deref() {
            Some(reason) if !is_any => say(&format!("{REASON}{}", one_line(reason))),
            _ => Ok(()),
        }
    }
}

static FIRST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// A line that the waiting process is sure to get, whatever happens to this one later.
fn say(line: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::Other(error.into()))
}

/// The beginning of a text, on one line.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 160;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_and_short() {
        assert_eq!(one_line("a\n  b\tc"), "a b c");
        let long = one_line(&"ä ".repeat(200));
        assert_eq!(long.chars().count(), 161);
        assert!(long.ends_with('…'));
    }
}
