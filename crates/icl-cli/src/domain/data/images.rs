//! Images.

use icl_core::{GrowthRatio, Increment, Seed};
use icl_data::{ImageDataset, Split};

use super::{DataSet, IMAGES, followed, numbers_of_classes};
use crate::process::failure::Failure;

impl DataSet for ImageDataset {
    const SAMPLES: &'static str = IMAGES;

    fn name(&self) -> &str {
        self.name()
    }

    fn has_labels(&self) -> bool {
        self.has_labels()
    }

    fn check_labels(&self, needed_by: &str) -> Result<(), Failure> {
        self.check_labels(needed_by).map_err(Failure::input)
    }

    fn positions(&self) -> Vec<usize> {
        self.positions().to_vec()
    }

    fn labels(&self) -> Vec<usize> {
        self.labels().to_vec()
    }

    fn original_labels(&self) -> Vec<i64> {
        numbers_of_classes(self.class_names(), self.labels())
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

    fn size_keys(&self) -> Result<Option<Vec<usize>>, Failure> {
        self.sizes().map(Some).map_err(Failure::input)
    }

    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
        ImageDataset::join(self, new).map_err(Failure::input)
    }

    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
        let joined = self.append(new).map_err(Failure::input)?;
        let parts = followed(self.n_images(), joined.n_images());
        Ok((joined, parts))
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        self.n_equal(increment).map_err(Failure::input)
    }

    fn checksum(&self) -> String {
        self.checksum()
    }
}
