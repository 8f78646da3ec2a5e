//! One reading of an input, and the promise that a reader keeps.

use std::fmt;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;
use tempfile::TempDir;

use crate::format::{Format, Told};
use crate::memory::measured;
use crate::parts::Part;

/// Memory that a reader may take for any input, in bytes: 64 MiB.
const MEMORY: u64 = 64 << 20;
/// Memory that it may take next to this, as a multiple of the input's size.
const MEMORY_RATIO: u64 = 20;
/// Length of the longest error, in characters.
const MAX_CHARACTERS: usize = 2000;
/// Number of lines of the longest error.
const MAX_LINES: usize = 3;
/// Longest time that a reading may take.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Way in which a reader breaks its promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Breach {
    /// It panicked, with this message.
    Panic(String),
    /// It took so many bytes of memory where at most the second number is promised.
    Memory(u64, u64),
    /// It took so long.
    Time(Duration),
    /// It ended with this exit code and error, where 2 is the code of wrong input.
    ExitCode(u8, String),
    /// Its error is too long or has control characters.
    Message(String),
    /// Its error names neither a file of the input, nor its data set, nor an option.
    Nameless(String),
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(message) => write!(f, "a panic: {message}"),
            Self::Memory(found, limit) => {
                write!(f, "{found} bytes of memory, expected at most {limit}")
            }
            Self::Time(found) => write!(f, "{found:?}, expected at most {MAX_TIME:?}"),
            Self::ExitCode(code, message) => write!(f, "exit code {code}, expected 2: {message}"),
            Self::Message(message) => write!(
                f,
                "a message of {} characters, expected one of at most {MAX_CHARACTERS} in {MAX_LINES} lines without \
                 control characters: {message:?}",
                message.chars().count()
            ),
            Self::Nameless(message) => {
                write!(
                    f,
                    "a message that names no file, data set or option: {message}"
                )
            }
        }
    }
}

/// Result of one reading.
#[derive(Debug)]
pub struct Reading {
    /// Error of the input, if it was refused.
    pub told: Option<Told>,
    /// The first way in which the promise was broken.
    pub breach: Option<Breach>,
    /// Largest number of bytes of memory.
    pub n_bytes: u64,
    /// Time that it took.
    pub time: Duration,
}

/// A place where the reader of a format is tried.
#[derive(Debug)]
pub struct Trial<'a> {
    format: &'a Format,
    folder: TempDir,
}

impl<'a> Trial<'a> {
    /// Creates the place.
    ///
    /// # Errors
    /// If no folder can be made.
    pub fn new(format: &'a Format) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("icl-fuzz-").tempdir()?;
        Ok(Self { format, folder })
    }

    /// Returns the folder in which the files of an input are put while it is read.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the files of an input and reads them.
    ///
    /// # Errors
    /// If the files cannot be written or removed.
    pub fn run(&self, files: &[Part]) -> Result<Reading> {
        let input = self.folder.path().join("input");
        if input.exists() {
            std::fs::remove_dir_all(&input)?;
        }
        write(&input, files)?;
        let n_bytes: u64 = files.iter().map(|file| unpacked_size(&file.bytes)).sum();
        let start = Instant::now();
        let read = || catch_unwind(AssertUnwindSafe(|| (self.format.read)(&input)));
        let (result, peak) = measured(read);
        let mut time = start.elapsed();
        if time > MAX_TIME {
            // A busy machine stalls a process: only a reading that is slow twice is the reader's fault.
            let start = Instant::now();
            let _ = catch_unwind(AssertUnwindSafe(|| (self.format.read)(&input)));
            time = time.min(start.elapsed());
        }
        let limit = MEMORY + self.format.memory + MEMORY_RATIO * n_bytes;
        let breach = match &result {
            Err(panic) => Some(Breach::Panic(text_of(panic.as_ref()))),
            _ if peak > limit => Some(Breach::Memory(peak, limit)),
            _ if time > MAX_TIME => Some(Breach::Time(time)),
            Ok(Ok(())) => None,
            Ok(Err(told)) => breach_of(told, files),
        };
        Ok(Reading {
            told: result.ok().and_then(Result::err),
            breach,
            n_bytes: peak,
            time,
        })
    }
}

/// Returns the size of a file, unpacked if gzip has compressed it: readers promise memory in proportion to that.
fn unpacked_size(bytes: &[u8]) -> u64 {
    let mut unpacked = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        // A damaged file counts up to its damage.
        let _ = MultiGzDecoder::new(bytes).read_to_end(&mut unpacked);
    }
    unpacked.len().max(bytes.len()) as u64
}

/// Writes the files of an input into a folder.
///
/// # Errors
/// If they cannot be written.
pub fn write(folder: &Path, files: &[Part]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for file in files {
        let path = folder.join(&file.name);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, &file.bytes))
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

fn breach_of(told: &Told, files: &[Part]) -> Option<Breach> {
    let Told { message, exit_code } = told;
    // What is refused, as in `error: negatives: found -1, …`.
    let place = message.strip_prefix("error: ").unwrap_or(message);
    let place = place.split(": found").next().unwrap_or_default();
    // Names of the files and of the folder that they lie in, of the data set that a file is, and of a file that it names.
    let names_file = files.iter().any(|file| {
        let name = file.name.rsplit('/').next().unwrap_or(&file.name);
        let stem = name.split('.').next().unwrap_or(name);
        let names_other =
            place.starts_with('/') && String::from_utf8_lossy(&file.bytes).contains(place);
        message.contains(name) || message.contains(&format!("\"{stem}\"")) || names_other
    });
    // An option is named as that, or as in `… for '--negatives <N>'`.
    let is_option = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    let names_option = message.contains("'--") || place.bytes().all(is_option);
    let is_long = message.chars().count() > MAX_CHARACTERS || message.lines().count() > MAX_LINES;
    if *exit_code != 2 {
        Some(Breach::ExitCode(*exit_code, message.clone()))
    } else if is_long || message.chars().any(|c| c.is_control() && c != '\n') {
        Some(Breach::Message(message.clone()))
    } else if !(names_file || message.contains("/input") || names_option) {
        Some(Breach::Nameless(message.clone()))
    } else {
        None
    }
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
