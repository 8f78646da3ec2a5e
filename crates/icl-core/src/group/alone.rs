//! The group of one member.

use crate::Error;
use crate::group::{Gathered, Group};

/// The group of one member, whose operations return what they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Alone;

impl Group for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&self, own: &[f32]) -> Result<Gathered<f32>, Error> {
        Ok(Gathered::new([own]))
    }

    fn gather_f64(&self, own: &[f64]) -> Result<Gathered<f64>, Error> {
        Ok(Gathered::new([own]))
    }

    fn sum(&self, _: &mut [f32]) -> Result<(), Error> {
        Ok(())
    }

    fn sum_f64(&self, _: &mut [f64]) -> Result<(), Error> {
        Ok(())
    }

    fn broadcast(&self, _: usize, _: &mut Vec<u8>) -> Result<(), Error> {
        Ok(())
    }
}
