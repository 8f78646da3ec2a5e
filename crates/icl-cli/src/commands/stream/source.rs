//! The experiences of a stream, in the order in which they come.

use std::path::PathBuf;

use anyhow::anyhow;
use icl_train::StreamState;

use crate::commands::stream::manifest;
use crate::commands::stream::manifest::Listed;
use crate::commands::stream::options::Resolved;
use crate::commands::stream::watched::Watched;
use crate::process::failure::Failure;

/// Origin of experiences that are read one by one.
#[derive(Debug)]
pub enum Source {
    /// One data set, which is divided.
    Divided(String),
    /// Manifest.
    Manifest(PathBuf),
    /// Folder in which they arrive.
    Watched(Box<Watched>),
}

impl Source {
    /// Returns the source that the options name.
    pub fn of(resolved: &Resolved) -> Self {
        let (options, data) = (&resolved.options.source, &resolved.options.data.name);
        match (&options.stream, &options.watch) {
            (Some(path), _) => Self::Manifest(path.clone()),
            (_, Some(folder)) => Self::Watched(Box::new(Watched::new(
                folder.clone(),
                options.settle(),
                options.once || resolved.options.course.dry_run,
                resolved.folder(),
            ))),
            _ => Self::Divided(data.to_owned()),
        }
    }

    /// Returns all experiences that a manifest names now; none for another source.
    ///
    /// # Errors
    /// If the manifest cannot be read, or does not begin with what the stream has gone through.
    pub fn listed(&self, state: &StreamState) -> Result<Vec<Listed>, Failure> {
        let Self::Manifest(path) = self else {
            return Ok(Vec::new());
        };
        let listed = manifest::read(path)?;
        let names: Vec<&str> = listed.iter().map(|it| &it.name[..]).collect();
        match state.next_of(&names) {
            Ok(_) => Ok(listed),
            Err(error) => Err(Failure::input(anyhow!("{}: {error}", path.display()))),
        }
    }

    /// Waits for more experiences, where more may come; whether to look again.
    pub fn wait(&mut self) -> bool {
        match self {
            Self::Watched(watched) => watched.wait(),
            Self::Divided(_) | Self::Manifest(_) => false,
        }
    }

    /// Whether more may come while the command is at work.
    pub fn is_watched(&self) -> bool {
        matches!(self, Self::Watched(_))
    }

    /// Returns the name for a record.
    pub fn name(&self) -> String {
        let path = match self {
            Self::Divided(data) => return data.clone(),
            Self::Manifest(path) => path,
            Self::Watched(watched) => watched.folder(),
        };
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}
