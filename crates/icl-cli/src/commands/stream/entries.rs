//! The entries of a folder that is watched: which are there, whether they still change, and what has become of them.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::anyhow;

use crate::commands::stream::stamp::{Stamp, stamp};
use crate::process::failure::Failure;

/// Beginning of the names of files that are hidden, as some programs name what they still write.
const HIDDEN: char = '.';
/// Endings of the names of files that a program still writes and renames when they are complete.
const UNFINISHED: [&str; 9] = [
    "crdownload",
    "download",
    "filepart",
    "incomplete",
    "part",
    "partial",
    "swp",
    "temp",
    "tmp",
];

/// State of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Not yet unchanged for long enough.
    Settling,
    /// To be read.
    Ready,
    /// Samples of an experience.
    Used,
    /// Samples of an experience; its content has changed since, which was reported.
    Changed,
    /// No data.
    Foreign,
    /// Data that cannot be used, and why.
    Rejected(String),
    /// Data of this number of samples, too few for an experience.
    Few(usize),
}

impl State {
    /// Returns the number of samples of an entry that has too few.
    pub fn n_few(&self) -> usize {
        match self {
            Self::Few(n) => *n,
            _ => 0,
        }
    }
}

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    /// Moment since which it is unchanged.
    since: Instant,
    state: State,
    /// Number of the last look that has found it.
    look: u64,
}

/// Entries of a folder by their names, hidden and unfinished ones left out.
#[derive(Debug)]
pub struct Entries {
    folder: PathBuf,
    /// Time for which an entry must not change before it is read.
    settle: Duration,
    all: BTreeMap<String, Entry>,
    ready: VecDeque<String>,
    n_looks: u64,
    n_unfinished: usize,
}

