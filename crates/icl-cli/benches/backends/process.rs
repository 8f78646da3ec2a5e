//! The process of a side, seen from the comparison. Its other end is `served` or `scripts/peer/backends.py`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time that an answer may take; a device that is emulated by software can take hours.
const PATIENCE: Duration = Duration::from_secs(120);

/// Reason for which a side has no figures.
#[derive(Debug, thiserror::Error)]
pub enum SideError {
    /// Its process could not be started or written to.
    #[error("{0}")]
    Pipe(#[from] std::io::Error),
    /// The side is too slow.
    #[error("no answer in {} s", PATIENCE.as_secs())]
    Silent,
    /// The side failed.
    #[error("{last_words}")]
    Ended {
        /// Last line on its standard error.
        last_words: String,
    },
    /// The side gave an unexpected answer.
    #[error("found the answer \"{found}\", expected {expected}")]
    Answer {
        found: String,
        expected: &'static str,
    },
}

/// Process of a side that does one case.
pub struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    errors: File,
}

/// Description of its work by a side.
#[derive(Debug, Clone)]
pub struct Ready {
    /// Form that it chose, where there is a choice.
    pub form: String,
    /// Facts that show that the work is the same.
    pub facts: String,
}

/// Largest resident memory, in MiB.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    pub peak: usize,
    /// Before the case: the program and its libraries.
    pub at_start: usize,
}

impl Process {
    /// Starts the process, which then prepares the case.
    pub fn start(mut command: Command) -> Result<Self, SideError> {
        let errors = tempfile::tempfile()?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone()?)
            .spawn()?;
        let missing = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            child,
            input,
            answers,
            errors,
        })
    }

    /// Waits until the case is prepared and done once.
    pub fn ready(&mut self) -> Result<Ready, SideError> {
        let answer = self.answer()?;
        match answer.split('\t').collect::<Vec<_>>()[..] {
            ["ready", form, facts] => Ok(Ready {
                form: form.to_owned(),
                facts: facts.to_owned(),
            }),
            _ => Err(SideError::Answer {
                found: answer,
                expected: "`ready`, a form and facts",
            }),
        }
    }

    /// Repeats the case for `limit_ms` milliseconds; returns the mean time of a repetition in
    /// milliseconds, of the clock and of all processors together.
    pub fn turn_ms(&mut self, limit_ms: f64) -> Result<[f64; 2], SideError> {
        self.ask(&format!("turn {limit_ms}"), "two numbers of milliseconds")
    }

    pub fn memory(&mut self) -> Result<Memory, SideError> {
        let [peak, at_start] = self.ask("memory", "two numbers of MiB")?;
        Ok(Memory { peak, at_start })
    }

    fn ask<T: FromStr, const N: usize>(
        &mut self,
        question: &str,
        expected: &'static str,
    ) -> Result<[T; N], SideError> {
        if writeln!(self.input, "{question}").is_err() {
            return Err(self.ended());
        }
        let found = self.answer()?;
        let numbers: Vec<T> = found
            .split(' ')
            .map_while(|word| word.parse().ok())
            .collect();
        numbers
            .try_into()
            .map_err(|_| SideError::Answer { found, expected })
    }

    fn answer(&mut self) -> Result<String, SideError> {
        self.answers
            .recv_timeout(PATIENCE)
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => SideError::Silent,
                RecvTimeoutError::Disconnected => self.ended(),
            })
    }

    fn ended(&mut self) -> SideError {
        let mut words = Vec::new();
        let read = self
            .errors
            .rewind()
            .and_then(|()| self.errors.read_to_end(&mut words));
        let words = String::from_utf8_lossy(&words);
        let last = words.lines().map(str::trim).rfind(|line| {
            // Rust ends a panic's message with how to see more of it.
            !line.is_empty() && !line.starts_with("note:")
        });
        SideError::Ended {
            last_words: match (read, last) {
                (Ok(_), Some(last)) => last.to_owned(),
                _ => match self.child.wait() {
                    Ok(status) => format!("its process ended: {status}"),
                    Err(error) => error.to_string(),
                },
            },
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended cannot be killed, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
