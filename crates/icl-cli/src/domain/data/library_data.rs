//! The data sets of the library as the program uses them.

use icl_core::{GrowthRatio, Increment, Samples, Seed};
use icl_data::{
    Graph, GraphDataset, ImageDataset, Interactions, JoinedInteractions, NextItemDataset, RawTable,
    Split, TabularDataset, TextPairDataset,
};
use icl_eval::Matrix;

use super::{DataSet, GRAPHS, IMAGES, INTERACTIONS, TEXT_PAIRS, followed};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Name of the column by which a stream orders interactions.
const TIME: &str = "timestamp";

/// Implements the functions of [`DataSet`] that data sets with classes have under the same names; `split` and `labels`
/// are the data that are split into increments, and the labels; `note` reports what a split may not be meant to do.
macro_rules! library_functions {
    ($data:ident, split: $split:expr, labels: $labels:expr $(, note: $note:expr)?) => {
        fn name(&self) -> &str {
            self.name()
        }

        fn has_labels(&self) -> bool {
            self.has_labels()
        }

        fn labels(&self) -> Vec<usize> {
            let $data = self;
            $labels
        }

        fn increment(
            &self,
            split: &Split,
            alpha: GrowthRatio,
            seed: Seed,
        ) -> Result<Increment, Failure> {
            let $data = self;
            $($note($data, split);)?
            let increment = $split.increment(split.clone(), alpha, seed);
            increment.map_err(Failure::input)
        }

        fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
            Self::join(self, new).map_err(Failure::input)
        }

        fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
            let joined = self.append(new).map_err(Failure::input)?;
            let parts = followed(self.n_samples(), joined.n_samples());
            Ok((joined, parts))
        }

        fn checksum(&self) -> String {
            self.checksum()
        }
    };
}

impl DataSet for GraphDataset {
    const SAMPLES: &'static str = GRAPHS;

    library_functions!(data, split: data, labels: data.labels());

    fn check_labels(&self, needed_by: &str) -> Result<(), Failure> {
        self.check_labels(needed_by).map_err(Failure::input)
    }

    fn class_names(&self) -> Vec<String> {
        self.class_labels().iter().map(i64::to_string).collect()
    }

    fn size_keys(&self) -> Result<Option<Vec<usize>>, Failure> {
        Ok(Some(self.sizes()))
    }

    fn n_clipped(&self) -> usize {
        self.counts().n_clipped
    }

    fn contents(&self) -> Result<Vec<u64>, Failure> {
        Ok(self.contents())
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        Ok(self.n_equal(increment))
    }

    /// Returns the numbers of nodes and edges.
    fn sizes(&self) -> Result<Option<Matrix>, Failure> {
        let row = |graph: &Graph| [graph.n_nodes() as f64, graph.n_edges() as f64];
        let sizes = Matrix::try_new(self.graphs().iter().flat_map(row).collect(), 2);
        sizes
            .map(Some)
            .map_err(|error| Failure::Other(error.into()))
    }
}

impl DataSet for ImageDataset {
    const SAMPLES: &'static str = IMAGES;

    library_functions!(data, split: data, labels: data.labels().to_vec());

    fn check_labels(&self, needed_by: &str) -> Result<(), Failure> {
        self.check_labels(needed_by).map_err(Failure::input)
    }

    fn positions(&self) -> Vec<usize> {
        self.positions().to_vec()
    }

    fn ids(&self, _: &str) -> Result<Vec<String>, String> {
        let paths = self.paths();
        paths.ok_or_else(|| "the images are in no files of their own".to_owned())
    }

    fn class_names(&self) -> Vec<String> {
        match self.has_labels() {
            true => self.class_names().to_vec(),
            false => Vec::new(),
        }
    }

    fn size_keys(&self) -> Result<Option<Vec<usize>>, Failure> {
        self.sizes().map(Some).map_err(Failure::input)
    }

    fn contents(&self) -> Result<Vec<u64>, Failure> {
        self.contents().map_err(Failure::input)
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        self.n_equal(increment).map_err(Failure::input)
    }
}

impl DataSet for TabularDataset {
    const SAMPLES: &'static str = "rows";
    const NAMES_A_THING: bool = true;

    library_functions!(
        data,
        split: data.raw(),
        labels: data.labels().to_vec(),
        note: tell_order_of_split
    );

    fn ids(&self, column: &str) -> Result<Vec<String>, String> {
        let mut columns = self.schema().columns().iter();
        if columns.any(|it| it.name == column && !it.features.is_empty()) {
            return Err("the column is a feature of the encoder".to_owned());
        }
        let texts = self.texts(column);
        texts.ok_or_else(|| "the rows have no such column".to_owned())
    }

