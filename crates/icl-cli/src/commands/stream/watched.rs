//! A folder in which experiences arrive.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::anyhow;

use crate::commands::stream::entries::{Entries, State};
use crate::commands::stream::folder::REJECTED;
use crate::commands::stream::manifest::{Listed, check_name};
use crate::domain::data::{holds_nothing, unknown_data::UnknownData};
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::terminal::tell;

/// Time between two looks at the folder.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);
/// Number of entries already read that one look checks for changes while waiting, so that the time of a look does not
/// grow with the stream.
const N_CHECKED: usize = 64;
/// Largest number of names in a message.
const N_NAMES: usize = 4;

/// Outcome of reading some entries together.
pub enum Read<T> {
    /// The samples of an experience.
    Enough(T),
    /// Too few samples for an experience: the number of each entry.
    Few(Vec<usize>),
}

/// Place of an entry among those that were read together, and why it cannot be used.
pub type Unread = (usize, Failure);

/// Returns what entries that were read together are, by the numbers of their samples.
///
/// # Errors
/// If they could not be read.
pub fn together<T>(
    read: Result<(T, Vec<usize>), Unread>,
    fewest: usize,
) -> Result<Read<T>, Unread> {
    match read {
        Ok((read, numbers)) if numbers.iter().sum::<usize>() >= fewest => Ok(Read::Enough(read)),
        Ok((_, numbers)) => Ok(Read::Few(numbers)),
        // A file begins with its header, or with nothing.
        Err((0, failure)) if holds_nothing(&failure) => Ok(Read::Few(vec![0])),
        Err(unread) => Err(unread),
    }
}

/// Folder in which experiences arrive.
///
/// An entry is read when it has not changed for some time, and again whenever it changes, until its samples belong to
/// an experience. Nothing in the folder is written or moved.
#[derive(Debug)]
pub struct Watched {
    entries: Entries,
    /// Whether only what is there now is read.
    is_once: bool,
    /// End of the time in which unfinished entries may settle.
    until: Option<Instant>,
    /// Names of the entries that were at work before an interruption, which come first.
    interrupted: Vec<String>,
    /// Folder of the stream, which is none of the data.
    out: Option<PathBuf>,
    /// Names of the entries that belong to experiences, in the order in which they were read.
    taken: Vec<String>,
    /// Last message about waiting, which is not repeated.
    message: String,
}