impl Entries {
    /// Creates the list of entries of a folder that has not been read yet.
    pub fn new(folder: PathBuf, settle: Duration) -> Self {
        Self {
            folder,
            settle,
            all: BTreeMap::new(),
            ready: VecDeque::new(),
            n_looks: 0,
            n_unfinished: 0,
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the time for which an entry must not change before it is read.
    pub fn settle(&self) -> Duration {
        self.settle
    }

    /// Returns the names and states.
    pub fn states(&self) -> impl Iterator<Item = (&str, &State)> {
        self.all.iter().map(|(name, it)| (name.as_str(), &it.state))
    }

    /// Returns the number of entries whose names say that they are not complete.
    pub fn n_unfinished(&self) -> usize {
        self.n_unfinished
    }

    /// Returns the number of looks at the folder.
    pub fn n_looks(&self) -> u64 {
        self.n_looks
    }

    /// Sets the state of an entry that is there.
    pub fn set(&mut self, name: &str, state: State) {
        if let Some(entry) = self.all.get_mut(name) {
            entry.state = state;
        }
    }

    /// Returns the next entry to read: of those that have settled since the last look, in the order of their names.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn next(&mut self) -> Result<Option<String>, Failure> {
        loop {
            if self.ready.is_empty() {
                self.look()?;
            }
            match self.ready.pop_front() {
                Some(name) if !self.is_unchanged(&name) => {}
                next => return Ok(next),
            }
        }
    }

    /// Puts an entry back as the next one to read.
    pub fn put_back(&mut self, name: String) {
        self.ready.push_front(name);
    }

    /// Returns whether an entry is unchanged since it settled; a changed one must settle again.
    pub fn is_unchanged(&mut self, name: &str) -> bool {
        let path = self.folder.join(name);
        self.find(name, &path);
        let entry = self.all.get(name);
        entry.is_some_and(|it| it.state != State::Settling)
    }

    /// Marks an entry as samples of an experience.
    pub fn mark_taken(&mut self, name: &str) {
        if !self.all.contains_key(name) {
            let path = self.folder.join(name);
            self.find(name, &path);
        }
        self.set(name, State::Used);
    }

    /// Returns whether the content of an entry of an experience has changed, once. A removed one has no content.
    pub fn has_changed_since_taken(&mut self, name: &str) -> bool {
        let found = stamp(&self.folder.join(name));
        let Some(entry) = self.all.get_mut(name) else {
            return false;
        };
        let has_changed = entry.state == State::Used && found.is_some_and(|it| it != entry.stamp);
        if has_changed {
            entry.state = State::Changed;
        }
        has_changed
    }

    fn look(&mut self) -> Result<(), Failure> {
        let unreadable = |error| {
            Failure::input(anyhow!(
                "watch: found no readable folder at {} ({error}), expected one",
                self.folder.display()
            ))
        };
        let mut names = Vec::new();
        for entry in self.folder.read_dir().map_err(unreadable)? {
            names.push(entry.map_err(unreadable)?.file_name());
        }
        names.sort_unstable();
        self.n_looks += 1;
        self.n_unfinished = 0;
        for file_name in names {
            let name = file_name.to_string_lossy();
            let ending = name.rsplit_once('.').map(|it| it.1.to_ascii_lowercase());
            if name.starts_with(HIDDEN) {
                continue;
            }
            if ending.is_some_and(|it| UNFINISHED.contains(&&*it)) {
                self.n_unfinished += 1;
                continue;
            }
            let path = self.folder.join(&file_name);
            self.find(&name, &path);
            let Some(entry) = self.all.get_mut(&*name) else {
                continue;
            };
            if entry.state != State::Settling || entry.since.elapsed() < self.settle {
                continue;
            }
            if file_name.to_str().is_none() {
                // It would have another name in every record.
                let reason = "found a name that is no UTF-8, expected another one";
                entry.state = State::Rejected(reason.to_owned());
                continue;
            }
            entry.state = State::Ready;
            self.ready.push_back(name.into_owned());
        }
        let n_looks = self.n_looks;
        self.all.retain(|_, entry| {
            entry.look == n_looks || matches!(entry.state, State::Used | State::Changed)
        });
        Ok(())
    }

    /// Notes that an entry is there, and whether it has changed. One that was taken stays so.
    fn find(&mut self, name: &str, path: &Path) {
        let look = self.n_looks;
        if let Some(entry) = self.all.get_mut(name) {
            entry.look = look;
            if matches!(entry.state, State::Used | State::Changed) {
                return;
            }
        }
        let Some(stamp) = stamp(path) else {
            // It has gone meanwhile.
            self.all.remove(name);
            return;
        };
        if self.all.get(name).is_none_or(|it| it.stamp != stamp) {
            let entry = Entry {
                stamp,
                since: Instant::now(),
                state: State::Settling,
                look,
            };
            self.all.insert(name.to_owned(), entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;
    use std::thread::sleep;

    const SETTLE: Duration = Duration::from_millis(60);

    fn next(entries: &mut Entries) -> Option<String> {
        entries.next().unwrap()
    }

    #[test]
    fn an_entry_is_read_when_it_has_settled() {
        let at = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(at.path().join(name), text).unwrap();
        let mut entries = Entries::new(at.path().to_owned(), SETTLE);
        write("b", "1");
        write("a", "1");
        write("c.part", "1");
        write(".d", "1");
        assert_eq!(next(&mut entries), None);
        sleep(SETTLE / 2);
        write("b", "12");
        assert_eq!(next(&mut entries), None);
        sleep(SETTLE);
        // Later than its name, since it was written for longer.
        assert_eq!(next(&mut entries).as_deref(), Some("a"));
        assert_eq!(next(&mut entries).as_deref(), Some("b"));
        assert_eq!((next(&mut entries), entries.n_unfinished()), (None, 1));
        fs::rename(at.path().join("c.part"), at.path().join("c")).unwrap();
        assert_eq!(next(&mut entries), None);
        sleep(SETTLE);
        assert_eq!(next(&mut entries).as_deref(), Some("c"));
        assert_eq!(entries.n_unfinished(), 0);
    }

    #[test]
    fn what_was_refused_is_read_again_when_it_changes() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        fs::write(&path, "1").unwrap();
        let mut entries = Entries::new(at.path().to_owned(), Duration::ZERO);
        let states = [
            State::Foreign,
            State::Few(3),
            State::Rejected(String::new()),
        ];
        for (at, state) in states.into_iter().enumerate() {
            assert_eq!(next(&mut entries).as_deref(), Some("a"), "{state:?}");
            entries.set("a", state);
            assert_eq!(next(&mut entries), None);
            fs::write(&path, "1".repeat(at + 2)).unwrap();
        }
        assert_eq!(next(&mut entries).as_deref(), Some("a"));
        entries.mark_taken("a");
        fs::write(&path, "other").unwrap();
        assert_eq!(next(&mut entries), None);
        assert!(entries.has_changed_since_taken("a"));
        // Once is enough.
        assert!(!entries.has_changed_since_taken("a"));
    }
}