    fn texts(&self, column: &str) -> Option<Vec<String>> {
        self.raw().texts(column)
    }

    fn class_names(&self) -> Vec<String> {
        match self.has_labels() {
            true => self.class_names().to_vec(),
            false => Vec::new(),
        }
    }

    fn column_keys(&self, name: &str) -> Result<Option<Vec<usize>>, Failure> {
        tell_order(self.raw(), name);
        self.raw().ranks(name).map(Some).map_err(Failure::input)
    }

    fn n_clipped(&self) -> usize {
        self.counts().n_clipped
    }

    fn contents(&self) -> Result<Vec<u64>, Failure> {
        Ok(self.contents())
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        Ok(self.n_equal(increment))
    }
}

/// Reports that a split orders the rows of a table as text, if it does.
fn tell_order_of_split(data: &TabularDataset, split: &Split) {
    if let Split::Column(name) = split {
        tell_order(data.raw(), name);
    }
}

/// Reports that a column orders the rows as text: it may be meant as dates or numbers in a form that is not recognised.
pub fn tell_order(raw: &RawTable, column: &str) {
    if raw.is_ordered_as_text(column) {
        tell(format_args!(
            "note: {}, column {column}: rows are ordered by its text, character by character",
            raw.name()
        ));
    }
}

impl DataSet for NextItemDataset {
    const SAMPLES: &'static str = "pairs of a history and an item";

    fn name(&self) -> &str {
        self.interactions().name()
    }

    fn increment(
        &self,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        self.increment(split.clone(), alpha, seed)
            .map_err(Failure::input)
    }

    /// Returns the ranks of the times for a column of this name, [`TIME`].
    fn column_keys(&self, name: &str) -> Result<Option<Vec<usize>>, Failure> {
        Ok((name == TIME).then(|| self.time_ranks()))
    }

    /// Joins the interactions by the names of users and items: the history of a new pair holds what its user did
    /// before, in the old data and in the new.
    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
        let joined = Interactions::join(self.interactions(), new.interactions());
        let (joined, [of_old, of_new]) = samples_of(&joined.map_err(Failure::input)?);
        let increment = Increment::try_new(of_old, of_new).map_err(Failure::input)?;
        Ok((joined, increment))
    }

    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
        Ok(samples_of(&self.interactions().append(new.interactions())))
    }

    fn contents(&self) -> Result<Vec<u64>, Failure> {
        Ok(self.contents())
    }

    /// Returns those of the joined data: the first interaction of a user in new data is a sample only where old data
    /// have a history.
    fn contents_in(&self, joined: &Self, numbers: &[usize]) -> Result<Vec<u64>, Failure> {
        let contents = joined.contents();
        Ok(numbers.iter().map(|&number| contents[number]).collect())
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        Ok(self.n_equal(increment))
    }

    fn checksum(&self) -> String {
        self.interactions().checksum()
    }
}

/// Returns the samples of old and new interactions, and the indices of each. Prints a note if new interactions are
/// earlier than old ones.
fn samples_of(joined: &JoinedInteractions) -> (NextItemDataset, [Vec<usize>; 2]) {
    let n_late = joined.n_late();
    if n_late > 0 {
        tell(format_args!(
            "note: {}: {n_late} of {} new {INTERACTIONS} are earlier than the last old one; histories of old pairs do \
             not hold them",
            joined.interactions.name(),
            joined.parts[1].len()
        ));
    }
    let samples = NextItemDataset::new(&joined.interactions, &joined.parts);
    let numbers = [0, 1].map(|part| samples.part(part).collect());
    (samples, numbers)
}

impl DataSet for TextPairDataset {
    const SAMPLES: &'static str = TEXT_PAIRS;

    fn name(&self) -> &str {
        self.raw().name()
    }

    fn increment(
        &self,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        let increment = self.raw().increment(split.clone(), alpha, seed);
        increment.map_err(Failure::input)
    }

    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
        Self::join(self, new).map_err(Failure::input)
    }

    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
        let joined = self.append(new);
        let parts = followed(self.n_samples(), joined.n_samples());
        Ok((joined, parts))
    }

    fn contents(&self) -> Result<Vec<u64>, Failure> {
        Ok(self.raw().contents())
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        Ok(self.raw().n_equal(increment))
    }

    fn checksum(&self) -> String {
        self.raw().checksum()
    }
}