impl Watched {
    /// Watches a folder, whose entries are read when they have not changed for `settle`. With `is_once`, only what is
    /// there now is taken. The stream is in the folder `out`.
    pub fn new(folder: PathBuf, settle: Duration, is_once: bool, out: Option<&Path>) -> Self {
        Self {
            entries: Entries::new(folder, settle),
            is_once,
            until: None,
            interrupted: Vec::new(),
            out: out.map(Path::to_owned),
            taken: Vec::new(),
            message: String::new(),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        self.entries.folder()
    }

    /// Returns the entry of this name as an experience.
    pub fn listed(&self, name: &str) -> Listed {
        Listed {
            name: name.to_owned(),
            data: self.folder().join(name).to_string_lossy().into_owned(),
            held_out: None,
            positives: None,
            arrived: None,
        }
    }

    /// Returns the names of the data that cannot be used, each with the reason.
    pub fn rejected(&self) -> impl Iterator<Item = (&str, &str)> {
        let states = self.entries.states();
        states.filter_map(|(name, state)| match state {
            State::Rejected(reason) => Some((name, reason.as_str())),
            _ => None,
        })
    }

    /// Reads entries until they have the samples of an experience: the next one, with those before it that have too
    /// few. Returns them and what `read` returned; `None` if no entry is ready to be read.
    ///
    /// # Errors
    /// If the folder cannot be read, or reading fails for another reason than the data.
    pub fn take<T>(
        &mut self,
        mut read: impl FnMut(&[Listed]) -> Result<Read<T>, Unread>,
    ) -> Result<Option<(Vec<Listed>, T)>, Failure> {
        let interrupted = std::mem::take(&mut self.interrupted);
        let parts: Vec<Listed> = interrupted.iter().map(|name| self.listed(name)).collect();
        if !parts.is_empty()
            && let Ok(Read::Enough(value)) = read(&parts)
        {
            self.mark_taken(&interrupted);
            return Ok(Some((parts, value)));
        }
        while let Some(next) = self.entries.next()? {
            if let Err(failure) = self.check(&next) {
                self.refuse(&next, &failure);
                continue;
            }
            // The next one comes first: one of few samples that does not fit it is the one that is refused.
            let mut parts = vec![self.listed(&next)];
            let few = self.entries.states().filter(|(_, it)| it.n_few() > 0);
            parts.extend(few.map(|(name, _)| self.listed(name)));
            while parts.first().is_some_and(|it| it.name == next) {
                let outcome = read(&parts);
                if self.has_changed(&parts) {
                    break;
                }
                match outcome {
                    Ok(Read::Enough(value)) => {
                        let names: Vec<String> = parts.iter().map(|it| it.name.clone()).collect();
                        self.mark_taken(&names);
                        return Ok(Some((parts, value)));
                    }
                    Ok(Read::Few(numbers)) => {
                        for (part, n) in parts.iter().zip(numbers) {
                            self.entries.set(&part.name, State::Few(n));
                        }
                        break;
                    }
                    Err((at, failure @ Failure::Input(_))) => {
                        self.refuse(&parts.remove(at).name, &failure);
                    }
                    Err((_, failure)) => return Err(failure),
                }
            }
        }
        Ok(None)
    }

    /// Reads these entries before all others, together as before an interruption, if they still can be read.
    pub fn resume_with(&mut self, names: Vec<String>) {
        self.interrupted = names;
    }

    /// Marks entries as samples of an experience.
    pub fn mark_taken(&mut self, names: &[String]) {
        for name in names {
            self.entries.mark_taken(name);
        }
        self.taken.extend_from_slice(names);
    }

    /// Rejects an entry without a message: other data may show that the options are wrong instead.
    pub fn set_aside(&mut self, name: &str, failure: &Failure) {
        self.taken.retain(|it| it != name);
        self.entries.set(name, State::Rejected(failure.to_string()));
    }

    /// Rejects an entry with a message, or skips it in silence if it is no data at all.
    pub fn refuse(&mut self, name: &str, failure: &Failure) {
        if UnknownData::is_cause_of(failure) {
            self.entries.set(name, State::Foreign);
            return;
        }
        tell(format_args!(
            "note: rejected {name}: {failure}; it is read again when it changes"
        ));
        self.set_aside(name, failure);
    }

    /// Reports what it waits for, and waits. Returns whether to look again.
    pub fn wait(&mut self) -> bool {
        // What is being written gets the time to settle once, from the first look on.
        let now = Instant::now();
        let until = *self.until.get_or_insert(now + 2 * self.entries.settle());
        let is_settling = self.count(|it| *it == State::Settling) > 0;
        let is_more = !self.is_once || is_settling && now < until;
        let message = self.message(is_more);
        if message != self.message {
            tell(&message);
            self.message = message;
        }
        if is_more && !interrupt::requested() {
            self.report_changes();
            sleep(BETWEEN_LOOKS);
        }
        is_more && !interrupt::requested()
    }

    fn message(&self, is_more: bool) -> String {
        let names = |is: &dyn Fn(&State) -> bool| {
            let found = self.entries.states().filter(|(_, state)| is(state));
            let names: Vec<&str> = found.map(|(name, _)| name).take(N_NAMES).collect();
            names.join(", ")
        };
        let is_few = |it: &State| matches!(it, State::Few(_));
        let is_rejected = |it: &State| matches!(it, State::Rejected(_));
        let is_foreign = |it: &State| *it == State::Foreign;
        let n_settling = self.count(|it| *it == State::Settling);
        let n_samples: usize = self.entries.states().map(|(_, it)| it.n_few()).sum();
        let list = match &self.out {
            Some(out) => format!(", see {}", out.join(REJECTED).display()),
            None => String::new(),
        };
        let parts = [
            (
                self.entries.n_unfinished() + n_settling,
                "new or still written".to_owned(),
            ),
            (
                self.count(is_few),
                format!(
                    "with {n_samples} samples, too few for an experience, to be merged with the next ({})",
                    names(&is_few)
                ),
            ),
            (
                self.count(is_rejected),
                format!("rejected ({}){list}", names(&is_rejected)),
            ),
            (
                self.count(is_foreign),
                format!("no data ({})", names(&is_foreign)),
            ),
        ];
        let parts = parts.into_iter().filter(|(n, _)| *n > 0);
        let parts: String = parts.map(|(n, what)| format!("; {n} {what}")).collect();
        let verb = match is_more {
            true => "waiting for data in",
            false => "nothing more to take from",
        };
        let n_taken = self.taken.len();
        format!("{verb} {}: {n_taken} taken{parts}", self.folder().display())
    }

    /// Checks that an entry can be an experience, by its name and its place.
    fn check(&self, name: &str) -> Result<(), Failure> {
        check_name(name).map_err(|wrong| Failure::input(anyhow!(wrong)))?;
        self.listed(name).check_apart(self.out.as_deref())
    }

    /// Whether one of the entries has changed while they were read. The others are read again.
    fn has_changed(&mut self, parts: &[Listed]) -> bool {
        let mut has_changed = false;
        for part in parts {
            has_changed |= !self.entries.is_unchanged(&part.name);
        }
        if has_changed && self.entries.is_unchanged(&parts[0].name) {
            self.entries.put_back(parts[0].name.clone());
        }
        has_changed
    }

    /// Reports entries that have changed since they were read.
    fn report_changes(&mut self) {
        let n = self.taken.len();
        let first = self.entries.n_looks() as usize * N_CHECKED;
        for at in first..first + N_CHECKED.min(n) {
            let name = &self.taken[at % n];
            if self.entries.has_changed_since_taken(name) {
                tell(format_args!(
                    "note: {name} has changed since the stream read it, and is not read again: restore it as it was, \
                     or --resume will refuse it, and put new data into a file of another name"
                ));
            }
        }
    }

    fn count(&self, is: impl Fn(&State) -> bool) -> usize {
        self.entries.states().filter(|(_, it)| is(it)).count()
    }
}
