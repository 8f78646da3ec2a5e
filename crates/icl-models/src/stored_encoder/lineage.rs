//! The training of an encoder and those of the encoders before it, in its file.

use burn::module::Module;
use burn::tensor::backend::Backend;
use icl_core::Error;

use super::StoredEncoder;
use super::digest::{ORIGIN, PARENTS};
use super::origin::{Origin, Parent};

impl StoredEncoder {
    /// Creates the file of an encoder as [`new`](Self::new) does, with its training and the encoders before it.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_origin<B: Backend, M: Module<B>>(
        encoder: &M,
        (kind, data): (&str, &str),
        mut metadata: Vec<(&str, String)>,
        (origin, parents): (&Origin, &[Parent]),
    ) -> Result<Self, Error> {
        let json = |value: serde_json::Result<String>| value.map_err(Error::message);
        metadata.push((ORIGIN, json(serde_json::to_string(origin))?));
        if !parents.is_empty() {
            metadata.push((PARENTS, json(serde_json::to_string(parents))?));
        }
        Self::new(encoder, kind, data, &metadata)
    }

    /// Returns the training of the encoder; `None` if the file does not hold it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn origin(&self) -> Result<Option<Origin>, Error> {
        let is_there = self.get(ORIGIN).is_some();
        let origin = is_there.then(|| self.parsed(ORIGIN, "the training of an encoder"));
        origin.transpose()
    }

    /// Returns the encoders before it, the first one first.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn parents(&self) -> Result<Vec<Parent>, Error> {
        match self.get(PARENTS) {
            None => Ok(Vec::new()),
            Some(_) => self.parsed(PARENTS, "a list of encoders with their trainings"),
        }
    }

    /// Returns the encoders before one that is trained from this one: its own, and this one.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn lineage(&self) -> Result<Vec<Parent>, Error> {
        let mut lineage = self.parents()?;
        let mut origin = self.origin()?;
        // Only the next update reads the data again: a file would grow with all paths of all days.
        for data in origin.iter_mut().flat_map(|it| &mut it.data) {
            data.sources.clear();
        }
        lineage.push(Parent {
            digest: self.digest().to_owned(),
            origin,
        });
        Ok(lineage)
    }
}
