//! Embeddings of held-out samples: accuracies, and how the embeddings move.

use std::collections::HashSet;

use burn::tensor::backend::Backend;
use icl_core::{Increment, Seed};
use icl_eval::{EvalErrorKind, KnnProtocolConfig, Matrix, cross_version_recall};
use icl_train::{Experience, StreamState};

use crate::commands::stream::arrived::Arrived;
use crate::commands::stream::gathered::Gathered;
use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::domain::spread::{EvaluatorOf, embed};
use crate::process::causes::Causes;
use crate::process::failure::Failure;

/// Largest number of training samples of an experience among which k-NN finds neighbours.
const REFERENCE: usize = 512;

/// Embeds the held-out samples of the experiences so far.
pub struct Embedder<'a, D: Domain, B: Backend> {
    pub gathered: &'a Gathered<'a, D>,
    pub experiences: &'a [Experience],
    pub evaluator: &'a EvaluatorOf<'a, 'a, D, B>,
    pub seed: u64,
    pub causes: &'a Causes<'a>,
}

/// Embeddings of the held-out samples of the measured experiences, and of the reference samples that classify them by
/// k-NN.
pub struct Embedded {
    /// Places of the experiences.
    places: Vec<usize>,
    held_out: Vec<Matrix>,
    references: Vec<Matrix>,
    /// Classes of held-out samples and of references.
    labels: Option<[Vec<Vec<usize>>; 2]>,
}

impl<D: Domain, B: Backend> Embedder<'_, D, B> {
    /// Embeds what the accuracies of the experiences so far are computed from.
    ///
    /// # Errors
    /// If a sample cannot be read, or an embedding is not finite.
    pub fn embed(&self, encoder: &D::Encoder<B>) -> Result<Embedded, Failure> {
        let data = &self.gathered.data;
        let rows = |samples: &[usize]| embed::<D, B>(self.evaluator, encoder, samples, self.causes);
        let has_labels = data.has_labels() && data.check_labels("").is_ok();
        let labels = has_labels.then(|| data.labels());
        let mut embedded = Embedded {
            places: StreamState::measured(self.experiences.len()),
            held_out: Vec::new(),
            references: Vec::new(),
            labels: labels.as_ref().map(|_| Default::default()),
        };
        for &at in &embedded.places {
            let held_out = &self.experiences[at].held_out;
            embedded.held_out.push(rows(held_out)?);
            if let (Some(labels), Some([of_held_out, of_references])) =
                (&labels, &mut embedded.labels)
            {
                let reference = self.reference(&self.gathered.experiences[at], held_out)?;
                embedded.references.push(rows(&reference)?);
                let of = |samples: &[usize]| samples.iter().map(|&it| labels[it]).collect();
                of_held_out.push(of(held_out));
                of_references.push(of(&reference));
            }
        }
        Ok(embedded)
    }

    /// Returns the training samples of an experience that classify its held-out samples: at most as many as are held
    /// out.
    fn reference(&self, arrived: &Arrived, held_out: &[usize]) -> Result<Vec<usize>, Failure> {
        let held_out: HashSet<usize> = held_out.iter().copied().collect();
        let others = arrived.samples.iter().copied();
        let others: Vec<usize> = others.filter(|it| !held_out.contains(it)).collect();
        let others = Increment::before(others).map_err(Failure::input)?;
        let seed = Seed::new(self.seed).child("reference").child(&arrived.name);
        Ok(others.at_most(REFERENCE, seed).old().to_vec())
    }
}

impl Embedded {
    /// Classifies the held-out samples of each measured experience by their nearest neighbours among its training
    /// samples and of those before: the accuracy by experience. `None` without classes.
    pub fn accuracies(&self) -> Option<Vec<Option<f64>>> {
        let last = *self.places.last()?;
        let mut accuracies = vec![None; last + 1];
        for (place, &at) in self.places.iter().enumerate() {
            accuracies[at] = Some(self.accuracy(place)?);
        }
        Some(accuracies)
    }

    /// Returns the accuracy on held-out samples of the last experience; `None` without classes.
    pub fn last_accuracy(&self) -> Option<f64> {
        self.accuracy(self.places.len() - 1)
    }

    fn accuracy(&self, place: usize) -> Option<f64> {
        let [of_held_out, of_references] = self.labels.as_ref()?;
        let known = stacked(&self.references[..=place]);
        let classes = of_references[..=place].concat();
        let protocol = KnnProtocolConfig::default().init();
        let predicted = protocol
            .predict(&known, &classes, &self.held_out[place])
            .expect("one label for each row, and rows of one width");
        let truth = &of_held_out[place];
        let n_right = predicted.iter().zip(truth).filter(|(a, b)| a == b).count();
        Some(n_right as f64 / truth.len() as f64)
    }

    /// Returns all embeddings of held-out samples.
    pub fn held_out(&self) -> Matrix {
        stacked(&self.held_out)
    }
}

/// Returns the share of samples that are found by their embeddings of before; `None` for too few samples.
///
/// # Errors
/// If they cannot be compared.
pub fn recall(before: &Matrix, after: &Matrix) -> Result<Option<f64>, Failure> {
    match cross_version_recall(after, before, 1) {
        Ok(recall) => Ok(Some(recall.own)),
        Err(error) if error.kind() == EvalErrorKind::TooFew => Ok(None),
        Err(error) => Err(Failure::Other(error.into())),
    }
}

/// Stacks matrices of one width.
fn stacked(parts: &[Matrix]) -> Matrix {
    let width = parts.first().map_or(1, Matrix::n_columns);
    let values = parts.iter().flat_map(Matrix::rows).flatten().copied();
    Matrix::try_new(values.collect(), width).expect("parts of one width with finite values")
}
