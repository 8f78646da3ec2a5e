//! The experiences of a stream, in the order in which they come.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_data::Found;

use crate::commands::stream::manifest;
use crate::commands::stream::manifest::{Listed, check_name};
use crate::commands::stream::options::SourceOptions;
use crate::files::apart::check_apart;
use crate::options::output::text;
use crate::process::failure::Failure;

/// Beginning of the names of files that are not complete, or hidden.
const HIDDEN: char = '.';

/// Origin of experiences that are read one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// One data set, which is divided.
    Divided(String),
    /// Manifest.
    Manifest(PathBuf),
    /// Folder in which they arrive.
    Watched(PathBuf),
}

impl Listed {
    /// Checks that the folder `out` is none of the data of the experience, holds none and lies in none.
    ///
    /// # Errors
    /// If it is, or does.
    pub fn check_apart(&self, out: Option<&Path>) -> Result<(), Failure> {
        let data = [
            Some(&self.data),
            self.held_out.as_ref(),
            self.positives.as_ref(),
        ];
        let data = data.into_iter().flatten();
        let inputs = data.map(|data| ("stream", Path::new(data)));
        out.map_or(Ok(()), |out| check_apart(out, inputs))
    }
}

impl Source {
    /// Returns the source that the options name.
    pub fn of(data: &str, options: &SourceOptions) -> Self {
        match (&options.stream, &options.watch) {
            (Some(path), _) => Self::Manifest(path.clone()),
            (_, Some(folder)) => Self::Watched(folder.clone()),
            _ => Self::Divided(data.to_owned()),
        }
    }

    /// Returns all experiences that there are now, after the `known` ones in the order of their names. None for data that are
    /// divided.
    ///
    /// # Errors
    /// If the manifest or the folder cannot be read, or does not begin with the known ones.
    pub fn listed(&self, known: &[String]) -> Result<Vec<Listed>, Failure> {
        let listed = match self {
            Self::Divided(_) => return Ok(Vec::new()),
            Self::Manifest(path) => manifest::read(path)?,
            Self::Watched(folder) => arrived(folder, known)?,
        };
        for (at, name) in known.iter().enumerate() {
            let found = listed.get(at).map(|it| it.name.as_str());
            if found != Some(name) {
                let found = found.map_or("nothing".to_owned(), |name| Found::new(name).to_string());
                return Err(Failure::input(anyhow!(
                    "{}: found {found} as experience {}, expected {}, which the stream has gone through",
                    self.path().display(),
                    at + 1,
                    Found::new(name)
                )));
            }
        }
        Ok(listed)
    }

    /// Whether more may come while the command is at work.
    pub fn is_watched(&self) -> bool {
        matches!(self, Self::Watched(_))
    }

    /// Returns the name for a record.
    pub fn name(&self) -> String {
        match self {
            Self::Divided(data) => data.clone(),
            Self::Manifest(path) | Self::Watched(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                name.to_string_lossy().into_owned()
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Divided(data) => Path::new(data),
            Self::Manifest(path) | Self::Watched(path) => path,
        }
    }
}

/// Returns what is in a folder: the known ones, then the others by their names.
fn arrived(folder: &Path, known: &[String]) -> Result<Vec<Listed>, Failure> {
    let unreadable = |error| {
        Failure::input(anyhow!(
            "watch: found no readable folder at {} ({error}), expected one",
            folder.display()
        ))
    };
    let mut names = Vec::new();
    for entry in folder.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = text("watch", Path::new(path.file_name().unwrap_or_default()))?.to_owned();
        if !name.starts_with(HIDDEN) {
            names.push(name);
        }
    }
    names.sort_unstable();
    let (mut listed, others): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| known.contains(name));
    listed.sort_by_key(|name| known.iter().position(|it| it == name));
    listed.extend(others);
    listed
        .into_iter()
        .map(|name| {
            check_name(&name)
                .map_err(|wrong| Failure::input(anyhow!("{}: {wrong}", folder.display())))?;
            Ok(Listed {
                data: text("watch", &folder.join(&name))?.to_owned(),
                name,
                held_out: None,
                positives: None,
                arrived: None,
            })
        })
        .collect()
}
